use std::time::SystemTime;

use mcpgraph_engine::{Event, Given, StepPath};
use mcpgraph_graph::Digest;
use mcpgraph_value::Value;

use super::RunReader;
use super::context::context;
use super::row::expect;
use super::steps::record;
use crate::{Journal, JournalOptions, NewRun, Origin, RunId};

/// The most events that may be decoded to show one step, whatever the length of the run: those
/// since a snapshot, twice, and those with the values.
const MOST: u64 = 2 * 128 + 16;

fn at(micros: u64) -> std::time::Duration {
    std::time::Duration::from_micros(micros)
}

fn step(step: u64, path: &[u32], kind: &'static str, input: Option<Value>) -> Event {
    Event::StepStarted {
        step,
        path: StepPath::new(path),
        node: format!("n{}", step % 5).into(),
        kind,
        input,
        item_name: (kind == "foreach").then(|| "item".into()),
        began: at(step),
        at: at(step),
    }
}

/// A run with these events, in a store of its own.
fn store(events: &[Event]) -> (tempfile::TempDir, Journal, RunId) {
    let dir = tempfile::TempDir::new().unwrap();
    let journal = Journal::open(dir.path(), JournalOptions::default()).unwrap();
    let id = RunId::new();
    let mut recorder = journal.begin(NewRun {
        id,
        tool: "t".into(),
        digest: Digest::of("t"),
        definition: None,
        origin: Origin::default(),
        started: SystemTime::now(),
    });
    for event in events {
        recorder.record(event.clone());
    }
    drop(recorder);
    drop(journal);
    let journal = Journal::open_read(dir.path()).unwrap();
    (dir, journal, id)
}

/// Looks at a step; what it saw, and how many events had to be decoded for that.
fn look(journal: &Journal, id: RunId, step: u64) -> (Value, u64) {
    journal
        .read(|connection| {
            let (no, summary) = expect(connection, &journal.store, id)?;
            let reader = RunReader::new(connection, no);
            let seen = context(&reader, summary.events, step)?.unwrap();
            let cost = reader.decoded.get();
            let reader = RunReader::new(connection, no);
            assert_eq!(record(&reader, summary.events, step)?.unwrap().step, step);
            Ok((seen, cost.max(reader.decoded.get())))
        })
        .unwrap()
}

#[test]
fn a_step_of_a_long_run_is_shown_from_few_events() {
    const STEPS: u64 = 10_000;
    let mut events = vec![Event::Started {
        tool: "t".into(),
        digest: Digest::of("t"),
        input: Value::Null,
        given: Given { seed: 0, clock: 0 },
    }];
    for number in 0..STEPS {
        events.push(step(number, &[number as u32], "transform", None));
        let edge = Some("next".into());
        let (output, at) = (number.into(), at(number));
        events.push(Event::StepFinished { step: number, output, edge, at });
    }
    let (_dir, journal, id) = store(&events);
    for number in [0, 1, 63, 64, 65, 5_000, 7_777, STEPS - 1] {
        let (seen, cost) = look(&journal, id, number);
        assert!(cost <= MOST, "step {number}: {cost} events");
        let latest = |node: u64| (0..number).rev().find(|step| step % 5 == node);
        for node in 0..5 {
            let expected = latest(node).map(Value::from);
            assert_eq!(seen.get(&format!("n{node}")), expected.as_ref(), "step {number}");
        }
    }
}

#[test]
fn a_long_loop_is_shown_from_few_events_too() {
    const ITEMS: u64 = 10_000;
    let items: Vec<Value> = (0..ITEMS).map(|item| (item * 3).into()).collect();
    let mut events = vec![step(0, &[0], "foreach", Some(Value::array(items)))];
    for item in 0..ITEMS {
        events.push(step(item + 1, &[0, item as u32, 0], "transform", None));
        let (output, at) = (item.into(), at(item));
        events.push(Event::StepFinished { step: item + 1, output, edge: None, at });
    }
    let output = Value::Null;
    events.push(Event::StepFinished { step: 0, output, edge: None, at: at(ITEMS) });
    let (_dir, journal, id) = store(&events);
    for number in [0, 1, 200, 9_999] {
        let (seen, cost) = look(&journal, id, number);
        assert!(cost <= MOST, "step {number}: {cost} events");
        if number > 0 {
            let expected = format!(r#"{{"item":{},"index":{}}}"#, (number - 1) * 3, number - 1);
            assert_eq!(seen.to_json(), expected);
        }
    }
}
