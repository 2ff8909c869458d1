//! Lines of a stream, none longer than a limit.

use std::io;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::excerpt::Excerpt;

/// How much is read at a time.
const READ_BYTES: usize = 64 << 10;

/// Reads lines. A line that is too long is skipped, but for its two ends.
pub(crate) struct Lines<R> {
    reader: R,
    limit: usize,
    buffer: BytesMut,
    /// How much of the buffer is given back to the caller and not needed any more.
    used: usize,
    /// How much of the buffer is known to hold no line end.
    searched: usize,
    /// What is kept of a line that was too long and is being skipped.
    skipped: Option<Excerpt>,
}

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    Text(&'a [u8]),
    TooLong(Excerpt),
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, limit: usize) -> Self {
        let buffer = BytesMut::with_capacity(READ_BYTES);
        Self { reader, limit, buffer, used: 0, searched: 0, skipped: None }
    }

    /// The next line that is not empty; none at the end. A last line without an end counts.
    ///
    /// Nothing is lost if the future is dropped before it is done.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.buffer.advance(self.used);
            self.used = 0;
            if let Some(end) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
                let end = self.searched + end;
                self.searched = 0;
                self.used = end + 1;
                if let Some(skipped) = self.skipped.take() {
                    return Ok(Some(Line::TooLong(skipped.and(&self.buffer[..end]))));
                }
                if end > self.limit {
                    return Ok(Some(Line::TooLong(Excerpt::of(&self.buffer[..end]))));
                }
                if !self.buffer[..end].trim_ascii().is_empty() {
                    return Ok(Some(Line::Text(&self.buffer[..end])));
                }
                continue;
            }
            self.searched = self.buffer.len();
            if let Some(skipped) = self.skipped.take() {
                self.skipped = Some(skipped.and(&self.buffer));
                self.buffer.clear();
                self.searched = 0;
            } else if self.buffer.len() > self.limit {
                self.skipped = Some(Excerpt::of(&self.buffer));
                self.buffer = BytesMut::with_capacity(READ_BYTES);
                self.searched = 0;
            }
            self.buffer.reserve(READ_BYTES);
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                if let Some(skipped) = self.skipped.take() {
                    return Ok(Some(Line::TooLong(skipped)));
                }
                let end = self.buffer.len();
                self.used = end;
                self.searched = 0;
                let rest = &self.buffer[..end];
                return Ok((!rest.trim_ascii().is_empty()).then_some(Line::Text(rest)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn lines(text: &str, limit: usize, chunk: usize) -> Vec<String> {
        let (mut client, server) = tokio::io::duplex(chunk);
        let text = text.to_owned();
        tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut client, text.as_bytes()).await.unwrap();
        });
        let mut lines = Lines::new(server, limit);
        let mut out = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            out.push(match line {
                Line::Text(text) => String::from_utf8(text.to_vec()).unwrap(),
                Line::TooLong(_) => "TOO LONG".to_owned(),
            });
        }
        out
    }

    #[tokio::test]
    async fn lines_at_any_cut() {
        for chunk in [1, 2, 3, 7, 1000] {
            assert_eq!(
                lines("a\n\n \r\nbcd\r\nrest", 10, chunk).await,
                ["a", "bcd\r", "rest"],
                "{chunk}"
            );
            assert_eq!(
                lines("12345\n123456\n1\n1234567890123\nx\n12345678", 5, chunk).await,
                ["12345", "TOO LONG", "1", "TOO LONG", "x", "TOO LONG"],
                "{chunk}"
            );
            assert!(lines("", 5, chunk).await.is_empty());
        }
    }
}
