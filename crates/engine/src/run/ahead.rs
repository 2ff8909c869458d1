//! What a run may still do to the world.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use mcpgraph_graph::{Body, Graph, Kind, Node, NodeIx, Target};

use super::Run;

impl Run {
    /// What may be called from here on: the targets of every node that can be reached.
    pub fn effects_ahead(&self) -> BTreeSet<Target> {
        let mut walk = Walk { graph: &self.graph, seen: HashSet::new(), found: BTreeSet::new() };
        for (scope, node) in &self.ready {
            if let Some(scope) = self.scopes.get(scope) {
                walk.from(&scope.body, *node);
            }
        }
        for step in self.steps.values() {
            if let Some(scope) = self.scopes.get(&step.scope) {
                walk.from(&scope.body, step.node);
            }
        }
        walk.found
    }
}

struct Walk<'g> {
    graph: &'g Graph,
    /// Bodies are told apart by where they are in memory; they live as long as the graph.
    seen: HashSet<(*const Body, NodeIx)>,
    found: BTreeSet<Target>,
}

impl Walk<'_> {
    fn from(&mut self, body: &Arc<Body>, start: NodeIx) {
        let mut open = vec![(Arc::clone(body), start)];
        while let Some((body, index)) = open.pop() {
            if !self.seen.insert((Arc::as_ptr(&body), index)) {
                continue;
            }
            let node = &body.nodes[index];
            open.extend(successors(node).map(|next| (Arc::clone(&body), next)));
            match &node.kind {
                Kind::Call { target: Target::Time { .. }, .. } => {}
                Kind::Call { target, .. } => {
                    self.found.insert(target.clone());
                }
                Kind::Foreach { body, .. } => open.push((Arc::clone(body), body.start)),
                Kind::Parallel { branches, .. } => {
                    open.extend(branches.iter().map(|(_, body)| (Arc::clone(body), body.start)));
                }
                Kind::Graph { tool, .. } => {
                    if let Some(tool) = self.graph.tool(tool) {
                        open.push((Arc::clone(&tool.body), tool.body.start));
                    }
                }
                Kind::Wrapped => {
                    self.found.insert(Target::Wrapped);
                }
                Kind::Hook(hook) => {
                    self.found.insert(Target::Hook(Arc::clone(hook)));
                }
                Kind::Entry
                | Kind::Exit
                | Kind::Start
                | Kind::End
                | Kind::Transform(_)
                | Kind::Switch { .. } => {}
            }
        }
    }
}

fn successors(node: &Node) -> impl Iterator<Item = NodeIx> {
    let routes: Vec<NodeIx> = match &node.kind {
        Kind::Switch { cases, default } => {
            cases.iter().map(|case| case.target).chain(*default).collect()
        }
        _ => Vec::new(),
    };
    routes.into_iter().chain(node.next).chain(node.exits().map(|(_, target)| target))
}
