use std::fmt;
use std::time::Duration;

/// Where in a script something is, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Why a script gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It is not JavaScript.
    #[error("the script is not valid JavaScript: {message}{}", at(*.place))]
    Syntax {
        /// What is wrong.
        message: String,
        /// Where.
        place: Option<Place>,
    },
    /// It threw something and did not catch it.
    #[error("{message}{}", at(*.place))]
    Threw {
        /// What it threw, as text.
        message: String,
        /// Where.
        place: Option<Place>,
    },
    /// It took too long.
    #[error("the script took longer than its time limit ({} ms)", .limit.as_millis())]
    Timeout {
        /// What it may take.
        limit: Duration,
    },
    /// It took too long inside a call that cannot be interrupted, and its thread was given up.
    #[error(
        "the script took longer than its time limit ({} ms) and could not be interrupted",
        .limit.as_millis()
    )]
    Stuck {
        /// What it may take.
        limit: Duration,
    },
    /// It needed too much memory.
    #[error("the script used more than its memory limit ({limit} bytes)")]
    Memory {
        /// What it may use.
        limit: usize,
    },
    /// Its result is too large.
    #[error("the result of the script is larger than the limit ({bytes} of {limit} bytes)")]
    ResultTooLarge {
        /// How large it is.
        bytes: usize,
        /// How large it may be.
        limit: usize,
    },
    /// Its result cannot be written as JSON.
    #[error("the result of the script is not JSON: {0}")]
    NotJson(String),
    /// It waits for something that can never happen.
    ///
    /// The engine loses what a promise would do next if there is no memory for it, and does not
    /// tell; so both reasons are named.
    #[error(
        "the script awaits a promise that nothing can resolve any more; its promises may also have \
         used more than its memory limit ({limit} bytes)"
    )]
    Stalled {
        /// How much memory it may use.
        limit: usize,
    },
    /// Nobody wants its result any more.
    #[error("the script was stopped because its result is no longer wanted")]
    Cancelled,
    /// Too many scripts run or wait already.
    #[error("{0}")]
    Busy(String),
    /// The engine could not be started.
    #[error("the script could not be run: {0}")]
    Engine(String),
}

impl ScriptError {
    /// The error as one of the script's own text. What `JSON.parse` and the like throw while a
    /// script runs has the same name and is not about the script.
    pub(crate) fn of_parser(self, script: &str) -> Self {
        match self {
            Self::Threw { message, place } => match message.strip_prefix("SyntaxError: ") {
                Some(message) => Self::Syntax {
                    message: message.to_owned(),
                    place: place.map(|place| place.within(script)),
                },
                None => Self::Threw { message, place },
            },
            other => other,
        }
    }
}

impl Place {
    /// The place in a script; what the engine finds behind its end is about the end.
    pub(crate) fn within(self, script: &str) -> Self {
        let last = script.lines().last().unwrap_or_default();
        let lines = script.lines().count().max(1);
        if self.line as usize <= lines {
            return self;
        }
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: count(lines), column: count(last.chars().count() + 1) }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

fn at(place: Option<Place>) -> String {
    place.map(|place| format!(" (at {place} of the script)")).unwrap_or_default()
}
