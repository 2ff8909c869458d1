use std::ops::ControlFlow;
use std::path::Path;

use aho_corasick::AhoCorasick;
use mcpgraph_value::Value;
use rusqlite::Connection;
use rusqlite::types::Value as Sql;

use super::events::{RunReader, unpack};
use super::row::Rows;
use crate::write::micros;
use crate::{Filter, Journal, JournalError, Listing, RunStatus, RunSummary};

/// How much text one search looks at before it answers with what it has.
const MAX_SEARCHED_BYTES: usize = 128 * 1024 * 1024;

impl Journal {
    /// Runs, the newest first.
    pub fn list(&self, filter: &Filter) -> Result<Listing, JournalError> {
        self.read(|connection| {
            let mut runs = Vec::new();
            let next = visit(connection, &self.dir, filter, |_, run| {
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
    dir: &Path,
    filter: &Filter,
    mut visit: impl FnMut(i64, RunSummary) -> Result<(), JournalError>,
) -> Result<Option<crate::RunId>, JournalError> {
    let rows = Rows::new(connection, dir)?;
    let (condition, values) = condition(filter, &rows);
    let columns = rows.columns();
    let sql = format!("SELECT {columns} FROM runs WHERE {condition} ORDER BY id DESC");
    let mut statement = connection.prepare(&sql)?;
    let mut found = statement.query(rusqlite::params_from_iter(values))?;
    let mut search = filter.text.as_deref().filter(|text| !text.is_empty()).map(Search::new);
    let (mut count, mut last) = (0, filter.before);
    while let Some(row) = found.next()? {
        let is_exhausted = search.as_ref().is_some_and(|search| search.left == 0);
        if count >= filter.limit || is_exhausted {
            return Ok(last);
        }
        let (no, run) = (row.get(0)?, rows.summary(row)?);
        last = Some(run.id);
        if let Some(search) = &mut search
            && !search.matches(connection, no, &run)?
        {
            continue;
        }
        count += 1;
        visit(no, run)?;
    }
    Ok(None)
}

/// What of a filter the database can decide.
fn condition(filter: &Filter, rows: &Rows) -> (String, Vec<Sql>) {
    let mut condition = "1".to_owned();
    let mut values = Vec::new();
    let mut and = |sql: &str, value: Option<Sql>| {
        condition.push_str(" AND ");
        condition.push_str(sql);
        values.extend(value);
    };
    if let Some(before) = filter.before {
        and("id < ?", Some(Sql::Blob(before.as_bytes().to_vec())));
    }
    if let Some(tool) = &filter.tool {
        and("tool = ?", Some(Sql::Text(tool.clone())));
    }
    if let Some(since) = filter.since {
        and("started >= ?", Some(Sql::Integer(micros(since))));
    }
    if let Some(until) = filter.until {
        and("started < ?", Some(Sql::Integer(micros(until))));
    }
    if let Some(duration) = filter.slower_than {
        let duration = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        and("duration > ?", Some(Sql::Integer(duration)));
    }
    let living: Vec<String> = rows.living.iter().map(ToString::to_string).collect();
    let living = living.join(", ");
    match filter.status {
        None => {}
        Some(RunStatus::Running) => {
            and(&format!("status = 'running' AND writer IN ({living})"), None);
        }
        Some(RunStatus::Interrupted) => and(
            &format!(
                "(status = 'interrupted' OR status = 'running' AND (writer IS NULL OR writer NOT IN ({living})))"
            ),
            None,
        ),
        Some(status) => and("status = ?", Some(Sql::Text(status.name().to_owned()))),
    }
    (condition, values)
}

/// Looks for a text in everything of a run.
struct Search {
    finder: Option<AhoCorasick>,
    /// How many bytes may still be looked at.
    left: usize,
}

impl Search {
    fn new(text: &str) -> Self {
        // Events are JSON, where the text may be written with escapes.
        let json = Value::from(text).to_json();
        let texts = [text, &json[1..json.len() - 1]];
        let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(texts).ok();
        Self { finder, left: MAX_SEARCHED_BYTES }
    }

    fn is_in(&mut self, text: &str) -> bool {
        self.left = self.left.saturating_sub(text.len());
        self.finder.as_ref().is_some_and(|finder| finder.is_match(text))
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
        let mut statement = connection.prepare_cached(
            "SELECT size, packed, data FROM uses JOIN payloads ON payloads.no = uses.payload
             WHERE uses.run = ?",
        )?;
        let mut payloads = statement.query([no])?;
        while let Some(row) = payloads.next()? {
            if self.left == 0 {
                return Ok(false);
            }
            let json = unpack(row.get(0)?, row.get(1)?, row.get(2)?);
            if json.is_some_and(|json| self.is_in(&json)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
