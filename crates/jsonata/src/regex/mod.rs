//! Regular expressions with JavaScript's meaning.

mod translate;

use std::ops::Range;

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
        let translated = translate::translate(pattern, flags)?;
        let source = pattern.into();
        if translated.needs_backtracking {
            let engine = fancy_regex::RegexBuilder::new(&translated.pattern)
                .backtrack_limit(BACKTRACK_LIMIT)
                .delegate_size_limit(SIZE_LIMIT)
                .build()
                .map_err(|error| error.to_string())?;
            return Ok(Self { source, engine: Engine::Backtracking(engine) });
        }
        let engine = regex::RegexBuilder::new(&translated.pattern)
            .size_limit(SIZE_LIMIT)
            .build()
            .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => {
                format!("it needs more than {limit} bytes when compiled")
            }
            error => error.to_string().lines().last().unwrap_or_default().to_owned(),
        })?;
        Ok(Self { source, engine: Engine::Linear(engine) })
    }

    /// What stands between the slashes.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// The first match at or behind the byte `from`.
    pub(crate) fn find(&self, text: &str, from: usize) -> Outcome<Option<Match>> {
        match &self.engine {
            Engine::Linear(engine) => {
                if engine.captures_len() == 1 {
                    return Ok(engine
                        .find_at(text, from)
                        .map(|found| Match { range: found.range(), groups: Vec::new() }));
                }
                Ok(engine.captures_at(text, from).and_then(|captures| {
                    Some(Match {
                        range: captures.get(0)?.range(),
                        groups: captures
                            .iter()
                            .skip(1)
                            .map(|group| group.map(|group| group.range()))
                            .collect(),
                    })
                }))
            }
            Engine::Backtracking(engine) => {
                if text.len() > BACKTRACK_TEXT_LIMIT {
                    let message = format!(
                        "the regular expression /{}/ has look-around or back-references, which \
                         work on texts of up to {BACKTRACK_TEXT_LIMIT} bytes",
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
                            .map(|group| {
                                captures.get(group).map(|group| group.start()..group.end())
                            })
                            .collect(),
                    })
                }))
            }
        }
    }

    /// Whether it matches anywhere.
    pub(crate) fn is_match(&self, text: &str) -> Outcome<bool> {
        match &self.engine {
            Engine::Linear(engine) => Ok(engine.is_match(text)),
            Engine::Backtracking(_) => Ok(self.find(text, 0)?.is_some()),
        }
    }
}

#[cfg(test)]
mod tests;
