//! What the steps of a record call: in the version of the graph that was recorded, and now.
//!
//! Events do not say it, because the node does: what a step called is what its node says in the
//! recorded version. A replay takes outputs from the record, so that without this it would not see
//! that a node calls something else by now.

use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_graph::{Graph, Kind, Target};
use mcpgraph_value::{Map, Value};

use crate::callers::Callers;
use crate::compare;
use crate::nodes::Nodes;

/// The steps of a record whose nodes call something else in another version of the graph.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    /// What was called, and what is now.
    changed: HashMap<StepId, (Value, Value)>,
}

impl Targets {
    /// Compares what the steps of a run of `tool` called with what they would call now. A step
    /// whose node is not there any more, or of another type, is left to the comparison of events.
    pub(crate) fn compare(
        record: &[Event],
        tool: &Arc<str>,
        recorded: &Graph,
        now: &Graph,
    ) -> Self {
        let (recorded, now) = (Nodes::of(recorded), Nodes::of(now));
        let own = (Arc::clone(tool), Arc::clone(tool));
        // The tools that steps belong to, in both versions.
        let mut callers = Callers::new();
        let mut changed = HashMap::new();
        for event in record {
            let Event::StepStarted { step, path, node, .. } = event else { continue };
            let (before, after) = callers.around(path).unwrap_or(&own);
            let kinds = (recorded.kind(before, node), now.kind(after, node));
            callers.began(
                path,
                match kinds {
                    (Some(Kind::Graph { tool, .. }), Some(Kind::Graph { tool: other, .. })) => {
                        Some((Arc::clone(tool), Arc::clone(other)))
                    }
                    _ => None,
                },
            );
            if let (Some(before), Some(after)) = kinds
                && before.name() == after.name()
                && let (Some(before), Some(after)) = (target(before), target(after))
                && !compare::matches(&before, &after)
            {
                changed.insert(*step, (before, after));
            }
        }
        Self { changed }
    }

    /// Whether an event of the record is the beginning of a step that calls something else.
    pub(crate) fn is_changed(&self, recorded: &Event) -> bool {
        matches!(recorded, Event::StepStarted { step, .. } if self.changed.contains_key(step))
    }

    /// What a step called and what it calls now, if that is not the same.
    pub(crate) fn of(&self, step: StepId) -> Option<&(Value, Value)> {
        self.changed.get(&step)
    }
}

/// What a node calls, by the names of the file: how a server is started and where a backend is may
/// change without its being another one. None if the node calls nothing, or nothing else can stand
/// in its place.
fn target(kind: &Kind) -> Option<Value> {
    let members = match kind {
        Kind::Graph { tool, .. } => Map::from_iter([("tool", Arc::clone(tool))]),
        Kind::Call { target: Target::Tool { server, tool }, .. } => {
            Map::from_iter([("server", Arc::clone(server)), ("tool", Arc::clone(tool))])
        }
        Kind::Call { target: Target::Command(command), .. } => Map::from_iter([
            ("backend", Value::from(Arc::clone(&command.backend.name))),
            ("command", command.written().clone()),
        ]),
        Kind::Call { target: Target::Ask(ask), .. } => {
            Map::from_iter([("schema", ask.schema.clone())])
        }
        Kind::Hook(hook) | Kind::Call { target: Target::Hook(hook), .. } => Map::from_iter([
            ("module", Value::from(hook.module.clone())),
            ("script", Value::from(Arc::clone(&hook.script))),
        ]),
        Kind::Call { target: Target::Wrapped | Target::Time { .. }, .. }
        | Kind::Entry
        | Kind::Exit
        | Kind::Transform(_)
        | Kind::Switch { .. }
        | Kind::Foreach { .. }
        | Kind::Parallel { .. }
        | Kind::Start
        | Kind::End
        | Kind::Wrapped => return None,
    };
    Some(members.into())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcpgraph_diagnostics::Source;
    use mcpgraph_engine::StepPath;

    use super::*;

    /// A graph with one command.
    fn graph(header: &str) -> Graph {
        let text = format!(
            "server: {{ name: s, version: '1' }}\nbackend: {{ http: {{ url: 'http://localhost' }} }}\n\
             tools:\n  - name: t\n    inputSchema: {{ type: object }}\n    nodes:\n\
             \x20     - {{ id: e, type: entry, next: c }}\n\
             \x20     - {{ id: c, type: command, command: {{ url: /x, headers: {{ key: '{header}' }} }}, next: x }}\n\
             \x20     - {{ id: x, type: exit }}\n"
        );
        let (file, _) = mcpgraph_config::read_graph(&Source::new("graph.yaml", text), &|_| None);
        mcpgraph_graph::compile(&file.unwrap()).0.unwrap()
    }

    #[test]
    fn what_was_masked_does_not_differ() {
        let record = [Event::StepStarted {
            step: 1,
            path: StepPath::new(&[1]),
            node: "c".into(),
            kind: "command",
            input: None,
            item_name: None,
            began: Duration::ZERO,
            at: Duration::ZERO,
        }];
        let is_same = |recorded, now| {
            let targets = Targets::compare(&record, &"t".into(), &graph(recorded), &graph(now));
            !targets.is_changed(&record[0])
        };
        assert!(is_same("a secret", "a secret"));
        assert!(is_same("a [redacted]", "a secret"));
        assert!(!is_same("a [redacted]", "no secret"));
        assert!(!is_same("a secret", "another"));
    }
}
