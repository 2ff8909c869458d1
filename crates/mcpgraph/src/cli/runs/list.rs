use mcpgraph_diagnostics::shortened;
use mcpgraph_journal::{Filter, Listing, RunStatus, RunSummary, rfc3339};
use mcpgraph_value::{Map, Value};

use super::super::args::runs::{ListArgs, When};
use super::text::{Side, count, table, took};
use super::{Exit, Runs, output, print, usage};

/// How much of an error a line shows.
const SHOWN: usize = 60;

/// Lists runs, the newest first.
pub(super) fn list(args: &ListArgs, runs: &Runs, json: bool) -> anyhow::Result<Exit> {
    if args.limit == 0 {
        return Err(usage("--limit 0 would list nothing; it must be at least 1"));
    }
    let mut filter = Filter {
        tool: args.tool.clone(),
        status: args.status,
        since: args.since.map(When::moment),
        text: args.text.clone(),
        slower_than: args.slower_than,
        limit: args.limit,
        ..Filter::default()
    };
    let mut all = Listing { runs: Vec::new(), next: None };
    // A search answers with what it has found so far, however little that is.
    loop {
        let page = runs.journal.list(&filter)?;
        filter.limit = filter.limit.saturating_sub(page.runs.len());
        filter.before = page.next;
        all.runs.extend(page.runs);
        all.next = page.next;
        if filter.limit == 0 || filter.before.is_none() {
            break;
        }
    }
    if json {
        let mut document = Map::new();
        document.insert("runs", all.runs.iter().map(RunSummary::to_value).collect::<Vec<_>>());
        document.insert("next", all.next.map(|id| id.to_string()));
        print(&Value::from(document))?;
        return Ok(Exit::Success);
    }
    if all.runs.is_empty() {
        output::say(&format!("no such runs in {}\n", runs.journal.place()));
        return Ok(Exit::Success);
    }
    let heading = [
        ("RUN", Side::Left),
        ("STARTED", Side::Left),
        ("TOOL", Side::Left),
        ("STATUS", Side::Left),
        ("TOOK", Side::Right),
        ("STEPS", Side::Right),
        ("", Side::Left),
    ];
    output::data(&table(heading, &all.runs.iter().map(row).collect::<Vec<_>>()))?;
    if all.next.is_some() {
        output::say(&format!("the latest {}; --limit shows more\n", all.runs.len()));
    }
    Ok(Exit::Success)
}

fn row(run: &RunSummary) -> [String; 7] {
    [
        run.id.to_string(),
        rfc3339(run.started),
        run.tool.to_string(),
        run.status.name().to_owned(),
        took(run),
        run.steps.to_string(),
        remark(run),
    ]
}

/// What is missing of a record, and why the run failed, or how far it came.
fn remark(run: &RunSummary) -> String {
    let is_unfinished = matches!(run.status, RunStatus::Running | RunStatus::Interrupted);
    let remark = match (&run.error, &run.reached) {
        (Some(error), _) => shortened(error, SHOWN),
        (None, Some(reached)) if is_unfinished => {
            format!("at step {} `{}`", reached.step, reached.node)
        }
        _ => String::new(),
    };
    if run.lost == 0 {
        return remark;
    }
    let lost = count(usize::try_from(run.lost).unwrap_or(usize::MAX), "event");
    format!("incomplete: {lost} lost  {remark}").trim_end().to_owned()
}
