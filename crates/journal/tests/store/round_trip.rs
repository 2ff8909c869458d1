use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, Given, LogLevel, PauseReason, RunError, StepPath};
use mcpgraph_journal::JournalOptions;
use mcpgraph_value::{Map, Value};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use crate::support::{new_run, open, record, version};

fn name() -> impl Strategy<Value = std::sync::Arc<str>> {
    "[a-z\"\\\\\n é$.]{1,8}".prop_map(Into::into)
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "-?[1-9][0-9]{20,40}".prop_map(|text| Value::from_json(&text).unwrap()),
        "[1-9]\\.[0-9]{18,25}e[+-]?[0-9]{1,3}".prop_map(|text| Value::from_json(&text).unwrap()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        any::<String>().prop_map(Value::from),
        // Long enough to stand by itself, or to be compressed.
        (1_usize..2000).prop_map(|count| Value::from("long é ".repeat(count))),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::array),
            vec((any::<String>(), inner), 0..4)
                .prop_map(|members| Value::object(Map::from_iter(members))),
        ]
    })
}

fn time() -> impl Strategy<Value = Duration> {
    (0_u64..1 << 50).prop_map(Duration::from_micros)
}

fn path() -> impl Strategy<Value = StepPath> {
    vec(any::<u32>(), 1..6).prop_map(|positions| StepPath::new(&positions))
}

fn kind() -> impl Strategy<Value = ErrorKind> {
    prop_oneof![
        Just(ErrorKind::Expression),
        Just(ErrorKind::ToolError),
        any::<i64>().prop_map(|code| ErrorKind::ProtocolError { code }),
        Just(ErrorKind::Unavailable),
        Just(ErrorKind::Timeout),
        Just(ErrorKind::Limit),
        Just(ErrorKind::NoRoute),
        Just(ErrorKind::InvalidInput),
        Just(ErrorKind::InvalidOutput),
        Just(ErrorKind::Cancelled),
        Just(ErrorKind::Internal),
    ]
}

fn error() -> impl Strategy<Value = RunError> {
    (kind(), any::<String>(), option::of(name()), option::of(value()))
        .prop_map(|(kind, message, node, data)| RunError { kind, message, node, data })
}

fn why() -> impl Strategy<Value = PauseReason> {
    prop_oneof![
        Just(PauseReason::Asked),
        Just(PauseReason::Stepped),
        name().prop_map(PauseReason::Before),
        name().prop_map(PauseReason::After),
    ]
}

fn level() -> impl Strategy<Value = LogLevel> {
    prop_oneof![
        Just(LogLevel::Debug),
        Just(LogLevel::Info),
        Just(LogLevel::Warn),
        Just(LogLevel::Error),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let step = 0_u64..1000;
    prop_oneof![
        (name(), value(), any::<(u64, u64)>()).prop_map(|(tool, input, (seed, clock))| {
            Event::Started { tool, digest: version(), input, given: Given { seed, clock } }
        }),
        (step.clone(), path(), name(), option::of(value()), option::of(name()), time(), time())
            .prop_map(|(step, path, node, input, item_name, began, at)| Event::StepStarted {
                step,
                path,
                node,
                kind: "foreach",
                input,
                item_name,
                began,
                at
            }),
        (step.clone(), value(), option::of(name()), time())
            .prop_map(|(step, output, edge, at)| Event::StepFinished { step, output, edge, at }),
        (step.clone(), error(), option::of(name()), time())
            .prop_map(|(step, error, edge, at)| Event::StepFailed { step, error, edge, at }),
        (step.clone(), any::<u32>(), time(), error(), time()).prop_map(
            |(step, attempt, delay, error, at)| Event::Retrying { step, attempt, delay, error, at }
        ),
        (why(), time()).prop_map(|(why, at)| Event::Paused { why, at }),
        (time(), time()).prop_map(|(waited, at)| Event::Resumed { waited, at }),
        (path(), name(), value(), time()).prop_map(|(scope, node, output, at)| {
            Event::OutputChanged { scope, node, output, at }
        }),
        (step, level(), name(), time()).prop_map(|(step, level, message, at)| Event::Log {
            step,
            level,
            message,
            at
        }),
        (value(), time()).prop_map(|(output, at)| Event::Finished { outcome: Ok(output), at }),
        (error(), time()).prop_map(|(error, at)| Event::Finished { outcome: Err(error), at }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn events_come_back_as_they_were(events in vec(event(), 1..40)) {
        let (dir, journal) = open(JournalOptions::default());
        let run = new_run("t");
        let id = run.id;
        // They need not make sense as a run to be kept as they are.
        drop(record(&journal, run, &events));
        journal.close();
        let journal = dir.open_read();
        let read = journal.whole_events(id, version()).unwrap();
        prop_assert_eq!(&read, &events);
        // Equality of values does not see the order of keys and the digits of numbers.
        prop_assert_eq!(format!("{read:?}"), format!("{events:?}"));
    }
}

#[test]
fn nesting_up_to_the_limit_comes_back() {
    for depth in [60, 65, 100, 126] {
        let mut value = Value::from(1);
        for level in 0..depth {
            value = if level % 2 == 0 {
                Value::array(vec![value])
            } else {
                Value::object(Map::from_iter([("a", value)]))
            };
        }
        let (dir, journal) = open(JournalOptions::default());
        let run = new_run("t");
        let id = run.id;
        let events = vec![crate::support::started("t", value)];
        drop(record(&journal, run, &events));
        journal.close();
        let journal = dir.open_read();
        assert_eq!(journal.whole_events(id, version()).unwrap(), events, "{depth} levels");
    }
}
