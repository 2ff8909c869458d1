//! Regular expressions with JavaScript's meaning.

mod translate;

use std::ops::Range;

use self::translate::{Translated, ends_line};
use crate::error::{Outcome, fail};
use crate::syntax::ast::RegexFlags;

/// How much of a step back the backtracking engine may take per search.
const BACKTRACK_LIMIT: usize = 1_000_000;

/// How long a text may be for that engine, in bytes: it may read the rest of the text at every place.
const BACKTRACK_TEXT_LIMIT: usize = 32 * 1024;

/// How large a compiled expression may be, in bytes.
const SIZE_LIMIT: usize = 2 * 1024 * 1024;

/// A compiled expression.
#[derive(Debug)]
pub(crate) struct Regex {
    source: Box<str>,
    engine: Engine,
}

#[derive(Debug)]
enum Engine {
    /// Takes time in proportion to the text, whatever the pattern.
    Linear(regex::Regex),
    /// The same; the match is the first group, beside which ends of lines may stand. The second is
    /// for what begins a line, where the text does not.
    Framed(regex::Regex, Option<regex::Regex>),
    /// The first where lines end with `\n` alone, the second where they do not.
    Lines(regex::Regex, fancy_regex::Regex),
    /// For what the linear engine has not: look-around and back-references.
    Backtracking(fancy_regex::Regex),
}

/// One match, in bytes.
#[derive(Debug)]
pub(crate) struct Match {
    pub(crate) range: Range<usize>,
    /// The groups; one that took no part is `None`.
    pub(crate) groups: Vec<Option<Range<usize>>>,
}

impl Regex {
    /// Compiles a JavaScript pattern, or says why it is none.
    pub(crate) fn new(pattern: &str, flags: RegexFlags) -> Result<Self, String> {
        let engine = match translate::translate(pattern, flags)? {
            Translated::Linear(pattern) => Engine::Linear(linear(&pattern)?),
            Translated::Framed { first, next } => {
                Engine::Framed(linear(&first)?, next.map(|next| linear(&next)).transpose()?)
            }
            Translated::Lines { linear: simple, exact } => {
                Engine::Lines(linear(&simple)?, backtracking(&exact)?)
            }
            Translated::Backtracking(pattern) => Engine::Backtracking(backtracking(&pattern)?),
        };
        Ok(Self { source: pattern.into(), engine })
    }

    /// What stands between the slashes.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The first match at or behind the byte `from`.
    pub(crate) fn find(&self, text: &str, from: usize) -> Outcome<Option<Match>> {
        match &self.engine {
            Engine::Linear(engine) => Ok(find_linear(engine, text, from, 0)),
            Engine::Framed(_, Some(next)) if from > 0 => {
                // The end of the line before is part of what is looked for.
                let before = text[..from].chars().next_back().filter(|c| ends_line(*c));
                Ok(find_linear(next, text, from - before.map_or(0, char::len_utf8), 1))
            }
            Engine::Framed(first, _) => Ok(find_linear(first, text, from, 1)),
            Engine::Lines(engine, _) if has_plain_lines(text) => {
                Ok(find_linear(engine, text, from, 0))
            }
            Engine::Lines(_, engine) | Engine::Backtracking(engine) => {
                self.find_backtracking(engine, text, from)
            }
        }
    }

    fn find_backtracking(
        &self,
        engine: &fancy_regex::Regex,
        text: &str,
        from: usize,
    ) -> Outcome<Option<Match>> {
        if text.len() > BACKTRACK_TEXT_LIMIT {
            let message = format!(
                "the regular expression /{}/ has look-around or back-references, or ends of \
                 lines inside, which work on texts of up to {BACKTRACK_TEXT_LIMIT} bytes",
                self.source
            );
            return Err(fail("U1004", message));
        }
        let captures = engine.captures_from_pos(text, from).map_err(|_| {
            let message = format!(
                "the regular expression /{}/ takes more than {BACKTRACK_LIMIT} steps back",
                self.source
            );
            fail("U1004", message)
        })?;
        Ok(captures.and_then(|captures| {
            Some(Match {
                range: captures.get(0).map(|found| found.start()..found.end())?,
                groups: (1..captures.len())
                    .map(|group| captures.get(group).map(|group| group.start()..group.end()))
                    .collect(),
            })
        }))
    }

    /// Whether it matches anywhere.
    pub(crate) fn is_match(&self, text: &str) -> Outcome<bool> {
        match &self.engine {
            Engine::Linear(engine) | Engine::Framed(engine, _) => Ok(engine.is_match(text)),
            Engine::Lines(engine, _) if has_plain_lines(text) => Ok(engine.is_match(text)),
            Engine::Lines(..) | Engine::Backtracking(_) => Ok(self.find(text, 0)?.is_some()),
        }
    }
}

fn linear(pattern: &str) -> Result<regex::Regex, String> {
    regex::RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).build().map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => {
            format!("it needs more than {limit} bytes when compiled")
        }
        error => error.to_string().lines().last().unwrap_or_default().to_owned(),
    })
}

fn backtracking(pattern: &str) -> Result<fancy_regex::Regex, String> {
    fancy_regex::RegexBuilder::new(pattern)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(SIZE_LIMIT)
        .build()
        .map_err(|error| error.to_string())
}

/// A match that is the group `whole` of the engine's; the groups behind that one are its own.
fn find_linear(engine: &regex::Regex, text: &str, from: usize, whole: usize) -> Option<Match> {
    if engine.captures_len() == 1 {
        let found = engine.find_at(text, from)?;
        return Some(Match { range: found.range(), groups: Vec::new() });
    }
    let captures = engine.captures_at(text, from)?;
    let groups = captures.iter().skip(whole + 1);
    Some(Match {
        range: captures.get(whole)?.range(),
        groups: groups.map(|group| group.map(|group| group.range())).collect(),
    })
}

/// Whether lines end with `\n` alone.
fn has_plain_lines(text: &str) -> bool {
    !text.contains(|c| c != '\n' && ends_line(c))
}

#[cfg(test)]
mod tests;
