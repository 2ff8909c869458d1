//! What a run that goes on from a record needs of it.

use std::sync::Arc;

use mcpgraph_engine::{Event, StepId, StepPath};
use mcpgraph_journal::{Journal, JournalError, JournalOptions, Missing, RunId};
use mcpgraph_value::Value;

use crate::support::{at, done, finished, keep, new_run, open, started, step, version};

fn large(letter: &str) -> Value {
    letter.repeat(6000).into()
}

fn options() -> JournalOptions {
    JournalOptions { max_payload_bytes: 5000, preview_bytes: 4, ..JournalOptions::default() }
}

/// A node that is executed twice, one inside another, and one after them.
fn run() -> Vec<Event> {
    vec![
        started("t", 1.into()),
        step(0, &[0], "first", Some(1.into())),
        done(0, 1.into(), None),
        step(1, &[1], "first", Some(1.into())),
        done(1, large("a"), None),
        step(2, &[2], "around", None),
        step(3, &[2, 0, 0], "first", Some(1.into())),
        done(3, 3.into(), None),
        done(2, 2.into(), None),
        step(4, &[3], "last", Some(large("b"))),
        done(4, large("c"), None),
        finished(large("c")),
    ]
}

fn taken(
    journal: &Journal,
    id: RunId,
    from: StepId,
    given: &[(&str, Value)],
) -> Result<Vec<Event>, JournalError> {
    let given: Vec<(Arc<str>, Value)> =
        given.iter().map(|(node, value)| ((*node).into(), value.clone())).collect();
    journal.events_taken_over(id, version(), from, &given)
}

fn missing(found: Result<Vec<Event>, JournalError>) -> Missing {
    match found {
        Err(JournalError::Missing(missing)) => missing,
        other => panic!("something is missing: {other:?}"),
    }
}

#[tokio::test]
async fn only_what_comes_before_a_step_has_to_be_whole() {
    let (_dir, journal) = open(options());
    let id = keep(&journal, new_run("t"), &run()).await;
    for from in [0, 1] {
        let events = taken(&journal, id, from, &[]).unwrap();
        let kept = run();
        assert_eq!((events.len(), &events[..4]), (kept.len(), &kept[..4]));
        // Later ones are there with the beginning of what they said.
        assert_eq!(events[4], done(1, "\"aaa".into(), None));
        assert_eq!(events[9], step(4, &[3], "last", Some("\"bbb".into())));
        assert_eq!(events[11], finished("\"ccc".into()));
    }
    for from in [2, 3, 4] {
        let lost = missing(taken(&journal, id, from, &[]));
        assert_eq!((lost.seq, lost.step), (4, Some(1)));
    }
    let Err(JournalError::NoStep { step: 5, .. }) = taken(&journal, id, 5, &[]) else {
        panic!("there is no step 5");
    };
}

#[tokio::test]
async fn a_given_output_takes_the_place_of_the_latest_of_its_node() {
    let (_dir, journal) = open(options());
    let id = keep(&journal, new_run("t"), &run()).await;
    let events = taken(&journal, id, 4, &[("first", 7.into()), ("first", 8.into())]).unwrap();
    let mut expected = run()[..9].to_vec();
    expected[4] = done(1, 8.into(), None);
    assert_eq!(events[..9], expected);
    // It is another body that goes on, or another node.
    for (from, node) in [(3, "first"), (4, "around")] {
        let lost = missing(taken(&journal, id, from, &[(node, 8.into())]));
        assert_eq!((lost.seq, lost.node.is_some()), (4, from == 4));
    }
    let way = missing(taken(&journal, id, 4, &[])).way_on("here");
    let expected = "go on from step 1 or an earlier one, so that it is executed again, or give \
                    another output of `first` here";
    assert_eq!(way.as_deref(), Some(expected));

    // Only the latest: what was there before may have been used.
    let mut again = run();
    again.splice(9..9, [step(4, &[3], "first", None), done(4, 4.into(), None)]);
    again[11] = step(5, &[4], "last", None);
    again[12] = done(5, 5.into(), None);
    let id = keep(&journal, new_run("t"), &again).await;
    let lost = missing(taken(&journal, id, 5, &[("first", 8.into())]));
    assert_eq!((lost.seq, lost.node.as_deref()), (4, None));
}

#[tokio::test]
async fn so_it_does_where_an_output_was_changed() {
    let (_dir, journal) = open(options());
    let mut events = run();
    events[4] = done(1, 1.into(), None);
    let changed = |output| {
        let (scope, node) = (StepPath::new(&[]), "around".into());
        Event::OutputChanged { scope, node, output, at: at(30) }
    };
    events.insert(9, changed(large("d")));
    let id = keep(&journal, new_run("t"), &events).await;
    let lost = missing(taken(&journal, id, 4, &[]));
    assert_eq!((lost.seq, lost.step, lost.node.as_deref()), (9, None, Some("around")));
    let taken = taken(&journal, id, 4, &[("around", 8.into())]).unwrap();
    events[9] = changed(8.into());
    assert_eq!(taken[..10], events[..10]);
}

/// What a transformation comes to is found anew.
#[tokio::test]
async fn what_was_computed_is_not_given() {
    let (_dir, journal) = open(options());
    let mut events = run();
    if let Event::StepStarted { kind, .. } = &mut events[3] {
        *kind = "transform";
    }
    let id = keep(&journal, new_run("t"), &events).await;
    let lost = missing(taken(&journal, id, 4, &[("first", 8.into())]));
    assert_eq!((lost.seq, lost.node.as_deref()), (4, None));
    assert!(!lost.way_on("here").unwrap().contains("here"));
}
