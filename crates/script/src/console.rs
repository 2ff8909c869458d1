//! What a script writes to the console: kept line by line, up to a limit.

/// How much a line matters: the method of `console` it was written with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConsoleLevel {
    /// `console.debug`
    Debug,
    /// `console.log` and `console.info`
    Info,
    /// `console.warn`
    Warn,
    /// `console.error`
    Error,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConsoleLine {
    /// How much it matters.
    pub level: ConsoleLevel,
    /// What it says.
    pub text: String,
}

/// The lines of one execution.
pub(crate) struct Console {
    lines: Vec<ConsoleLine>,
    left: usize,
    limit: usize,
}

/// What a line costs besides its text, so that empty lines are not free.
const LINE_COST: usize = 16;

impl Console {
    pub(crate) fn new(limit: usize) -> Self {
        Self { lines: Vec::new(), left: limit, limit }
    }

    /// Whether another line would be kept.
    pub(crate) fn is_open(&self) -> bool {
        self.left > 0
    }

    /// Keeps a line; the first one over the limit is cut and says so, further ones are dropped.
    pub(crate) fn write(&mut self, level: ConsoleLevel, mut text: String) {
        if !self.is_open() {
            return;
        }
        let cost = text.len().saturating_add(LINE_COST);
        if cost <= self.left {
            self.left -= cost;
        } else {
            text.truncate(text.floor_char_boundary(self.left));
            let end = format!("… (console output ends here: limit {} bytes)", self.limit);
            text.push_str(&end);
            self.left = 0;
        }
        self.lines.push(ConsoleLine { level, text });
    }

    pub(crate) fn take(&mut self) -> Vec<ConsoleLine> {
        std::mem::take(&mut self.lines)
    }
}
