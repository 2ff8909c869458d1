use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use super::events::RunReader;
use super::list::visit;
use crate::codec::{names, outline};
use crate::{Filter, Journal, JournalError, NodeStats};

/// What the executions of a node took.
#[derive(Default)]
struct Executions {
    micros: Vec<u64>,
    errors: u64,
}

impl Journal {
    /// How the nodes went in the runs a filter wants, the slowest first: by the time nineteen of
    /// twenty executions took.
    pub fn stats(&self, filter: &Filter) -> Result<Vec<NodeStats>, JournalError> {
        let mut nodes: HashMap<(Arc<str>, String), Executions> = HashMap::new();
        self.read(|connection| {
            visit(connection, &self.store, filter, |no, run| {
                let mut open: HashMap<u64, (String, u64)> = HashMap::new();
                RunReader::new(connection, no).lines(0, |_, line| {
                    let event = outline(line)?;
                    match event.name.as_str() {
                        names::STEP => {
                            let began = event.began();
                            open.insert(event.step, (event.node, began));
                        }
                        names::DONE | names::FAILED => {
                            if let Some((node, began)) = open.remove(&event.step) {
                                let key = (Arc::clone(&run.tool), node);
                                let node = nodes.entry(key).or_default();
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
