use mcpgraph_journal::{JournalError, JournalOptions, RunStatus};
use mcpgraph_value::{Map, Value};
use proptest::prelude::*;

use crate::support::{json, keep, new_run, open, short_run, started, step, version};

#[tokio::test]
async fn a_run_goes_from_one_store_to_another() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut deep = Value::from(1);
    for _ in 0..120 {
        deep = Value::array(vec![deep]);
    }
    for output in [Value::from("x".repeat(100_000)), Value::from("y".repeat(300_000)), deep] {
        let id = keep(&journal, new_run("t"), &short_run("t", &output)).await;
        let document = journal.export(id).unwrap();
        // It is a file on the way.
        let document = Value::from_json(&document.to_json_pretty()).unwrap();
        let (_other_dir, other) = open(JournalOptions::default());
        assert_eq!(other.import(&document).unwrap(), id);
        assert_eq!(other.import(&document).unwrap(), id);
        assert_eq!(other.export(id).unwrap(), document);
        assert_eq!(other.events(id, 0, 10).unwrap(), journal.events(id, 0, 10).unwrap());
        let imported = other.run(id).unwrap().unwrap();
        let original = journal.run(id).unwrap().unwrap();
        assert_eq!(imported, original);
        let definition = other.definition(imported.definition.unwrap()).unwrap();
        assert_eq!(definition.as_deref(), Some("tools: []"));
    }
}

#[tokio::test]
async fn another_run_with_the_same_id_is_refused() {
    let (_dir, journal) = open(JournalOptions::default());
    let run = new_run("t");
    let id = keep(&journal, run.clone(), &short_run("t", &1.into())).await;
    let (_other_dir, other) = open(JournalOptions::default());
    keep(&other, run, &short_run("t", &2.into())).await;
    let error = other.import(&journal.export(id).unwrap()).unwrap_err();
    assert!(matches!(error, JournalError::Exists(_)), "{error}");
    assert_eq!(other.whole_events(id, version()).unwrap(), short_run("t", &2.into()));
}

#[tokio::test]
async fn a_run_without_an_end_is_imported_as_interrupted() {
    let (_dir, journal) = open(JournalOptions::default());
    let mut recorder = crate::support::record(
        &journal,
        new_run("t"),
        &[started("t", Value::Null), step(0, &[0], "a", None)],
    );
    assert!(recorder.committed().await);
    let (_other_dir, other) = open(JournalOptions::default());
    let id = other.import(&journal.export(recorder.id()).unwrap()).unwrap();
    assert_eq!(other.run(id).unwrap().unwrap().status, RunStatus::Interrupted);
}

/// A document with one thing replaced.
fn with(document: &Value, pointer: &[&str], value: Value) -> Value {
    let Some((key, rest)) = pointer.split_first() else { return value };
    match document {
        Value::Object(members) => {
            let mut members: Map = (**members).clone();
            let inner = members.get(key).cloned().unwrap_or_default();
            members.insert(*key, with(&inner, rest, value));
            members.into()
        }
        Value::Array(items) => {
            let index: usize = key.parse().unwrap();
            let mut items = items.to_vec();
            items[index] = with(&items[index], rest, value);
            Value::array(items)
        }
        _ => value,
    }
}

#[tokio::test]
async fn hostile_documents_are_refused() {
    let (_dir, journal) = open(JournalOptions::default());
    let events = [
        started("t", Value::Null),
        step(0, &[0], "a", None),
        crate::support::done(0, 1.into(), None),
        crate::support::finished(1.into()),
    ];
    let id = keep(&journal, new_run("t"), &events).await;
    let document = journal.export(id).unwrap();
    let (_other_dir, other) = open(JournalOptions::default());
    let changes: [(&[&str], &str, &str); 21] = [
        (&["format"], "\"other\"", "format"),
        (&["version"], "2", "version"),
        (&["run"], "null", "startedMicros"),
        (&["run", "id"], "\"x\"", "id"),
        (&["run", "digest"], "\"00\"", "digest"),
        (&["run", "digest"], "\"00000000000000000000000000000000\"", "starts something else"),
        (&["run", "startedMicros"], "9e30", "startedMicros"),
        (&["run", "startedMicros"], "9000000000000000000", "9999"),
        (&["run", "lost"], "-1", "lost"),
        (&["run", "origin", "client"], "7", "client"),
        (&["definition"], "[]", "definition"),
        (&["events"], "[]", "no events"),
        (&["events"], "{}", "events"),
        (&["events", "1", "seq"], "0", "number 0"),
        (&["events", "3", "seq"], "7", "missing"),
        (&["events", "1", "s"], "5", "step 0 comes next"),
        (&["events", "1", "path"], "\"1.x\"", "path"),
        (&["events", "1", "path"], "\"\"", "beginning of a step"),
        (&["events", "2", "at"], "9000000000000000000", "100 years"),
        (&["events", "2"], r#"{"seq":2,"e":"done","s":0,"at":1,"out@":"00"}"#, "digest"),
        (&["events", "2"], r#"{"seq":2,"e":"finished","at":1,"out":1}"#, "after the end"),
    ];
    for (pointer, value, expected) in changes {
        let error = other.import(&with(&document, pointer, json(value))).unwrap_err();
        assert!(matches!(error, JournalError::Import(_)), "{pointer:?}: {error}");
        assert!(error.to_string().contains(expected), "{pointer:?} {value}: {error}");
    }
    assert!(other.run(id).unwrap().is_none());
    other.import(&document).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_document_makes_it_panic(text in "\\PC*", number in any::<i64>(), which in 0_usize..12) {
        let (_dir, journal) = open(JournalOptions::default());
        let event = format!(
            r#"{{"seq":0,"e":"started","tool":"t","digest":"{}","seed":1,"in":null}}"#,
            version()
        );
        let step = r#"{"seq":1,"e":"step","s":0,"path":"0","node":"a","kind":"mcp","began":0,"at":0}"#;
        let document = json(&format!(
            r#"{{"format":"mcpgraph-run","version":1,"definition":null,"events":[{event},{step}],
                "run":{{"id":"{}","tool":"t","digest":"{}","startedMicros":1,"lost":0}}}}"#,
            mcpgraph_journal::RunId::new(), version()
        ));
        let keys = ["seq", "e", "s", "path", "node", "kind", "began", "at", "in", "in@", "in~", "in$"];
        for value in [Value::from(text.as_str()), Value::from(number)] {
            let changed = with(&document, &["events", "1", keys[which]], value);
            if let Ok(id) = journal.import(&changed) {
                journal.events(id, 0, 10).unwrap();
                journal.context_at(id, 0).map(drop).unwrap_or_default();
                journal.remove(&[id]).unwrap();
            }
        }
    }
}
