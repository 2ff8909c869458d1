//! What many runs have in common is kept once, and said of each.

use std::time::Duration;

use mcpgraph_engine::Event;
use mcpgraph_journal::{Face, Filter, JournalOptions, NewRun, Origin, Retention};
use mcpgraph_value::Value;

use crate::retention::NOTHING;
use crate::support::{keep, new_run, open, shared, short_run};

fn events(tool: &str) -> Vec<Event> {
    short_run(tool, &Value::Null)
}

/// A run for a client, of the file with this text.
fn run(tool: &str, text: &str, client: Option<&str>) -> NewRun {
    let origin = Origin {
        face: Face::Mcp,
        client: client.map(shared),
        protocol: client.map(|_| shared("2025-11-25")),
        principal: client.map(shared),
        ..Origin::default()
    };
    NewRun { definition: Some(text.into()), origin, ..new_run(tool) }
}

#[tokio::test]
async fn each_run_says_what_ran_and_who_asked() {
    let (dir, journal) = open(JournalOptions::default());
    let runs = || {
        let mut runs = Vec::new();
        for tool in ["a", "b"] {
            for text in ["tools: []", "tools: [] # edited"] {
                for client in [None, Some(r#"{"name":"one"}"#), Some(r#"{"name":"two"}"#)] {
                    runs.push(run(tool, text, client));
                }
            }
        }
        runs
    };
    // More than are known in memory come in between, in the second round.
    for round in 0..2 {
        for run in runs() {
            let id = keep(&journal, run.clone(), &events(&run.tool)).await;
            let kept = journal.run(id).unwrap().unwrap();
            assert_eq!((&kept.tool, kept.digest), (&run.tool, run.digest));
            assert_eq!(kept.origin, run.origin);
            assert_eq!(journal.definition(kept.definition.unwrap()).unwrap(), run.definition);
        }
        for number in 0..40 * round {
            let other = run(&format!("other {number}"), "tools: []", None);
            keep(&journal, other, &events("other")).await;
        }
    }
    assert_eq!(dir.count("occasions"), 12 + 40);
    assert_eq!(dir.count("definitions"), 2);
    let listed = |tool: &str| {
        let filter = Filter { tool: Some(tool.to_owned()), limit: 1000, ..Filter::default() };
        journal.list(&filter).unwrap().runs.len()
    };
    assert_eq!([listed("a"), listed("b"), listed("other 7"), listed("")], [12, 12, 1, 0]);
}

#[tokio::test]
async fn it_goes_with_the_last_run_that_had_it() {
    let (dir, journal) = open(JournalOptions { retention: NOTHING, ..JournalOptions::default() });
    for text in ["tools: []", "tools: [] # edited"] {
        for client in [None, Some("{}")] {
            keep(&journal, run("t", text, client), &events("t")).await;
        }
    }
    journal.close();
    assert_eq!((dir.count("occasions"), dir.count("definitions")), (4, 2));
    // One run stays, with what it needs.
    let retention = Retention { max_runs: Some(1), ..NOTHING };
    let journal = dir.open(JournalOptions { retention, ..JournalOptions::default() });
    let last = run("t", "tools: []", None);
    let id = keep(&journal, last.clone(), &events("t")).await;
    while (dir.count("occasions"), dir.count("definitions")) != (1, 1) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let kept = journal.run(id).unwrap().unwrap();
    assert_eq!((&*kept.tool, kept.origin.face), ("t", Face::Mcp));
    assert_eq!(journal.definition(kept.definition.unwrap()).unwrap(), last.definition);
    // And what was forgotten is kept again when it is needed again.
    let id = keep(&journal, run("t", "tools: []", Some("{}")), &events("t")).await;
    assert_eq!(journal.run(id).unwrap().unwrap().origin.client.as_deref(), Some("{}"));
}
