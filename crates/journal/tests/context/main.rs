//! What the store says a step saw is what the engine let it see, in random graphs driven in random
//! orders.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod driver;
#[path = "../../../engine/tests/random/graphs.rs"]
#[allow(dead_code, reason = "the tests of the engine use more of it")]
mod graphs;

use std::collections::HashMap;
use std::time::SystemTime;

use mcpgraph_engine::{Event, StepId, StepPath};
use mcpgraph_journal::{Journal, JournalOptions, NewRun, Origin, RunId};
use proptest::prelude::*;

use graphs::{Timing, compiled, nodes};

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_store_shows_what_each_step_saw(
        nodes in nodes(Timing::Timeouts),
        luck in any::<u64>(),
    ) {
        let graph = compiled(&nodes);
        let driven = driver::drive(&graph, luck);
        let tool = graph.tool("main").unwrap();
        let run = NewRun {
            id: RunId::new(),
            tool: tool.name.clone(),
            digest: tool.digest,
            definition: None,
            origin: Origin::default(),
            started: SystemTime::now(),
        };
        let id = run.id;
        let dir = tempfile::TempDir::new().unwrap();
        let journal = Journal::open(dir.path(), JournalOptions::default()).unwrap();
        let mut recorder = journal.begin(run);
        for event in &driven.events {
            recorder.record(event.clone());
        }
        drop(recorder);
        journal.close();

        let journal = Journal::open_read(dir.path()).unwrap();
        prop_assert_eq!(&journal.whole_events(id, tool.digest).unwrap(), &driven.events);
        // A loop that is told of when its items could not be evaluated in time does not say which
        // it has when a retry finds them.
        let silent: Vec<&StepPath> = driven.events.iter().filter_map(|event| match event {
            Event::StepStarted { path, kind: "foreach", input: None, .. } => Some(path),
            _ => None,
        }).collect();
        let paths: HashMap<StepId, &StepPath> = driven.events.iter().filter_map(|event| match event {
            Event::StepStarted { step, path, .. } => Some((*step, path)),
            _ => None,
        }).collect();
        for (step, seen) in &driven.seen {
            if silent.iter().any(|loop_| paths[step].positions().starts_with(loop_.positions())) {
                continue;
            }
            let told = journal.context_at(id, *step).unwrap();
            prop_assert_eq!(told.to_json(), seen.to_json(), "step {}", step);
        }
        for event in &driven.events {
            if let Event::StepStarted { step, path, node, .. } = event {
                let record = journal.step(id, *step).unwrap();
                prop_assert_eq!((&record.path, &record.node), (path, node));
                prop_assert!(record.end.is_some(), "every step of a run that is over has ended");
            }
        }
    }
}
