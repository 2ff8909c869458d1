//! What a process writes to stderr: kept to say why it died, and shown to who debugs.

use std::collections::VecDeque;
use std::sync::Arc;

use mcpgraph_diagnostics::Secrets;
use memchr::{memchr2, memrchr2};
use parking_lot::Mutex;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::limits;

/// How much of a line that does not end is waited for. What comes after that is not logged.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// The end of what a process wrote to stderr.
#[derive(Clone)]
pub(in crate::client) struct Stderr {
    tail: Arc<Mutex<Tail>>,
    secrets: Secrets,
}

#[derive(Default)]
struct Tail {
    bytes: VecDeque<u8>,
    /// Whether there was something before.
    is_cut: bool,
}

impl Stderr {
    pub(in crate::client) fn new(secrets: Secrets) -> Self {
        Self { tail: Arc::default(), secrets }
    }

    /// Reads to the end, keeps the tail and shows the lines to who debugs.
    pub(in crate::client) async fn drain(
        self,
        mut stderr: impl AsyncRead + Unpin,
        command: String,
    ) {
        let mut chunk = vec![0; 8 * 1024];
        let mut lines = Lines::new(self.secrets.clone());
        let log = |lines: Vec<String>| {
            for line in lines {
                tracing::debug!(command, "{line}");
            }
        };
        while let Ok(count @ 1..) = stderr.read(&mut chunk).await {
            let bytes = &chunk[..count];
            self.keep(bytes);
            if tracing::enabled!(tracing::Level::DEBUG) {
                log(lines.add(bytes));
            }
        }
        log(lines.end());
    }

    fn keep(&self, bytes: &[u8]) {
        let most = limits::STDERR_BYTES + self.secrets.longest();
        let mut tail = self.tail.lock();
        tail.bytes.extend(bytes);
        let excess = tail.bytes.len().saturating_sub(most);
        tail.is_cut |= excess > 0;
        tail.bytes.drain(..excess);
    }

    /// What is kept, without secrets.
    pub(in crate::client) fn tail(&self) -> String {
        let (bytes, is_cut) = {
            let tail = self.tail.lock();
            (tail.bytes.iter().copied().collect::<Vec<u8>>(), tail.is_cut)
        };
        let text = self.secrets.hide(&String::from_utf8_lossy(&bytes));
        if !is_cut {
            return text;
        }
        // It may begin with the rest of a character, or of a secret that nothing finds any more.
        let text = text.trim_start_matches(char::REPLACEMENT_CHARACTER);
        text[text.ceil_char_boundary(self.secrets.longest())..].to_owned()
    }
}

/// Puts lines together from what is read, so that neither a secret nor a character that comes in two
/// pieces is shown in two.
struct Lines {
    secrets: Secrets,
    /// The line that has not ended.
    waiting: Vec<u8>,
    /// Whether the rest of the line is left out.
    skips: bool,
}

impl Lines {
    fn new(secrets: Secrets) -> Self {
        Self { secrets, waiting: Vec::new(), skips: false }
    }

    /// The lines that end with these bytes, without secrets.
    fn add(&mut self, mut bytes: &[u8]) -> Vec<String> {
        if self.skips {
            let Some(end) = memchr2(b'\n', b'\r', bytes) else { return Vec::new() };
            self.skips = false;
            bytes = &bytes[end + 1..];
        }
        self.waiting.extend_from_slice(bytes);
        let mut lines = Vec::new();
        // Together, because a secret may have several lines.
        if let Some(end) = memrchr2(b'\n', b'\r', &self.waiting) {
            let rest = self.waiting.split_off(end + 1);
            let ended = std::mem::replace(&mut self.waiting, rest);
            lines = self.shown(&ended);
        }
        if self.waiting.len() > MAX_LINE_BYTES {
            lines.push(self.beginning());
            self.waiting = Vec::new();
            self.skips = true;
        }
        lines
    }

    /// What is left when there is nothing more to read.
    fn end(self) -> Vec<String> {
        self.shown(&self.waiting)
    }

    fn shown(&self, bytes: &[u8]) -> Vec<String> {
        let text = self.secrets.hide(&String::from_utf8_lossy(bytes));
        let lines = text.split(['\n', '\r']).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    /// The beginning of a line that is too long. It may end in the middle of a secret.
    fn beginning(&self) -> String {
        let text = self.secrets.hide(&String::from_utf8_lossy(&self.waiting));
        let text = text.trim_end_matches(char::REPLACEMENT_CHARACTER);
        let end = text.len().saturating_sub(self.secrets.longest());
        format!("{}…", &text[..text.floor_char_boundary(end)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "swordfish-27";

    fn lines() -> Lines {
        Lines::new(Secrets::new([SECRET]))
    }

    #[test]
    fn what_comes_in_pieces_is_shown_as_one() {
        let text = format!("the key is {SECRET}, naïve é\r\nsecond\n\nno end");
        for size in 1..text.len() {
            let mut lines = lines();
            let mut shown: Vec<_> =
                text.as_bytes().chunks(size).flat_map(|piece| lines.add(piece)).collect();
            assert_eq!(shown, ["the key is [hidden], naïve é", "second"], "pieces of {size}");
            shown = lines.end();
            assert_eq!(shown, ["no end"]);
        }
    }

    #[test]
    fn a_line_without_an_end_is_cut_and_not_in_the_middle_of_a_secret() {
        let mut lines = lines();
        // Wherever the limit is, it is in a secret.
        let long = SECRET.repeat(MAX_LINE_BYTES / SECRET.len() + 1);
        let (first, rest) = long.as_bytes().split_at(MAX_LINE_BYTES - 10);
        assert!(lines.add(first).is_empty());
        let shown = lines.add(rest);
        assert_eq!(shown.len(), 1);
        assert!(shown[0].starts_with("[hidden][hidden]") && shown[0].ends_with('…'));
        assert!(!shown[0].contains("sword"), "{}", &shown[0][shown[0].len() - 40..]);
        assert!(lines.add(rest).is_empty());
        assert_eq!(lines.add(b"still the same\nanother\n"), ["another"]);
    }

    #[tokio::test]
    async fn the_tail_does_not_begin_in_the_middle_of_a_secret() {
        for extra in 0..SECRET.len() {
            let stderr = Stderr::new(Secrets::new([SECRET]));
            let text = SECRET.repeat(limits::STDERR_BYTES / SECRET.len() + 2) + &"é".repeat(extra);
            stderr.clone().drain(text.as_bytes(), String::new()).await;
            let tail = stderr.tail();
            assert!(!tail.contains('2'), "{}", &tail[..20]);
            assert!(tail.ends_with(&format!("[hidden]{}", "é".repeat(extra))));
        }
    }
}
