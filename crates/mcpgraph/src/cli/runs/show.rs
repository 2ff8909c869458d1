mod steps;

use mcpgraph_diagnostics::shortened;
use mcpgraph_journal::{Question, RunStatus, RunSummary, StoredEvent, rfc3339};
use mcpgraph_value::{Map, Value};

use self::steps::Told;
use super::super::args::runs::ShowArgs;
use super::text::{count, facts, took};
use super::{Exit, Runs, output, print, step};

/// How many events are read at a time.
const PAGE: usize = 1000;

/// How much of a payload a line shows.
const SHOWN: usize = 160;

/// Shows a run and its steps, or one of its steps.
pub(super) fn show(args: &ShowArgs, runs: &Runs, json: bool) -> anyhow::Result<Exit> {
    let run = runs.find(&args.id)?;
    // What the run had come to is what its latest step saw.
    let latest = args.context.then(|| run.steps.saturating_sub(1));
    if let Some(number) = args.step.or(latest) {
        return step::show(runs, &run, number, args.context, json);
    }
    let told = read(runs, &run)?;
    let asked = runs.journal.pending_questions(Some(run.id))?;
    if json {
        print(&document(&run, &told, &asked))?;
    } else {
        let (about, table) = (about(&run, &told, &asked), told.table());
        output::data(&format!(
            "{}\n{table}{}",
            facts(&about),
            told.pauses_text(run.origin.parent.as_ref())
        ))?;
    }
    Ok(Exit::Success)
}

fn read(runs: &Runs, run: &RunSummary) -> anyhow::Result<Told> {
    let mut told = Told::default();
    let mut from = 0;
    loop {
        let events = runs.journal.events(run.id, from, PAGE)?;
        let Some((last, _)) = events.last() else { return Ok(told) };
        from = last + 1;
        for (seq, event) in events {
            told.take(seq, event);
        }
    }
}

fn document(run: &RunSummary, told: &Told, asked: &[Question]) -> Value {
    let mut document = Map::from_iter([("run", run.to_value())]);
    for (event, key) in [(&told.started, "input"), (&told.finished, "result")] {
        let Some(event) = event.as_ref().map(StoredEvent::to_value) else { continue };
        let found = [key.to_owned(), format!("{key}Truncated"), "error".to_owned()];
        for key in found {
            if let Some(value) = event.get(&key) {
                document.insert(key, value.clone());
            }
        }
    }
    document.insert("steps", told.to_value());
    document.insert("pauses", told.pauses());
    if !asked.is_empty() {
        document.insert("questions", asked.iter().map(Question::to_value).collect::<Vec<_>>());
    }
    document.into()
}

/// What is said of the run itself.
fn about(run: &RunSummary, told: &Told, asked: &[Question]) -> Vec<(&'static str, String)> {
    let mut about = vec![
        ("run", run.id.to_string()),
        ("tool", format!("{}, version {}", run.tool, run.digest)),
        ("status", status(run)),
        ("started", rfc3339(run.started)),
        ("took", took(run)),
        ("called", called(run)),
    ];
    if let Some(trace) = &run.origin.trace {
        about.push(("trace", trace.traceparent.to_string()));
    }
    if let Some(parent) = &run.origin.parent {
        about.push(("parent", format!("{}, executed from step {}", parent.run, parent.from)));
    }
    about.extend(run.children.iter().map(|child| ("child", child.to_string())));
    about.extend(run.origin.around.map(|around| ("around", around.to_string())));
    about.extend(run.inside.iter().map(|inside| ("inside", inside.to_string())));
    if run.lost > 0 {
        let lost = count(usize::try_from(run.lost).unwrap_or(usize::MAX), "event");
        about.push(("lost", format!("{lost}: the disk was full or too slow")));
    }
    about.extend(asked.iter().map(|question| {
        let message = &question.message;
        ("asks", format!("{message} (node `{}`, question {})", question.node, question.id))
    }));
    if told.finished.is_none() {
        about.extend(told.waits().map(|until| ("waits", until)));
    }
    if let Some(StoredEvent::Started { input, .. }) = &told.started {
        about.push(("input", cut(&input.text())));
    }
    if let Some(StoredEvent::Finished { outcome, .. }) = &told.finished {
        about.push(match outcome {
            Ok(result) => ("result", cut(&result.text())),
            Err(error) => {
                let node = error.node.as_ref().map(|node| format!("node `{node}`: "));
                // Why a run failed is what its reader wants to know; the end of it, too.
                let message = error.message.text();
                let code = error.kind.code();
                ("error", format!("{}{message} [{code}]", node.unwrap_or_default()))
            }
        });
    }
    about
}

fn status(run: &RunSummary) -> String {
    let name = run.status.name();
    match (&run.reached, run.status) {
        (Some(reached), RunStatus::Running | RunStatus::Interrupted) => {
            format!("{name} at step {} `{}`", reached.step, reached.node)
        }
        _ => name.to_owned(),
    }
}

/// A payload on one line, which says where the rest is if it is cut.
fn cut(text: &str) -> String {
    let shown = shortened(text, SHOWN);
    let is_cut = text.chars().nth(SHOWN).is_some();
    if is_cut { format!("{shown} (--json shows all of it)") } else { shown }
}

/// Who asked for the run.
fn called(run: &RunSummary) -> String {
    let mut called = format!("from {}", run.origin.face.name());
    if let Some(client) = &run.origin.client {
        called.push_str(" by ");
        called.push_str(client);
    }
    if let Some(protocol) = &run.origin.protocol {
        called.push_str(", protocol ");
        called.push_str(protocol);
    }
    called
}
