use std::ops::ControlFlow;
use std::time::SystemTime;

use aho_corasick::AhoCorasick;
use mcpgraph_value::Value;
use regex::{Regex, RegexBuilder};

use super::events::{RunReader, payload};
use super::row::Rows;
use crate::database::{Bound, Connection, Store, bound};
use crate::write::micros;
use crate::{Filter, Journal, JournalError, Listing, RunId, RunStatus, RunSummary};

/// How much text one search looks at before it answers with what it has.
const MAX_SEARCHED_BYTES: usize = 128 * 1024 * 1024;

/// How many runs are asked for together.
const PAGE: usize = 128;

impl Journal {
    /// Runs, the newest first.
    pub fn list(&self, filter: &Filter) -> Result<Listing, JournalError> {
        self.read(|connection| {
            let mut runs = Vec::new();
            let next = visit(connection, &self.store, filter, |_, run| {
                runs.push(run);
                Ok(())
            })?;
            Ok(Listing { runs, next })
        })
    }
}

/// Goes through the runs a filter wants, with their numbers; the cursor for more, if there may be.
pub(crate) fn visit(
    connection: &Connection,
    store: &Store,
    filter: &Filter,
    mut visit: impl FnMut(i64, RunSummary) -> Result<(), JournalError>,
) -> Result<Option<RunId>, JournalError> {
    let rows = Rows::new(connection, store)?;
    let mut search = filter.text.as_deref().filter(|text| !text.is_empty()).map(Search::new);
    let (mut count, mut last) = (0, filter.before);
    loop {
        let page = page(connection, &rows, filter, last)?;
        let is_last = page.len() < PAGE;
        for (no, run) in page {
            let is_exhausted = search.as_ref().is_some_and(|search| search.left == 0);
            if count >= filter.limit || is_exhausted {
                return Ok(last);
            }
            last = Some(run.id);
            if let Some(search) = &mut search
                && !search.matches(connection, no, &run)?
            {
                continue;
            }
            count += 1;
            visit(no, run)?;
        }
        if is_last {
            return Ok(None);
        }
    }
}

/// The next runs of which the database can tell that the filter wants them, after one of them.
fn page(
    connection: &Connection,
    rows: &Rows,
    filter: &Filter,
    after: Option<RunId>,
) -> Result<Vec<(i64, RunSummary)>, JournalError> {
    let slower_than = filter.slower_than.map(|limit| limit.as_micros());
    let slower_than = slower_than.map(|limit| u64::try_from(limit).unwrap_or(u64::MAX));
    let lives = rows.lives();
    let (status, of_writer) = match filter.status {
        None => (None, None),
        Some(RunStatus::Running) => (None, Some(format!("status = 'running' AND {lives}"))),
        Some(RunStatus::Interrupted) => {
            let is_gone = format!("status = 'running' AND NOT ({lives})");
            (None, Some(format!("(status = 'interrupted' OR {is_gone})")))
        }
        Some(status) => (Some(status.name()), None),
    };
    let of_tool = format!("{} = ", rows.shared("tool"));
    // Those that run have taken longer than up to their latest event.
    let runs_since = slower_than.map(|limit| {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        micros(SystemTime::now()).saturating_sub(limit)
    });
    let is_slow = runs_since.map_or_else(String::new, |since| {
        format!("(status = 'running' AND {lives} AND started < {since}) OR duration > ")
    });
    let parts: [(&str, Option<Bound<'_>>); 6] = [
        ("id < ", after.as_ref().map(Bound::from)),
        (&of_tool, filter.tool.as_ref().map(Bound::from)),
        ("started >= ", filter.since.map(|since| micros(since).into())),
        ("started < ", filter.until.map(|until| micros(until).into())),
        (&is_slow, slower_than.map(Bound::from)),
        ("status = ", status.map(Bound::from)),
    ];
    let mut conditions = vec!["1 = 1".to_owned()];
    let mut values = Vec::new();
    for (sql, value) in parts {
        if let Some(value) = value {
            values.push(value);
            conditions.push(format!("({sql}?{})", values.len()));
        }
    }
    conditions.extend(of_writer);
    let condition = conditions.join(" AND ");
    let (columns, runs) = (rows.columns(), rows.runs());
    let sql =
        format!("SELECT {columns} FROM {runs} WHERE {condition} ORDER BY id DESC LIMIT {PAGE}");
    Ok(connection.all(&sql, &values, |row| Ok((row.get(0)?, rows.summary(row)?)))?)
}

/// Finds a text, whatever its case.
enum Finder {
    /// One of ASCII, which is found fastest.
    Ascii(AhoCorasick),
    /// Any other.
    Any(Regex),
}

impl Finder {
    fn new(text: &str) -> Option<Self> {
        // Events are JSON, where the text may be written with escapes.
        let json = Value::from(text).to_json();
        let texts = [text, &json[1..json.len() - 1]];
        if text.is_ascii() {
            let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(texts);
            return finder.ok().map(Self::Ascii);
        }
        let either = texts.map(regex::escape).join("|");
        RegexBuilder::new(&either).case_insensitive(true).build().ok().map(Self::Any)
    }

    fn is_in(&self, text: &str) -> bool {
        match self {
            Self::Ascii(finder) => finder.is_match(text),
            Self::Any(finder) => finder.is_match(text),
        }
    }
}

/// Looks for a text in everything of a run.
struct Search {
    /// None of a text that is too long to be looked for.
    finder: Option<Finder>,
    /// How many bytes may still be looked at.
    left: usize,
}

impl Search {
    fn new(text: &str) -> Self {
        Self { finder: Finder::new(text), left: MAX_SEARCHED_BYTES }
    }

    fn is_in(&mut self, text: &str) -> bool {
        self.left = self.left.saturating_sub(text.len());
        self.finder.as_ref().is_some_and(|finder| finder.is_in(text))
    }

    fn matches(
        &mut self,
        connection: &Connection,
        no: i64,
        run: &RunSummary,
    ) -> Result<bool, JournalError> {
        if self.is_in(&run.tool) || run.error.as_deref().is_some_and(|error| self.is_in(error)) {
            return Ok(true);
        }
        let mut is_found = false;
        RunReader::new(connection, no).lines(0, |_, line| {
            is_found = self.is_in(line);
            let is_done = is_found || self.left == 0;
            Ok(if is_done { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if is_found {
            return Ok(true);
        }
        let payloads: Vec<i64> =
            connection
                .all("SELECT payload FROM uses WHERE run = ?1", bound![no], |row| row.get(0))?;
        for no in payloads {
            if self.left == 0 {
                return Ok(false);
            }
            let sql = "SELECT size, packed, data FROM payloads WHERE no = ?1";
            let json = connection.first(sql, bound![no], payload)?.flatten();
            if json.is_some_and(|json| self.is_in(&json)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
