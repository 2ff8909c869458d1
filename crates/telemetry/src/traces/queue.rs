//! Spans that wait for the collector: a bounded queue and the thread that empties it.
//!
//! The thread has a runtime of its own. The program's may be one thread that is busy with calls, or
//! be gone already when the last spans are sent.

mod batches;

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{Span, SpanData, SpanProcessor};
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::collector::Collector;
use super::exporter::{Answer, Exporter};
use super::{Delivery, TelemetryError};
use crate::Batching;

thread_local! {
    /// Whether spans that end on this thread are not to be sent.
    static DISCARDS: Cell<bool> = const { Cell::new(false) };
}

/// Drops a span that somebody else is going to send. The library sends whatever is dropped.
pub(super) fn discard(span: Span) {
    DISCARDS.set(true);
    drop(span);
    DISCARDS.set(false);
}

/// Takes spans that ended. Copies are the same queue.
#[derive(Clone)]
pub(super) struct Queue {
    spans: mpsc::Sender<SpanData>,
    stop: CancellationToken,
    /// Becomes true when the thread is done.
    is_done: watch::Receiver<bool>,
    counts: Arc<Counts>,
    collector: Collector,
}

#[derive(Default)]
struct Counts {
    exported: AtomicU64,
    refused: AtomicU64,
    dropped: AtomicU64,
    waiting: AtomicU64,
    /// Whether the queue was found full, and has not been half empty since.
    is_full: AtomicBool,
}

impl Counts {
    /// The queue was found full. Gives whether that is news.
    fn is_full_now(&self) -> bool {
        !self.is_full.swap(true, Ordering::Relaxed)
    }

    /// So many spans wait now. A queue that was full has room again when half of it is empty: one
    /// that is always nearly full would be worth a line for every batch otherwise.
    fn has_room(&self, waiting: usize, max_queue: usize) {
        if waiting <= max_queue / 2 && self.is_full.swap(false, Ordering::Relaxed) {
            let dropped = self.dropped.load(Ordering::Relaxed);
            tracing::info!("spans find room in the queue again; {dropped} were dropped so far");
        }
    }
}

impl Queue {
    /// Starts the thread; the exporter is made in its runtime.
    pub(super) fn start(
        batching: Batching,
        collector: Collector,
        exporter: impl FnOnce() -> Result<Exporter, TelemetryError>,
    ) -> Result<Self, TelemetryError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let exporter = {
            let _inside = runtime.enter();
            exporter()?
        };
        let (spans, waiting) = mpsc::channel(batching.max_queue);
        let (done, is_done) = watch::channel(false);
        let stop = CancellationToken::new();
        let counts = Arc::new(Counts::default());
        let sending = Sending {
            exporter,
            batching,
            waiting,
            stop: stop.clone(),
            counts: Arc::clone(&counts),
            collector: collector.clone(),
            is_in_trouble: false,
            said: None,
        };
        std::thread::Builder::new().name("telemetry".to_owned()).spawn(move || {
            runtime.block_on(sending.run());
            done.send_replace(true);
        })?;
        Ok(Self { spans, stop, is_done, counts, collector })
    }

    pub(super) fn delivery(&self) -> Delivery {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Delivery {
            exported: count(&self.counts.exported),
            refused: count(&self.counts.refused),
            dropped: count(&self.counts.dropped),
            waiting: count(&self.counts.waiting),
        }
    }

    /// Has everything exported that waits, and waits for that as long as it may take.
    pub(super) async fn stop(&self, within: Duration) {
        self.stop.cancel();
        let mut is_done = self.is_done.clone();
        let done = is_done.wait_for(|is_done| *is_done);
        if tokio::time::timeout(within, done).await.is_err() {
            let waiting = self.delivery().waiting;
            tracing::warn!(
                "{waiting} spans were not exported within {} ms of the end: {}",
                within.as_millis(),
                self.collector.trouble_or(None)
            );
        }
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if DISCARDS.get() {
            return;
        }
        // Counted before the thread can see it, so that the number never falls below zero.
        self.counts.waiting.fetch_add(1, Ordering::Relaxed);
        if let Err(error) = self.spans.try_send(span) {
            self.counts.waiting.fetch_sub(1, Ordering::Relaxed);
            self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            // The first one is worth a line; after that there is the count.
            if matches!(error, TrySendError::Full(_)) && self.counts.is_full_now() {
                tracing::warn!(
                    "a span was dropped, and more may be: OTEL_BSP_MAX_QUEUE_SIZE ({}) spans wait \
                     already",
                    self.spans.max_capacity()
                );
            }
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        self.stop.cancel();
        Ok(())
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("delivery", &self.delivery()).finish_non_exhaustive()
    }
}

/// The other end of the queue.
struct Sending {
    exporter: Exporter,
    batching: Batching,
    waiting: mpsc::Receiver<SpanData>,
    stop: CancellationToken,
    counts: Arc<Counts>,
    collector: Collector,
    /// Whether the latest export failed: what is told once need not be told again.
    is_in_trouble: bool,
    /// What the collector said last about spans that it took.
    said: Option<String>,
}

impl Sending {
    async fn run(mut self) {
        loop {
            let batch = self.gather().await;
            if batch.is_empty() {
                return;
            }
            self.counts.has_room(self.waiting.len(), self.batching.max_queue);
            for batch in batches::bounded(batch) {
                self.export(batch).await;
            }
        }
    }

    /// The next batch; empty when there will be no more.
    async fn gather(&mut self) -> Vec<SpanData> {
        let most = self.batching.max_batch;
        let mut batch = Vec::new();
        let mut deadline = None;
        while batch.len() < most {
            let wanted = most - batch.len();
            let is_stopped = self.waiting.is_closed();
            tokio::select! {
                biased;
                () = self.stop.cancelled(), if !is_stopped => self.waiting.close(),
                got = self.waiting.recv_many(&mut batch, wanted) => {
                    if got == 0 {
                        break;
                    }
                    deadline.get_or_insert_with(|| Instant::now() + self.batching.delay);
                }
                () = passed(deadline), if !is_stopped => break,
            }
        }
        batch
    }

    async fn export(&mut self, batch: Vec<SpanData>) {
        let size = batch.len() as u64;
        let export = self.exporter.export(batch);
        let outcome = tokio::time::timeout(self.batching.timeout, export).await;
        self.counts.waiting.fetch_sub(size, Ordering::Relaxed);
        let (lost, why) = match outcome {
            Ok(Ok(Answer { rejected: 0, said })) => {
                self.taken(size, said);
                return;
            }
            Ok(Ok(Answer { rejected, said })) => {
                (rejected.min(size), said.unwrap_or_else(|| "the collector rejected them".into()))
            }
            Ok(Err(error)) => (size, error.to_string()),
            Err(_) => {
                let limit = self.batching.timeout.as_millis();
                (size, format!("it took longer than OTEL_BSP_EXPORT_TIMEOUT ({limit} ms)"))
            }
        };
        self.counts.exported.fetch_add(size - lost, Ordering::Relaxed);
        self.counts.refused.fetch_add(lost, Ordering::Relaxed);
        if !std::mem::replace(&mut self.is_in_trouble, true) {
            let why = self.collector.trouble_or(Some(&why));
            tracing::warn!("{lost} spans were lost, and more may be: {why}");
        }
    }

    /// The collector took all spans, and may have something to say about them.
    fn taken(&mut self, size: u64, said: Option<String>) {
        self.counts.exported.fetch_add(size, Ordering::Relaxed);
        if std::mem::take(&mut self.is_in_trouble) {
            tracing::info!("the collector takes spans again");
        }
        if let Some(said) = said.filter(|said| self.said.as_ref() != Some(said)) {
            tracing::warn!("the collector took spans and says: {said}");
            self.said = Some(said);
        }
    }
}

async fn passed(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_is_full_once_more_is_news_once_more() {
        let counts = Counts::default();
        assert!(counts.is_full_now());
        assert!(!counts.is_full_now());
        // Nearly full is not worth a line.
        counts.has_room(6, 10);
        assert!(!counts.is_full_now());
        counts.has_room(5, 10);
        assert!(counts.is_full_now());
    }
}
