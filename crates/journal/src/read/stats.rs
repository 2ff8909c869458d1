use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::StepPath;

use super::events::RunReader;
use super::list::visit;
use crate::codec::{names, outline};
use crate::{Filter, Journal, JournalError, NodeStats};

/// The type of nodes that call another tool of the graph.
const GRAPH: &str = "graph";

/// What the executions of a node took.
#[derive(Default)]
struct Executions {
    micros: Vec<u64>,
    errors: u64,
}

/// A step that has begun.
struct Open {
    tool: Arc<str>,
    node: String,
    began: u64,
}

/// The `graph` nodes that a run went through, and what their steps count for.
#[derive(Default)]
struct Callers(HashMap<Box<[u32]>, Arc<str>>);

impl Callers {
    fn call(&mut self, path: &StepPath, tool: Arc<str>) {
        self.0.insert(path.positions().into(), tool);
    }

    /// What a step counts for; none if it is the run's own. Loops may be around it.
    fn tool_of(&self, path: &StepPath) -> Option<&Arc<str>> {
        if self.0.is_empty() {
            return None;
        }
        let positions = path.positions();
        (1..positions.len()).rev().find_map(|length| self.0.get(&positions[..length]))
    }
}

impl Journal {
    /// How the nodes went in the runs a filter wants, the slowest first: by the time nineteen of
    /// twenty executions took.
    pub fn stats(&self, filter: &Filter) -> Result<Vec<NodeStats>, JournalError> {
        let mut nodes: HashMap<(Arc<str>, String), Executions> = HashMap::new();
        self.read(|connection| {
            visit(connection, &self.store, filter, |no, run| {
                let mut open: HashMap<u64, Open> = HashMap::new();
                let mut callers = Callers::default();
                // What was taken over from another run is counted there.
                let first = run.origin.parent.map_or(0, |parent| parent.from);
                RunReader::new(connection, no).lines(0, |_, line| {
                    let event = outline(line)?;
                    match event.name.as_str() {
                        names::STEP => {
                            let (began, path) = (event.began(), event.path()?);
                            let tool = callers.tool_of(&path).unwrap_or(&run.tool).clone();
                            if event.kind == GRAPH {
                                callers.call(&path, format!("{tool} › {}", event.node).into());
                            }
                            if event.step >= first {
                                open.insert(event.step, Open { tool, node: event.node, began });
                            }
                        }
                        names::DONE | names::FAILED => {
                            if let Some(Open { tool, node, began }) = open.remove(&event.step) {
                                let node = nodes.entry((tool, node)).or_default();
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
}

/// The smallest that so many of a hundred do not exceed.
fn percentile(sorted: &[u64], percent: usize) -> Duration {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    Duration::from_micros(sorted.get(rank - 1).copied().unwrap_or_default())
}
