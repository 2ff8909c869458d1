//! Orders of things that were once replayed in another order, each by itself.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Action, ErrorKind, Event, PauseReason};
use mcpgraph_graph::Graph;

use crate::driver::{Drive, Order};
use crate::graphs::{Node, Part, compiled};
use crate::replay;

fn two_branches(one: Vec<Node>, other: Vec<Node>) -> Arc<Graph> {
    compiled(&[Node::plain(Part::Split { at_once: 2, branches: vec![one, other] })])
}

/// Where the step stands whose expression is evaluated.
fn place(action: &Action) -> String {
    match action {
        Action::Evaluate(evaluation) => evaluation.path().to_string(),
        _ => String::new(),
    }
}

fn answer(drive: &mut Drive, at: &str) {
    drive.answer_at(drive.under_way.iter().position(|action| place(action) == at).unwrap());
}

/// The record of a run that was driven to its end.
fn ended(drive: Drive) -> Vec<Event> {
    drive.meddled_with().events
}

/// Two expressions end while the run stands still: that of a retry, which nothing tells of before,
/// and the last of an item, after which the next one waits until the run goes on.
#[test]
fn expressions_that_end_while_the_run_stands_still() {
    let body = vec![Node::plain(Part::Compute)];
    let items = vec![Node::plain(Part::Each { items: 2, at_once: 1, body })];
    let retried = Node { retries: 1, handled: true, ..Node::plain(Part::Fail) };
    let graph = two_branches(items, vec![retried]);
    let mut drive = Drive::new(&graph, 0, Order::InTurn);
    while drive.run.next_deadline() > Some(Duration::from_secs(1)) {
        drive.begin_all();
        drive.answer_at(0);
    }
    drive.now = Duration::from_millis(1);
    drive.run.tick(drive.now);
    drive.begin_all();
    // The item is at its last step.
    while !drive.under_way.iter().any(|action| place(action) == "1.0.0.0.1") {
        let of_item = |action: &Action| place(action).starts_with("1.0");
        drive.answer_at(drive.under_way.iter().position(of_item).unwrap());
        drive.begin_all();
    }
    drive.run.pause(PauseReason::Asked, drive.now);
    answer(&mut drive, "1.0.0.0.1");
    answer(&mut drive, "1.1.0");
    drive.run.resume(Duration::from_secs(9), drive.now);
    replay::check(&graph, &ended(drive)).unwrap();
}

#[test]
fn two_times_that_are_up_together_where_somebody_looks_between() {
    let tool = || vec![Node { timeout_ms: Some(5), handled: true, ..Node::plain(Part::Tool) }];
    let graph = two_branches(tool(), tool());
    for (stops, begins) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut drive = Drive::new(&graph, 0, Order::InTurn);
        drive.run.hold_after((0..20).map(|number| format!("n{number}").into()));
        let is_call = |action: &Action| matches!(action, Action::Call(_));
        while drive.under_way.iter().filter(|action| is_call(action)).count() < 2 {
            drive.begin_all();
            if let Some(other) = drive.under_way.iter().position(|action| !is_call(action)) {
                drive.answer_at(other);
            }
        }
        drive.now = Duration::from_millis(5);
        drive.run.tick(drive.now);
        if stops {
            let node = Arc::clone(drive.run.held().unwrap().node);
            drive.run.pause(PauseReason::After(node), drive.now);
            drive.run.resume(Duration::from_secs(9), drive.now);
        }
        // What handles the first begins before the other's time is up, or after it.
        drive.run.release(drive.now);
        if begins {
            drive.begin_all();
        }
        drive.run.tick(drive.now);
        let record = ended(drive);
        let is_up = |event: &&Event| matches!(event, Event::StepFailed { error, .. } if error.kind == ErrorKind::Timeout);
        assert_eq!(record.iter().filter(is_up).count(), 2);
        replay::check(&graph, &record).unwrap();
    }
}

/// The record does not tell for which of two items the run stood still after the same node.
#[test]
fn two_items_that_are_held_of_which_one_is_looked_at() {
    for looked_at in [0, 1] {
        let body = vec![Node::plain(Part::Compute)];
        let items = vec![Node::plain(Part::Each { items: 4, at_once: 2, body })];
        let graph = two_branches(items, vec![Node::plain(Part::Compute)]);
        let mut drive = Drive::new(&graph, 0, Order::InTurn);
        drive.run.hold_after((0..20).map(|number| format!("n{number}").into()));
        drive.begin_all();
        for at in ["1.0.0", "1.0.0.0.0", "1.0.0.1.0"] {
            answer(&mut drive, at);
            drive.begin_all();
        }
        // Both items come to their end while the run stands still.
        drive.run.pause(PauseReason::Asked, drive.now);
        answer(&mut drive, "1.0.0.0.1");
        answer(&mut drive, "1.0.0.1.1");
        drive.run.resume(Duration::from_secs(9), drive.now);
        for _ in 0..looked_at {
            drive.run.release(drive.now);
        }
        let node = Arc::clone(drive.run.held().unwrap().node);
        drive.run.pause(PauseReason::After(node), drive.now);
        answer(&mut drive, "1.1.0");
        drive.run.resume(Duration::from_secs(9), drive.now);
        replay::check(&graph, &ended(drive)).unwrap();
    }
}

#[test]
fn what_is_stopped_together_is_told_the_last_first() {
    let call = || vec![Node::plain(Part::Call)];
    let graph = two_branches(call(), call());
    let mut drive = Drive::new(&graph, 0, Order::InTurn);
    while drive.under_way.len() < 2 {
        drive.begin_all();
        if drive.under_way.len() < 2 {
            drive.step();
        }
    }
    // The input that began to be evaluated last is there first.
    drive.answer_at(1);
    drive.begin_all();
    drive.answer_at(0);
    drive.begin_all();
    drive.run.cancel("enough", drive.now);
    let record = ended(drive);
    let stopped = record.iter().filter_map(|event| match event {
        Event::StepFailed { step, .. } => Some(*step),
        _ => None,
    });
    assert_eq!(stopped.collect::<Vec<_>>(), [3, 2, 1]);
    replay::check(&graph, &record).unwrap();

    // Older records tell it in the order in which they began.
    let mut older = record;
    let first = older.len() - 4;
    older.swap(first, first + 1);
    replay::check(&graph, &older).unwrap();
}

/// A record does not tell that the second call had begun when the first was made. A run that goes on
/// from there makes the second later, so that another of two parts may be the first to fail: both
/// fail, but with another error.
#[test]
fn a_fork_may_fail_at_another_of_two_parts() {
    let fails = vec![Node::plain(Part::Call), Node::plain(Part::Fail)];
    let graph = two_branches(fails, vec![Node::plain(Part::Call)]);
    let is_another = |luck| {
        let whole = Drive::new(&graph, luck, Order::InTurn).until_it_ends();
        let begins = |event: &&Event| matches!(event, Event::StepStarted { kind: "mcp", .. });
        let Some(Event::StepStarted { step, .. }) = whole.events.iter().filter(begins).nth(1)
        else {
            return false;
        };
        let run = replay::fork(&graph, &whole.events, *step).unwrap();
        let now = replay::time(&whole.events);
        let forked = Drive::on(run, &whole.events, now, luck).until_it_ends();
        assert_eq!(whole.outcome.is_ok(), forked.outcome.is_ok());
        whole.outcome != forked.outcome
    };
    assert!((0..500).any(is_another));
}
