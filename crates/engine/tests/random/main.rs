//! Random graphs, driven by hand in random orders: a run always ends, what it tells is well-formed,
//! and its result does not depend on which of two parallel parts was faster.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod driver;
mod events;
mod graphs;
mod looking;
mod named;
mod replay;

use std::time::Duration;

use mcpgraph_engine::{ErrorKind, Event, StepId};
use proptest::prelude::*;

use driver::{Drive, Order};
use graphs::{Node, Timing, compiled, limited, nodes};

fn order() -> impl Strategy<Value = Order> {
    any::<u64>().prop_map(Order::seeded)
}

/// A few cases each time; `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and for others.
fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let asked_for = std::env::var_os("PROPTEST_CASES").map(|_| default.cases);
    ProptestConfig { cases: asked_for.unwrap_or(96), failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_run_ends_and_its_events_are_well_formed(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
    ) {
        let finished = Drive::new(&compiled(&nodes), luck, order).until_it_ends();
        events::check(&finished.events).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_run_that_is_cancelled_ends_at_once(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
        moves in 0_usize..40,
    ) {
        let finished = Drive::new(&compiled(&nodes), luck, order).cancelled_after(moves);
        events::check(&finished.events).map_err(TestCaseError::fail)?;
        if let Err(error) = &finished.outcome && finished.was_cancelled {
            prop_assert_eq!(error.kind, ErrorKind::Cancelled);
        }
    }

    #[test]
    fn the_result_does_not_depend_on_the_order(
        nodes in nodes(Timing::None),
        luck in any::<u64>(),
        order in order(),
    ) {
        let graph = compiled(&nodes);
        let in_turn = Drive::new(&graph, luck, Order::InTurn).until_it_ends();
        let shuffled = Drive::new(&graph, luck, order).until_it_ends();
        // Of two parts that fail, the first to do so gives its error; the run fails either way.
        prop_assert_eq!(in_turn.outcome.ok(), shuffled.outcome.ok());
    }

    #[test]
    fn the_same_order_gives_the_same_events(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
    ) {
        let graph = compiled(&nodes);
        let first = Drive::new(&graph, luck, order.clone()).until_it_ends();
        let again = Drive::new(&graph, luck, order).until_it_ends();
        prop_assert_eq!(first.events, again.events);
    }

    #[test]
    fn a_replay_is_the_history(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
        moves in proptest::option::of(0_usize..40),
    ) {
        let graph = compiled(&nodes);
        let drive = Drive::new(&graph, luck, order);
        let finished = match moves {
            Some(moves) => drive.cancelled_after(moves),
            None => drive.meddled_with(),
        };
        replay::check(&graph, &finished.events).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_replay_is_the_history_of_a_run_that_was_looked_at(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
    ) {
        let graph = compiled(&nodes);
        let looked_at = Drive::new(&graph, luck, order).looked_at();
        replay::check(&graph, &looked_at.events).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_replay_is_the_history_of_a_run_that_reached_a_limit(
        nodes in nodes(Timing::Timeouts),
        executions in 1_u64..40,
        luck in any::<u64>(),
        order in order(),
        is_looked_at in any::<bool>(),
    ) {
        let graph = limited(&nodes, executions);
        let drive = Drive::new(&graph, luck, order);
        let whole = if is_looked_at { drive.looked_at() } else { drive.until_it_ends() };
        replay::check(&graph, &whole.events).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_replay_is_the_history_of_a_run_that_was_stopped(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
        moves in 0_usize..40,
    ) {
        let graph = compiled(&nodes);
        let stopped = Drive::new(&graph, luck, order).stopped_after(moves);
        replay::check(&graph, &stopped.events).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_record_that_breaks_off_can_be_replayed(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
        is_looked_at in any::<bool>(),
        cut in any::<prop::sample::Index>(),
    ) {
        let graph = compiled(&nodes);
        let drive = Drive::new(&graph, luck, order);
        let whole = if is_looked_at { drive.looked_at() } else { drive.until_it_ends() };
        let cut = 1 + cut.index(whole.events.len());
        replay::check(&graph, &whole.events[..cut]).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn a_fork_without_a_change_ends_as_its_parent(
        nodes in nodes(Timing::None),
        luck in any::<u64>(),
        order in order(),
        from in any::<prop::sample::Index>(),
    ) {
        let graph = compiled(&nodes);
        let whole = Drive::new(&graph, luck, order).until_it_ends();
        let run = replay::fork(&graph, &whole.events, step(&whole.events, from))
            .map_err(TestCaseError::fail)?;
        // Which calls fail depends on the attempt, and a fork counts attempts anew.
        let retried = whole.events.iter().any(|e| matches!(e, Event::Retrying { .. }));
        let forked = Drive::on(run, &whole.events, replay::time(&whole.events), luck)
            .until_it_ends();
        if !retried {
            // The order is another from there on: of two parts that fail, another may be the first.
            prop_assert_eq!(whole.outcome.ok(), forked.outcome.ok());
        }
    }

    #[test]
    fn a_fork_needs_nothing_of_what_only_later_events_say(
        nodes in nodes(Timing::Timeouts),
        executions in proptest::option::of(1_u64..40),
        luck in any::<u64>(),
        order in order(),
        end in 0..4,
        moves in 0_usize..40,
        from in any::<prop::sample::Index>(),
    ) {
        let graph = executions.map_or_else(|| compiled(&nodes), |most| limited(&nodes, most));
        let drive = Drive::new(&graph, luck, order);
        let whole = match end {
            0 => drive.until_it_ends(),
            1 => drive.looked_at(),
            2 => drive.cancelled_after(moves),
            _ => drive.stopped_after(moves),
        };
        if whole.events.iter().any(|event| matches!(event, Event::StepStarted { .. })) {
            let from = step(&whole.events, from);
            replay::check_fork(&graph, &whole.events, from).map_err(TestCaseError::fail)?;
        }
    }

    #[test]
    fn a_run_that_was_looked_at_can_be_gone_on_from(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
        order in order(),
        from in any::<prop::sample::Index>(),
    ) {
        let graph = compiled(&nodes);
        let whole = Drive::new(&graph, luck, order).looked_at();
        let mut run = replay::fork(&graph, &whole.events, step(&whole.events, from))
            .map_err(TestCaseError::fail)?;
        let now = replay::time(&whole.events);
        run.resume(Duration::ZERO, now);
        Drive::on(run, &whole.events, now, luck).meddled_with();
    }
}

/// A step of a record.
fn step(record: &[Event], which: prop::sample::Index) -> StepId {
    let steps = record.iter().filter(|event| matches!(event, Event::StepStarted { .. })).count();
    which.index(steps) as StepId
}

/// The generator must reach what the properties are about.
#[test]
fn the_generator_makes_runs_of_every_kind() {
    use graphs::Part;

    let call = || Node::plain(Part::Call);
    let each = Node::plain(Part::Each { items: 3, at_once: 2, body: vec![call()] });
    let split = Node::plain(Part::Split { at_once: 2, branches: vec![vec![each], vec![call()]] });
    let graph = compiled(&[split, Node::plain(Part::Tool), Node::plain(Part::Loop(2))]);
    let outcomes: Vec<bool> = (0..200)
        .map(|luck| Drive::new(&graph, luck, Order::seeded(luck)).until_it_ends().outcome.is_ok())
        .collect();
    assert!(outcomes.contains(&true) && outcomes.contains(&false));
}
