//! Running tests, several at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_engine::{Event, RunError};
use mcpgraph_graph::Graph;
use mcpgraph_runtime::{Caller, Effects, Execution, Instruments, Runtime};
use mcpgraph_value::Value;
use parking_lot::Mutex;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::compare::{Finding, compare};
use super::mocks::Mocks;
use super::suite::{Case, Suite};
use super::trail::Trail;
use crate::McpGraph;

/// What came of the tests of one file.
pub(super) struct SuiteOutcome {
    pub(super) name: String,
    pub(super) cases: Vec<CaseOutcome>,
}

/// What came of a test.
pub(super) struct CaseOutcome {
    pub(super) name: String,
    pub(super) tool: Arc<str>,
    /// Everything that is not as expected; nothing if the test passed.
    pub(super) findings: Vec<Finding>,
    pub(super) outcome: Result<Value, RunError>,
    pub(super) path: Vec<Arc<str>>,
    pub(super) took: Duration,
}

impl CaseOutcome {
    pub(super) fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Runs all tests, `jobs` at once; gives what came of them in the order of the files.
pub(super) async fn execute(suites: Vec<Suite>, jobs: usize) -> anyhow::Result<Vec<SuiteOutcome>> {
    let slots = Arc::new(Semaphore::new(jobs));
    let mut running = JoinSet::new();
    let mut outcomes = Vec::new();
    let mut products = Vec::new();
    for (suite_index, suite) in suites.into_iter().enumerate() {
        let Suite { name, cases, live, graph } = suite;
        let product = live
            .map(|file| Arc::new(McpGraph::new(file, Arc::clone(&graph), Instruments::default())));
        outcomes.push((name, Vec::new()));
        for (index, case) in cases.into_iter().enumerate() {
            let slot = Arc::clone(&slots).acquire_owned().await?;
            let graph = Arc::clone(&graph);
            let live = product.as_ref().filter(|_| case.live).map(|product| product.effects());
            running.spawn(async move {
                let outcome = run(case, graph, live).await;
                drop(slot);
                (suite_index, index, outcome)
            });
        }
        products.extend(product);
    }
    let mut finished = running.join_all().await;
    for product in products {
        product.close().await;
    }
    finished.sort_by_key(|(suite, index, _)| (*suite, *index));
    for (suite, _, outcome) in finished {
        outcomes[suite].1.push(outcome);
    }
    Ok(outcomes.into_iter().map(|(name, cases)| SuiteOutcome { name, cases }).collect())
}

/// Runs one test. Nothing is recorded.
pub(super) async fn run(
    case: Case,
    graph: Arc<Graph>,
    live: Option<Arc<dyn Effects>>,
) -> CaseOutcome {
    let began = Instant::now();
    let cancel = CancellationToken::new();
    let mocks = Arc::new(Mocks::new(&case.given, &case.recorded, live, cancel.clone()));
    let runtime = Runtime::new(Arc::clone(&mocks) as Arc<dyn Effects>);
    let events = Arc::new(Collected::default());
    let call = Execution {
        caller: Arc::clone(&events) as Arc<dyn Caller>,
        cancel,
        ..Execution::new(graph, Arc::clone(&case.tool), case.input)
    };
    let outcome = runtime.execute(call).await.outcome;
    let path = Trail::of(&events.0.lock()).nodes();
    let findings = compare(&case.expect, &outcome, &path, &mocks.take_seen());
    let tool = Arc::clone(&case.tool.name);
    CaseOutcome { name: case.name, tool, findings, outcome, path, took: began.elapsed() }
}

/// The events of a run.
#[derive(Default)]
struct Collected(Mutex<Vec<Event>>);

#[async_trait::async_trait]
impl Caller for Collected {
    fn event(&self, event: &Event) {
        self.0.lock().push(event.clone());
    }
}
