//! What the parser is given: a text of the same length, without what it has no use for here.

use std::ops::Range;

use super::labels;

/// How many edges a flowchart may have.
pub const MAX_EDGES: usize = 100_000;

/// How many subgraphs a flowchart may have.
pub const MAX_SUBGRAPHS: usize = 1_000;

/// How many empty lines in a row are left; for more the parser takes more than linear time.
const MAX_EMPTY_LINES: usize = 16;

/// A text that would take too long to read.
#[derive(Debug)]
pub(super) struct Beyond {
    pub(super) message: String,
    pub(super) at: Range<usize>,
}

/// Checks the limits and blanks out what only matters for drawing.
pub(super) fn prepare(text: &str) -> Result<String, Beyond> {
    check(text)?;
    let mut bytes = text.as_bytes().to_vec();
    blank_front_matter(&mut bytes);
    blank_directives(&mut bytes);
    join_empty_lines(&mut bytes);
    labels::hide(&mut bytes);
    // Only ASCII characters were replaced, by ASCII characters.
    Ok(String::from_utf8(bytes).unwrap_or_default())
}

fn check(text: &str) -> Result<(), Beyond> {
    let (mut edges, mut subgraphs, mut at) = (0_usize, 0_usize, 0_usize);
    for line in text.split_inclusive('\n') {
        let place = at..at + line.trim_end().len();
        at += line.len();
        // `a & b --> c & d` are four edges: at most the square of half of what is joined.
        let joined = line.bytes().filter(|byte| *byte == b'&').count() / 2 + 1;
        edges = edges.saturating_add(joined.saturating_mul(joined) - 1);
        if edges > MAX_EDGES {
            let message = format!("the flowchart may have more than {MAX_EDGES} edges");
            return Err(Beyond { message, at: place });
        }
        subgraphs += usize::from(line.trim_start().starts_with("subgraph"));
        if subgraphs > MAX_SUBGRAPHS {
            let message = format!("the flowchart has more than {MAX_SUBGRAPHS} subgraphs");
            return Err(Beyond { message, at: place });
        }
    }
    Ok(())
}

fn blank(bytes: &mut [u8]) {
    for byte in bytes {
        // Part of a character is replaced too, so that the whole of it is gone.
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Titles and settings between two lines `---` at the beginning.
fn blank_front_matter(bytes: &mut [u8]) {
    let start = bytes.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(bytes.len());
    if !bytes[start..].starts_with(b"---") {
        return;
    }
    let mut at = start;
    for (number, line) in bytes[start..].split_inclusive(|byte| *byte == b'\n').enumerate() {
        at += line.len();
        if number > 0 && line.trim_ascii() == b"---" {
            break;
        }
    }
    blank(&mut bytes[start..at]);
}

/// `%%{init: …}%%`; one that is not closed ends with its line.
fn blank_directives(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = position(&bytes[at..], b"%%{") {
        let start = at + found;
        let next = position(&bytes[start + 3..], b"%%{");
        let until = next.map_or(bytes.len(), |next| start + 3 + next);
        let within = &bytes[start..until];
        let line = within.iter().position(|byte| *byte == b'\n');
        let end = match position(within, b"}%%") {
            Some(close) => start + close + 3,
            None => line.map_or(until, |line| start + line),
        };
        blank(&mut bytes[start..end]);
        at = end;
    }
}

fn position(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Makes one line of more than [`MAX_EMPTY_LINES`] empty ones.
fn join_empty_lines(bytes: &mut [u8]) {
    let (mut at, mut run, mut run_start) = (0, 0, 0);
    let mut long = Vec::new();
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            if run == 0 {
                run_start = at;
            }
            run += 1;
        } else {
            if run > MAX_EMPTY_LINES {
                long.push(run_start..at);
            }
            run = 0;
        }
        at += line.len();
    }
    if run > MAX_EMPTY_LINES {
        long.push(run_start..at);
    }
    for range in long {
        let last = range.end - 1;
        bytes[range].fill(b' ');
        bytes[last] = b'\n';
    }
}
