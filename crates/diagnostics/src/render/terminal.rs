use std::fmt::{self, Display, Write};

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

use super::printable::{printable, visible};
use crate::{Diagnostic, Diagnostics, Label, Severity};

/// Whether the text may carry terminal colours. They never carry meaning alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Text only.
    Plain,
    /// With ANSI escape sequences.
    Ansi,
}

/// The widest piece of a source line that is shown, in terminal columns.
const MAX_WIDTH: usize = 140;

/// How much of a long line is shown before the marked text.
const LEAD: usize = 40;

/// A tab is shown as this many spaces.
const TAB: &str = "    ";

/// The problems as lines for a terminal, one block each, with an empty line between blocks.
///
/// Nothing from a file or a message reaches the terminal as a control character.
pub fn to_terminal(diagnostics: &Diagnostics, colour: Colour) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    write_all(&mut out, diagnostics, Theme::new(colour)).unwrap_or_default();
    out
}

fn write_all(out: &mut String, diagnostics: &Diagnostics, theme: Theme) -> fmt::Result {
    for (index, diagnostic) in diagnostics.iter().enumerate() {
        if index > 0 {
            out.push('\n');
        }
        write_diagnostic(out, diagnostic, theme)?;
    }
    match diagnostics.left_out() {
        0 => Ok(()),
        more => writeln!(out, "\n… and {more} more"),
    }
}

fn write_diagnostic(out: &mut String, diagnostic: &Diagnostic, theme: Theme) -> fmt::Result {
    let head = theme.severity(diagnostic.severity);
    writeln!(
        out,
        "{}{}",
        head.paint(format_args!("{}[{}]", diagnostic.severity.as_str(), diagnostic.code)),
        theme.strong.paint(format_args!(": {}", printable(&diagnostic.message))),
    )?;
    let labels = || diagnostic.primary.iter().chain(&diagnostic.secondary);
    let gutter = labels().map(|label| digits(label.start().line)).max().unwrap_or(1);
    if let Some(primary) = &diagnostic.primary {
        write_label(out, primary, gutter, "-->", ("^", head), theme)?;
    }
    for label in &diagnostic.secondary {
        write_label(out, label, gutter, ":::", ("-", theme.frame), theme)?;
    }
    if let Some(hint) = &diagnostic.hint {
        for (index, line) in hint.lines().enumerate() {
            let word = if index == 0 { "hint:" } else { "     " };
            writeln!(out, "{:gutter$} {} {}", "", theme.hint.paint(word), printable(line))?;
        }
    }
    Ok(())
}

fn write_label(
    out: &mut String,
    label: &Label,
    gutter: usize,
    arrow: &str,
    (mark, paint): (&str, Paint),
    theme: Theme,
) -> fmt::Result {
    let place = label.start();
    let frame = theme.frame;
    writeln!(
        out,
        "{:gutter$}{} {}:{}:{}",
        "",
        frame.paint(arrow),
        printable(label.source.name()),
        place.line,
        place.column
    )?;
    let shown = Excerpt::of(label, place.line);
    writeln!(out, "{:gutter$} {}", "", frame.paint("|"))?;
    writeln!(
        out,
        "{} {}{}{}",
        frame.paint(format_args!("{:>gutter$}", place.line)),
        frame.paint("|"),
        if shown.text.is_empty() { "" } else { " " },
        shown.text
    )?;
    let underline = mark.repeat(shown.width);
    let words =
        if label.text.is_empty() { String::new() } else { format!(" {}", printable(&label.text)) };
    writeln!(
        out,
        "{:gutter$} {} {:skip$}{}",
        "",
        frame.paint("|"),
        "",
        paint.paint(format_args!("{underline}{words}")),
        skip = shown.before
    )
}

/// The part of a source line that is shown, and where the underline goes.
struct Excerpt {
    text: String,
    /// Columns before the underline.
    before: usize,
    /// Columns of the underline; at least one.
    width: usize,
}

impl Excerpt {
    /// A span of several lines is shown by its first. However long the line is, only what is shown
    /// is looked at.
    fn of(label: &Label, line: usize) -> Self {
        let line = label.source.line_span(line);
        let start = label.span.start.clamp(line.start, line.end);
        let end = label.span.end.clamp(start, line.end);
        let piece = |from, to| label.source.slice((from..to).into());
        let mut before = piece(line.start, start);
        let mut text = String::new();
        let mut columns = 0;
        let fits = fitting(piece(line.start, line.end).chars(), MAX_WIDTH).is_none();
        if !fits && let Some(shown) = fitting(before.chars().rev(), LEAD) {
            before = before.get(before.len() - shown..).unwrap_or_default();
            text.push('…');
            columns += 1;
        }
        columns += push_visible(&mut text, before, usize::MAX);
        let room = MAX_WIDTH.saturating_sub(columns).max(1);
        let marked = push_visible(&mut text, piece(start, end), room);
        push_visible(&mut text, piece(end, line.end), room.saturating_sub(marked));
        Self { text: text.trim_end().to_owned(), before: columns, width: marked.max(1) }
    }
}

/// The bytes of those first characters that fit in `columns`; none if all of them do.
fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> Option<usize> {
    let (mut used, mut bytes) = (0, 0);
    for character in characters {
        used += width(character);
        if used > columns {
            return Some(bytes);
        }
        bytes += character.len_utf8();
    }
    None
}

/// Appends as much as fits, with `…` for the rest, and returns the columns used.
fn push_visible(out: &mut String, text: &str, room: usize) -> usize {
    let mut used = 0;
    for character in text.chars() {
        if used + width(character) > room {
            if !out.ends_with('…') {
                out.push('…');
                used += 1;
            }
            return used;
        }
        used += width(character);
        if character == '\t' {
            out.push_str(TAB);
        } else {
            out.push(visible(character));
        }
    }
    used
}

/// The columns a character takes in the way it is shown.
fn width(character: char) -> usize {
    if character == '\t' { TAB.len() } else { visible(character).width().unwrap_or(1) }
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// The styles, all empty where there is no colour.
#[derive(Clone, Copy)]
struct Theme {
    error: Paint,
    warning: Paint,
    strong: Paint,
    frame: Paint,
    hint: Paint,
}

impl Theme {
    fn new(colour: Colour) -> Self {
        let bold = |foreground: Option<AnsiColor>| {
            Paint(match colour {
                Colour::Plain => Style::new(),
                Colour::Ansi => Style::new().bold().fg_color(foreground.map(Into::into)),
            })
        };
        Self {
            error: bold(Some(AnsiColor::BrightRed)),
            warning: bold(Some(AnsiColor::BrightYellow)),
            strong: bold(None),
            frame: bold(Some(AnsiColor::BrightBlue)),
            hint: bold(Some(AnsiColor::BrightCyan)),
        }
    }

    fn severity(self, severity: Severity) -> Paint {
        match severity {
            Severity::Error => self.error,
            Severity::Warning => self.warning,
        }
    }
}

/// A style that can be put around a text.
#[derive(Clone, Copy)]
struct Paint(Style);

impl Paint {
    fn paint(self, text: impl Display) -> impl Display {
        let Self(style) = self;
        fmt::from_fn(move |f| write!(f, "{style}{text}{style:#}"))
    }
}
