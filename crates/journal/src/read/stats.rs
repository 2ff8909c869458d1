use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Digest, Kind};

use super::events::RunReader;
use super::list::visit;
use crate::callers::Callers;
use crate::calls::compile;
use crate::codec::{names, outline};
use crate::nodes::Nodes;
use crate::{Filter, Journal, JournalError, NodeStats};

/// The type of nodes that call another tool of the graph.
const GRAPH: &str = "graph";

/// What the executions of a node took.
#[derive(Default)]
struct Executions {
    micros: Vec<u64>,
    errors: u64,
}

/// Where a node belongs: the tool that was called, and the `graph` nodes on the way from there.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Way {
    tool: Arc<str>,
    calls: Vec<String>,
    /// The version that says what those nodes call; of a tool's own nodes it does not matter.
    definition: Option<Digest>,
}

/// A step that has begun.
struct Open {
    way: Arc<Way>,
    node: String,
    began: u64,
}

impl Journal {
    /// How the nodes went in the runs a filter wants, the slowest first: by the time nineteen of
    /// twenty executions took.
    ///
    /// Which tools `graph` nodes call is said by the recorded version, which is compiled once if it
    /// has some on the way of a run.
    pub fn stats(&self, filter: &Filter) -> Result<Vec<NodeStats>, JournalError> {
        let executions = self.executions(filter)?;
        let mut graphs = HashMap::new();
        for digest in executions.keys().filter_map(|(way, _)| way.definition) {
            if let Entry::Vacant(place) = graphs.entry(digest) {
                let text = self.definition(digest)?;
                // Without it nodes stand under the way there.
                place.insert(text.and_then(|text| compile(&text).ok()));
            }
        }
        let known: HashMap<Digest, Nodes<'_>> = graphs
            .iter()
            .filter_map(|(digest, graph)| Some((*digest, Nodes::of(graph.as_ref()?))))
            .collect();
        let mut nodes: HashMap<(Arc<str>, String), Executions> = HashMap::new();
        for ((way, node), executions) in executions {
            let known = way.definition.and_then(|digest| known.get(&digest));
            let all = nodes.entry((way.end(known), node)).or_default();
            all.micros.extend(executions.micros);
            all.errors += executions.errors;
        }
        let mut stats: Vec<NodeStats> = nodes
            .into_iter()
            .map(|((tool, node), mut executions)| {
                executions.micros.sort_unstable();
                NodeStats {
                    tool,
                    node: node.into(),
                    count: executions.micros.len() as u64,
                    p50: percentile(&executions.micros, 50),
                    p95: percentile(&executions.micros, 95),
                    max: percentile(&executions.micros, 100),
                    errors: executions.errors,
                }
            })
            .collect();
        stats.sort_by(|a, b| {
            (b.p95, b.max, &a.tool, &a.node).cmp(&(a.p95, a.max, &b.tool, &b.node))
        });
        Ok(stats)
    }

    /// What the executions of each node took, by the way there.
    fn executions(
        &self,
        filter: &Filter,
    ) -> Result<HashMap<(Arc<Way>, String), Executions>, JournalError> {
        let mut nodes: HashMap<(Arc<Way>, String), Executions> = HashMap::new();
        self.read(|connection| {
            visit(connection, &self.store, filter, |no, run| {
                let own = Arc::new(Way { tool: run.tool, calls: Vec::new(), definition: None });
                let mut open: HashMap<u64, Open> = HashMap::new();
                let mut callers: Callers<Arc<Way>> = Callers::new();
                // What was taken over from another run is counted there.
                let first = run.origin.parent.map_or(0, |parent| parent.from);
                RunReader::new(connection, no).lines(0, |_, line| {
                    let event = outline(line)?;
                    match event.name.as_str() {
                        names::STEP => {
                            let (began, path) = (event.began(), event.path()?);
                            let way = Arc::clone(callers.around(&path).unwrap_or(&own));
                            let called = (event.kind == GRAPH)
                                .then(|| Arc::new(way.to(&event.node, run.definition)));
                            callers.began(&path, called);
                            if event.step >= first {
                                open.insert(event.step, Open { way, node: event.node, began });
                            }
                        }
                        names::DONE | names::FAILED => {
                            if let Some(Open { way, node, began }) = open.remove(&event.step) {
                                let node = nodes.entry((way, node)).or_default();
                                node.micros.push(event.at.saturating_sub(began));
                                node.errors += u64::from(event.name == names::FAILED);
                            }
                        }
                        _ => {}
                    }
                    Ok(ControlFlow::Continue(()))
                })
            })
        })?;
        Ok(nodes)
    }
}

impl Way {
    /// On through a `graph` node.
    fn to(&self, node: &str, definition: Option<Digest>) -> Self {
        let mut calls = self.calls.clone();
        calls.push(node.to_owned());
        Self { tool: Arc::clone(&self.tool), calls, definition }
    }

    /// The tool it leads to, or the way itself where nobody knows.
    fn end(&self, known: Option<&Nodes<'_>>) -> Arc<str> {
        self.calls.iter().fold(Arc::clone(&self.tool), |tool, node| {
            match known.and_then(|nodes| nodes.kind(&tool, node)) {
                Some(Kind::Graph { tool, .. }) => Arc::clone(tool),
                _ => format!("{tool} › {node}").into(),
            }
        })
    }
}

/// The smallest that so many of a hundred do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    Duration::from_micros(sorted.get(rank - 1).copied().unwrap_or_default())
}
