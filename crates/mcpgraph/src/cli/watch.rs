//! What watches runs: the record, traces and metrics.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_journal::{Journal, JournalStatus};
use mcpgraph_runtime::{DurableRuns, Hooks, Instruments, LiveRuns};
use mcpgraph_telemetry::{Metrics, Peer, Reading, Traces};
use mcpgraph_upstream::Upstreams;

use super::args::HistoryArgs;
use crate::durable::Identity;

/// How long the end of the program waits for a collector of traces.
const FLUSH: Duration = Duration::from_secs(5);

/// Everything that watches the runs of this process.
pub(super) struct Watch {
    journal: Option<Arc<Journal>>,
    durable: Arc<DurableRuns>,
    traces: Option<Traces>,
    /// Where somebody can see numbers and join runs.
    shown: Option<Shown>,
}

/// What is only of use where there is an HTTP server to show it.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) metrics: Metrics,
    pub(super) live: LiveRuns,
}

impl Watch {
    /// Starts what the command line and the environment ask for.
    pub(super) fn start(history: &HistoryArgs, identity: &Identity, shows: bool) -> Self {
        let journal = history.record();
        let traces = Traces::from_env().unwrap_or_else(|error| {
            tracing::warn!("runs are not traced: {error}");
            None
        });
        if let Some(traces) = &traces {
            traces.serves_over(shows);
        }
        let shown = shows.then(|| Shown { metrics: Metrics::new(), live: LiveRuns::default() });
        if let Some(shown) = &shown {
            register(&shown.metrics, journal.as_ref(), traces.as_ref());
        }
        let durable = history.durable(journal.as_ref(), identity);
        Self { journal, durable, traces, shown }
    }

    /// What runs are to be executed with.
    pub(super) fn instruments(&self) -> Instruments {
        let mut observers = Vec::new();
        observers.extend(self.shown.as_ref().map(|shown| shown.metrics.observer()));
        observers.extend(self.traces.as_ref().map(Traces::observer));
        Instruments {
            journal: self.journal.clone(),
            observers,
            live: self.shown.as_ref().map(|shown| shown.live.clone()),
            durable: Some(Arc::clone(&self.durable)),
        }
    }

    pub(super) fn journal(&self) -> Option<&Arc<Journal>> {
        self.journal.as_ref()
    }

    /// The durable runs.
    pub(super) fn durable(&self) -> &Arc<DurableRuns> {
        &self.durable
    }

    pub(super) fn shown(&self) -> Option<&Shown> {
        self.shown.as_ref()
    }

    /// Shows how many calls and hooks wait, and in traces where calls go.
    pub(super) fn show_queues(&self, upstreams: &Arc<Upstreams>, hooks: &Hooks) {
        if let Some(traces) = &self.traces {
            let upstreams = Arc::downgrade(upstreams);
            traces.know_servers(move |server| {
                let mcpgraph_upstream::Peer { url, version } = upstreams.upgrade()?.peer(server)?;
                Some(Peer { url, protocol_version: version })
            });
        }
        let Some(Shown { metrics, .. }) = &self.shown else { return };
        // The metrics must not keep the servers.
        let upstreams = Arc::downgrade(upstreams);
        let waiting = move || {
            let waiting = upstreams.upgrade().map(|upstreams| upstreams.waiting());
            let waiting = waiting.unwrap_or_default().into_iter();
            waiting.map(|(server, calls)| (server, calls as f64)).collect()
        };
        let added = metrics.register_each(
            "mcpgraph_upstream_waiting",
            "Calls that wait because maxConcurrent of them are under way.",
            "server",
            waiting,
        );
        if let Err(error) = added {
            tracing::error!(%error, "a metric is missing");
        }
        let hooks = hooks.clone();
        add(
            metrics,
            Reading::Gauge,
            "mcpgraph_hooks_waiting",
            "Scripts of hooks that wait for their turn.",
            move || hooks.waiting() as f64,
        );
    }

    /// Hands over what is still waiting.
    pub(super) async fn end(self) {
        self.durable.close().await;
        drop(self.durable);
        if let Some(traces) = &self.traces {
            traces.shutdown(FLUSH).await;
        }
        // Writing what is queued blocks as files do.
        let ended = tokio::task::spawn_blocking(move || {
            if let Some(journal) = &self.journal {
                journal.end();
            }
        });
        drop(ended.await);
    }
}

/// Shows how the record and the traces keep up.
fn register(metrics: &Metrics, journal: Option<&Arc<Journal>>, traces: Option<&Traces>) {
    type Read = fn(&JournalStatus) -> f64;
    let of_record: [(Reading, &str, &str, Read); 5] = [
        (
            Reading::Gauge,
            "mcpgraph_store_queued_events",
            "Events that wait to be written.",
            |now| now.queued_events as f64,
        ),
        (Reading::Gauge, "mcpgraph_store_queued_bytes", "What they hold, about.", |now| {
            now.queued_bytes as f64
        }),
        (
            Reading::Gauge,
            "mcpgraph_store_lag_seconds",
            "How long the oldest event that is not in the store has waited.",
            |now| now.lag.as_secs_f64(),
        ),
        (
            Reading::Counter,
            "mcpgraph_store_lost_events_total",
            "Events that the store could not take.",
            |now| now.lost_events as f64,
        ),
        (Reading::Counter, "mcpgraph_store_commits_total", "Commits of the store.", |now| {
            now.commits as f64
        }),
    ];
    if let Some(journal) = journal {
        for (kind, name, help, read) in of_record {
            // The metrics must not keep the record open.
            let journal = Arc::downgrade(journal);
            let read = move || journal.upgrade().map_or(0.0, |journal| read(&journal.status()));
            add(metrics, kind, name, help, read);
        }
    }
    if let Some(traces) = traces {
        let (waiting, dropped, lost) = (traces.clone(), traces.clone(), traces.clone());
        add(
            metrics,
            Reading::Gauge,
            "mcpgraph_spans_waiting",
            "Spans that wait for the collector.",
            move || waiting.delivery().waiting as f64,
        );
        add(
            metrics,
            Reading::Counter,
            "mcpgraph_spans_dropped_total",
            "Spans that found the queue full.",
            move || dropped.delivery().dropped as f64,
        );
        add(
            metrics,
            Reading::Counter,
            "mcpgraph_spans_lost_total",
            "Spans that the collector did not take.",
            move || lost.delivery().refused as f64,
        );
    }
}

fn add(
    metrics: &Metrics,
    kind: Reading,
    name: &'static str,
    help: &'static str,
    read: impl Fn() -> f64 + Send + Sync + 'static,
) {
    if let Err(error) = metrics.register(kind, name, help, read) {
        tracing::error!(%error, "a metric is missing");
    }
}
