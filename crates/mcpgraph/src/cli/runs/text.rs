//! Tables, durations and payloads for people.

use std::fmt::Write as _;
use std::time::Duration;

use mcpgraph_diagnostics::printable;
use mcpgraph_journal::{Payload, RunStatus, RunSummary, Truncated};
use unicode_width::UnicodeWidthStr as _;

/// On which side of its column a cell stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Side {
    Left,
    Right,
}

/// Rows under a heading, aligned. Cells are made harmless for terminals.
pub(in crate::cli) fn table<const N: usize>(
    heading: [(&str, Side); N],
    rows: &[[String; N]],
) -> String {
    let mut lines = vec![heading.map(|(title, _)| title.to_owned())];
    lines.extend(rows.iter().map(|row| row.each_ref().map(|cell| printable(cell).into_owned())));
    let mut widths = [0; N];
    for line in &lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.width());
        }
    }
    let mut text = String::new();
    for line in &lines {
        let mut shown = String::new();
        for ((cell, width), (_, side)) in line.iter().zip(widths).zip(heading) {
            let fill = " ".repeat(width - cell.width());
            match side {
                Side::Left => shown.extend([cell, &*fill, "  "]),
                Side::Right => shown.extend([&*fill, cell, "  "]),
            }
        }
        text.push_str(shown.trim_end());
        text.push('\n');
    }
    text
}

/// Words and what they stand for, aligned.
pub(in crate::cli) fn facts(facts: &[(&str, String)]) -> String {
    let width = facts.iter().map(|(word, _)| word.len()).max().unwrap_or_default();
    facts.iter().fold(String::new(), |mut text, (word, fact)| {
        // Writing to a text does not fail.
        writeln!(text, "{word:<width$}  {}", printable(fact)).unwrap_or_default();
        text
    })
}

/// A duration with three digits that matter, or in two units.
pub(in crate::cli) fn duration(duration: Duration) -> String {
    let micros = duration.as_micros();
    let seconds = duration.as_secs();
    match micros {
        0..1000 => format!("{micros} µs"),
        1000..1_000_000 => format!("{} ms", three_digits(micros as f64 / 1000.0)),
        1_000_000..60_000_000 => format!("{} s", three_digits(micros as f64 / 1_000_000.0)),
        _ if seconds < 3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ if seconds < 86_400 => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
        _ => format!("{} d {:02} h", seconds / 86_400, seconds / 3600 % 24),
    }
}

fn three_digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

/// How long a run took. Of one that was interrupted before more than its beginning was written, that
/// is not known.
pub(in crate::cli) fn took(run: &RunSummary) -> String {
    match run.status {
        RunStatus::Interrupted if run.duration.is_zero() => "-".to_owned(),
        _ => duration(run.duration),
    }
}

/// A number of things.
pub(in crate::cli) fn count(number: usize, word: &str) -> String {
    if number == 1 { format!("1 {word}") } else { format!("{number} {word}s") }
}

/// A payload on lines of its own, or what is left of it and why.
pub(in crate::cli) fn payload(payload: &Payload) -> String {
    match payload {
        Payload::Whole(value) => indented(&value.to_json_pretty()),
        Payload::Truncated(left) => format!("{}  {}\n", indented(&left.preview), why(left)),
    }
}

/// Why a payload is not whole.
fn why(left: &Truncated) -> String {
    format!(
        "… not kept whole: its {} bytes were more than --max-payload-bytes; digest {}",
        left.size, left.digest
    )
}

/// Each line a little to the right, and harmless for terminals.
pub(in crate::cli) fn indented(text: &str) -> String {
    text.lines().flat_map(|line| ["  ".into(), printable(line), "\n".into()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_short() {
        let cases = [
            (0, "0 µs"),
            (999, "999 µs"),
            (1000, "1.00 ms"),
            (12_345, "12.3 ms"),
            (123_456, "123 ms"),
            (3_420_000, "3.42 s"),
            (125_000_000, "2 min 05 s"),
            (7_380_000_000, "2 h 03 min"),
            (180_000_000_000, "2 d 02 h"),
        ];
        for (micros, text) in cases {
            assert_eq!(duration(Duration::from_micros(micros)), text);
        }
    }

    #[test]
    fn columns_are_aligned_by_what_is_seen() {
        let row = |name: &str, number: &str| [name.to_owned(), number.to_owned()];
        let rows = [row("a", "1"), row("日本", "20"), row("\u{1b}[31m", "300")];
        assert_eq!(
            table([("NAME", Side::Left), ("N", Side::Right)], &rows),
            "NAME     N\na        1\n日本    20\n␛[31m  300\n"
        );
    }

    #[test]
    fn a_payload_says_what_is_missing() {
        let left = Truncated {
            preview: "[1,2".into(),
            size: 5000,
            digest: mcpgraph_graph::Digest::of("x"),
        };
        let text = payload(&Payload::Truncated(left));
        assert!(text.starts_with("  [1,2\n  … not kept whole: its 5000 bytes"), "{text}");
        assert!(text.contains("--max-payload-bytes") && text.contains("digest 2d711642"), "{text}");
    }
}
