//! `${NAME}`, `${NAME:-default}` and `${file:PATH}` in the texts of server definitions.

use std::cell::LazyCell;
use std::ops::Range;
use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes};

use super::problems::{Problems, quoted};
use crate::Text;
use crate::model::Expanded;

/// Where the values of environment variables come from, and under names that begin with
/// [`FILE_PREFIX`] what is in files; the crate never looks itself.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Option<String>;

/// What the name of a variable begins with that stands for what is in a file.
pub const FILE_PREFIX: &str = "file:";

/// The variable that stands for this very program.
pub const OWN_PROGRAM: &str = "MCPGRAPH_BIN";

/// The variable that stands for the folder of the file.
pub const GRAPH_FOLDER: &str = "GRAPH_DIR";

/// A piece of a text with variables.
enum Piece<'a> {
    Plain(&'a str),
    Variable {
        name: &'a str,
        default: Option<&'a str>,
        start: usize,
        end: usize,
    },
    /// A `${` without its end, or without a name that can be one.
    Broken {
        start: usize,
        end: usize,
    },
}

/// How deep variables may stand in the defaults of others.
const MAX_NESTED: usize = 8;

/// Replaces the variables of a text and remembers what came from the environment.
pub(super) fn expand(text: &Text, lookup: Lookup<'_>, problems: &mut Problems) -> Expanded {
    let mut expanded = Expanded { value: String::new(), span: text.span(), secrets: Vec::new() };
    let places = LazyCell::new({
        let source = Arc::clone(problems.source());
        move || text.alignment(&source)
    });
    let place = |start, end| places.span(start..end);
    Expansion { lookup, place: &place, problems }.add(text, 0, 0, &mut expanded);
    expanded
}

/// A text whose variables are being replaced.
struct Expansion<'a> {
    lookup: Lookup<'a>,
    /// Where a part of the text stands in the file.
    place: &'a dyn Fn(usize, usize) -> Span,
    problems: &'a mut Problems,
}

impl Expansion<'_> {
    /// Adds a part of the text that begins at `base`, inside the defaults of `depth` others.
    fn add(&mut self, text: &str, base: usize, depth: usize, expanded: &mut Expanded) {
        for piece in pieces(text) {
            match piece {
                Piece::Plain(plain) => expanded.value.push_str(plain),
                Piece::Variable { name, default, start, end } => {
                    // As in a shell, a default also stands in for an empty value.
                    let value = (self.lookup)(name);
                    let value = value.filter(|value| default.is_none() || !value.is_empty());
                    match (value, default) {
                        (Some(value), _) => {
                            expanded.value.push_str(&value);
                            // Where this program and the file are is no secret.
                            let is_own = [OWN_PROGRAM, GRAPH_FOLDER].contains(&name);
                            if !value.is_empty() && !is_own {
                                expanded.secrets.push(value);
                            }
                        }
                        (None, Some(default)) if depth < MAX_NESTED => {
                            // It ends where the reference does, before the brace.
                            let start = base + end - 1 - default.len();
                            self.add(default, start, depth + 1, expanded);
                        }
                        (None, Some(_)) => self.broken(text, base, start..end),
                        (None, None) => {
                            unset(name, (self.place)(base + start, base + end), self.problems);
                        }
                    }
                }
                Piece::Broken { start, end } => self.broken(text, base, start..end),
            }
        }
    }

    fn broken(&mut self, text: &str, base: usize, range: Range<usize>) {
        let span = (self.place)(base + range.start, base + range.end);
        let message = format!("{} is not a variable reference", quoted(&text[range]));
        self.problems.push(self.problems.error(codes::VARIABLE_SYNTAX, span, message).hint(
            format!(
                "write `${{NAME}}`, `${{NAME:-default}}` or `${{file:PATH}}`, in defaults up to \
                 {MAX_NESTED} deep; `$${{` stands for a plain `${{`"
            ),
        ));
    }
}

fn unset(name: &str, span: Span, problems: &mut Problems) {
    if let Some(path) = name.strip_prefix(FILE_PREFIX) {
        let message = format!("the file {} cannot be read as a secret", quoted(path));
        problems.push(problems.error(codes::SECRET_UNREADABLE, span, message).hint(
            "a path is relative to the folder of this file; the secret is at most 64 KiB of text",
        ));
        return;
    }
    let message = format!("the environment variable {} is not set", quoted(name));
    problems.push(problems.error(codes::VARIABLE_UNSET, span, message).hint(format!(
        "set it, or give a default: `${{{}:-…}}`",
        mcpgraph_diagnostics::shortened(name, 60)
    )));
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut plain = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find("${") {
        let start = at + found;
        if text[..start].ends_with('$') && start > plain {
            // `$${`: the first dollar goes, the rest is plain.
            pieces.push(Piece::Plain(&text[plain..start - 1]));
            plain = start;
            at = start + 2;
            continue;
        }
        pieces.push(Piece::Plain(&text[plain..start]));
        let end = closing(text, start).map_or(text.len(), |close| close + 1);
        pieces.push(reference(text, start, end));
        plain = end;
        at = end;
    }
    pieces.push(Piece::Plain(&text[plain..]));
    pieces
}

/// Where the brace is that closes the reference that begins at `start`, with those in its default.
fn closing(text: &str, start: usize) -> Option<usize> {
    let mut open = 0_usize;
    let mut at = start;
    loop {
        let found = at + text[at..].find(['$', '}'])?;
        if text[found..].starts_with('}') {
            open -= 1;
            if open == 0 {
                return Some(found);
            }
            at = found + 1;
        } else if found > start && text[found..].starts_with("$${") {
            at = found + 3;
        } else if text[found..].starts_with("${") {
            open += 1;
            at = found + 2;
        } else {
            at = found + 1;
        }
    }
}

fn reference(text: &str, start: usize, end: usize) -> Piece<'_> {
    let Some(inside) = text[start + 2..end].strip_suffix('}') else {
        return Piece::Broken { start, end };
    };
    // Some clients write `${env:NAME}`.
    let inside = inside.strip_prefix("env:").unwrap_or(inside);
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    if name.strip_prefix(FILE_PREFIX).is_some_and(|path| !path.is_empty()) {
        return Piece::Variable { name, default, start, end };
    }
    let is_name = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name {
        Piece::Variable { name, default, start, end }
    } else {
        Piece::Broken { start, end }
    }
}
