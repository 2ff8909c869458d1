use mcpgraph_engine::{ErrorKind, Event, LogLevel, RunError};
use mcpgraph_journal::{JournalOptions, Origin, Redaction};
use mcpgraph_value::Value;

use crate::support::{at, contains, finished, json, keep, new_run, open, raw_bytes, started, step};

const SECRET: &str = "hunter2\"é\\x";

fn options() -> JournalOptions {
    JournalOptions {
        redaction: Redaction {
            secrets: vec![SECRET.to_owned(), "later-token".to_owned()],
            fields: vec!["Authorization".to_owned()],
        },
        max_payload_bytes: 8000,
        ..JournalOptions::default()
    }
}

#[tokio::test]
async fn a_secret_never_gets_into_a_file() {
    let (dir, journal) = open(options());
    let secret = |text: &str| Value::from(format!("{text} {SECRET} {text}"));
    let error = RunError::new(ErrorKind::ToolError, format!("said {SECRET}"))
        .with_data(Value::array(vec![secret("data")]));
    let nested = Value::array(vec![secret("in a text")]).to_json();
    let events = vec![
        started("t", secret("input")),
        step(0, &[0], "n", Some(json(r#"{"authorization":"field-value","b":1}"#))),
        Event::Retrying { step: 0, attempt: 1, delay: at(1), error: error.clone(), at: at(2) },
        Event::Log {
            step: 0,
            level: LogLevel::Info,
            message: format!("log {SECRET}").into(),
            at: at(3),
        },
        // Kept by themselves, compressed and cut short.
        crate::support::done(0, secret(&"x".repeat(6000)), None),
        crate::support::done(0, Value::from(nested), None),
        crate::support::done(0, secret(&"y".repeat(20_000)), None),
        Event::Finished { outcome: Err(error), at: at(4) },
    ];
    let mut run = new_run("t");
    run.definition = Some(format!("headers: {SECRET}").into());
    let client = Value::from(SECRET).to_json();
    run.origin = Origin { client: Some(client.into()), ..Origin::default() };
    let id = keep(&journal, run, &events).await;
    let summary = journal.run(id).unwrap().unwrap();
    assert_eq!(summary.error.as_deref(), Some("said [redacted]"));
    assert_eq!(summary.origin.client.as_deref(), Some("\"[redacted]\""));
    let definition = journal.definition(summary.definition.unwrap()).unwrap();
    assert_eq!(definition.as_deref(), Some("headers: [redacted]"));
    let exported = journal.export(id).unwrap().to_json();
    assert!(exported.contains("input [redacted] input"), "{exported}");
    assert!(exported.contains(r#""in":{"authorization":"[redacted]","b":1}"#), "{exported}");
    journal.close();

    let bytes = raw_bytes(&dir);
    assert!(contains(&bytes, "[redacted]"));
    for piece in ["hunter2", "field-value"] {
        assert!(!contains(&bytes, piece), "{piece}");
    }
}

#[tokio::test]
async fn a_field_of_json_in_an_error_never_gets_into_a_file() {
    let (dir, journal) = open(options());
    let said = r#"it failed: {"v": {"authorization": "field-value"}}"#;
    let error = RunError::new(ErrorKind::ToolError, said);
    let log = Event::Log { step: 0, level: LogLevel::Info, message: said.into(), at: at(3) };
    let events = vec![
        started("t", Value::from(said)),
        step(0, &[0], "n", None),
        log,
        Event::Finished { outcome: Err(error), at: at(4) },
    ];
    let id = keep(&journal, new_run("t"), &events).await;
    let summary = journal.run(id).unwrap().unwrap();
    let masked = r#"it failed: {"v": {"authorization": "[redacted]"}}"#;
    assert_eq!(summary.error.as_deref(), Some(masked));
    journal.close();
    assert!(!contains(&raw_bytes(&dir), "field-value"));
}

#[tokio::test]
async fn what_is_masked_can_change_while_it_serves() {
    let (_dir, journal) = open(JournalOptions::default());
    let events = |text: &str| vec![started("t", text.into()), finished(Value::Null)];
    let before = keep(&journal, new_run("t"), &events("a later-token")).await;
    journal.set_redaction(&options().redaction);
    let after = keep(&journal, new_run("t"), &events("a later-token")).await;
    assert!(journal.export(before).unwrap().to_json().contains("later-token"));
    assert!(!journal.export(after).unwrap().to_json().contains("later-token"));
}
