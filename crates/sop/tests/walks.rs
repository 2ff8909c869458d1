//! Random walks through random procedures: a move is legal exactly when the list of edges, looked
//! at in the simplest way there is, says so.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::fmt::Write as _;
use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use mcpgraph_sop::{Mode, Move, Refusal, Walk, read};
use proptest::prelude::*;

/// A procedure: how many nodes, the edges by their numbers, and whether it names a hub.
#[derive(Clone, Debug)]
struct Plan {
    nodes: usize,
    edges: Vec<(usize, usize)>,
    hub: Option<usize>,
    mode: Mode,
    moves: Vec<usize>,
}

fn plans() -> impl Strategy<Value = Plan> {
    (2_usize..12).prop_flat_map(|nodes| {
        (
            proptest::collection::vec((0..nodes, 0..nodes), 0..30),
            proptest::option::of(0..nodes),
            prop_oneof![Just(Mode::Strict), Just(Mode::Lenient), Just(Mode::Enforced)],
            // One more than there are: a node that does not exist.
            proptest::collection::vec(0..=nodes, 1..60),
        )
            .prop_map(move |(edges, hub, mode, moves)| Plan {
                nodes,
                edges,
                hub,
                mode,
                moves,
            })
    })
}

fn procedure(plan: &Plan) -> String {
    let hub = plan.hub.map_or(String::new(), |hub| format!("N{hub}"));
    let mut text = format!(
        "---\nagent: random\nentry_node: N0\nhub_node: {hub}\n---\n\n```mermaid\nflowchart TD\n"
    );
    for node in 0..plan.nodes {
        writeln!(text, "    N{node}").unwrap();
    }
    for (from, to) in &plan.edges {
        writeln!(text, "    N{from} --> N{to}").unwrap();
    }
    text + "```\n"
}

/// What the rules say, from the plan alone.
struct Judge<'a> {
    plan: &'a Plan,
    path: Vec<usize>,
}

impl Judge<'_> {
    fn is_legal(&self, to: usize) -> bool {
        let edge = self.path.last().is_some_and(|from| self.plan.edges.contains(&(*from, to)));
        let hub = self.plan.hub == Some(to)
            && (self.plan.mode != Mode::Enforced || self.path.contains(&to));
        to < self.plan.nodes && (to == 0 || edge || hub)
    }

    fn go(&mut self, to: usize) {
        if to == 0 {
            self.path.clear();
        }
        self.path.push(to);
    }
}

proptest! {
    #[test]
    fn moves_are_legal_when_the_edges_say_so(plan in plans()) {
        let (procedure, _) = read(&Source::new("random.md", procedure(&plan)));
        let mut walk = Walk::new(Arc::new(procedure.unwrap()), plan.mode);
        let mut judge = Judge { plan: &plan, path: Vec::new() };
        for (time, to) in plan.moves.iter().copied().enumerate() {
            let made = walk.go(&format!("N{to}"), time as u64);
            let legal = judge.is_legal(to);
            match made {
                Move::Legal(node) => prop_assert!(legal && node == to),
                Move::Lenient(node, Refusal::NoWay(_)) => {
                    prop_assert!(!legal && node == to && plan.mode == Mode::Lenient);
                }
                Move::Refused(Refusal::UnknownNode) => prop_assert!(to == plan.nodes),
                Move::Refused(Refusal::NoWay(_)) => {
                    prop_assert!(!legal && plan.mode != Mode::Lenient && to < plan.nodes);
                }
                other => prop_assert!(false, "{other:?}"),
            }
            if legal || (plan.mode == Mode::Lenient && to < plan.nodes) {
                judge.go(to);
            }
            let path: Vec<usize> = walk.steps().iter().map(|step| step.node).collect();
            prop_assert_eq!(&path, &judge.path);
            for next in walk.next(time as u64) {
                prop_assert!(judge.is_legal(next), "{} is offered", next);
            }
        }
    }
}
