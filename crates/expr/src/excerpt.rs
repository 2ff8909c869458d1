use std::fmt;

/// How much of a line of an expression is shown, in characters.
const WIDTH: usize = 72;

/// How much of it stands before the place that is shown, where there is more.
const BEFORE: usize = 32;

/// A place in the text of an expression, and the text around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Excerpt<'a> {
    /// The line, from 1; none where the text has only one, or the place is not known.
    pub line: Option<usize>,
    /// The character of that line, from 1; none where the place is not known.
    pub column: Option<usize>,
    /// As much of the line as is shown.
    pub text: &'a str,
    /// Whether the line begins before.
    pub is_cut_before: bool,
    /// Whether there is more behind.
    pub is_cut_behind: bool,
}

impl<'a> Excerpt<'a> {
    /// What is to be seen at a byte of a text, or of its beginning; none if it has nothing to see.
    pub(crate) fn of(source: &'a str, position: Option<usize>) -> Option<Self> {
        let end = source.trim_end().len();
        let begin = source.len() - source.trim_start().len();
        let place =
            source.floor_char_boundary(position.unwrap_or(begin).clamp(begin.min(end), end));
        let line_begin = source[..place].rfind('\n').map_or(0, |at| at + 1);
        let line = source[line_begin..].lines().next().unwrap_or_default().trim_end();
        let column = source[line_begin..place].chars().count();
        let skipped = if line.chars().count() <= WIDTH { 0 } else { column.saturating_sub(BEFORE) };
        let from = line.char_indices().nth(skipped).map_or(0, |(at, _)| at);
        let shown = &line[from..];
        let until = shown.char_indices().nth(WIDTH).map_or(shown.len(), |(at, _)| at);
        let text = shown[..until].trim_start();
        let has_lines = source.trim().contains('\n');
        (!text.is_empty()).then_some(Self {
            line: (has_lines && position.is_some())
                .then(|| source[..line_begin].matches('\n').count() + 1),
            column: position.is_some().then_some(column + 1),
            text,
            is_cut_before: from > 0,
            is_cut_behind: until < shown.len() || (position.is_none() && has_lines),
        })
    }
}

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, "line {line}, character {column} of ")?,
            (None, Some(column)) => write!(f, "character {column} of ")?,
            _ => {}
        }
        let cut = |is_cut| if is_cut { "…" } else { "" };
        write!(f, "`{}{}{}`", cut(self.is_cut_before), self.text, cut(self.is_cut_behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str, position: impl Into<Option<usize>>) -> String {
        Excerpt::of(source, position.into()).map_or_else(String::new, |excerpt| excerpt.to_string())
    }

    #[test]
    fn a_short_expression_is_shown_whole() {
        assert_eq!(shown("'a' + 1", 4), "character 5 of `'a' + 1`");
        assert_eq!(shown("'a' + 1", None), "`'a' + 1`");
        assert_eq!(shown("", 0), "");
        assert_eq!(shown(" \n ", None), "");
    }

    #[test]
    fn of_several_lines_the_one_concerned_is_shown() {
        let source = "(\n  $x := 'ä' + 1;\n  $x\n)\n";
        let at = source.find('+').unwrap_or_default();
        assert_eq!(shown(source, at), "line 2, character 13 of `$x := 'ä' + 1;`");
        assert_eq!(shown(source, None), "`(…`");
        assert_eq!(shown("a\n", 0), "character 1 of `a`");
    }

    #[test]
    fn a_long_line_is_shown_around_the_place() {
        let source = format!("{} + 'b' & {}", "a".repeat(100), "ü".repeat(100));
        let text = shown(&source, 101);
        assert!(text.starts_with("character 102 of `…aaa") && text.ends_with("ü…`"), "{text}");
        assert_eq!(text.chars().filter(|c| *c == 'ü').count(), WIDTH - BEFORE - 8);
    }

    #[test]
    fn no_place_is_too_far() {
        for position in 0..20 {
            assert!(shown("ä\r\n€ + 1\n", position).starts_with("line"), "{position}");
        }
    }
}
