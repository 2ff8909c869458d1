//! What can be counted, by any number of threads at once.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use super::text::Text;

/// The upper ends of the buckets, in seconds; a last one takes everything.
///
/// They span what nodes take: an expression is done in less than the first, a tool that thinks may
/// need the last.
pub(super) const BUCKETS: [f64; 16] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    60.0,
];

/// One number, or several that belong together.
pub(super) trait Instrument: Default {
    /// What Prometheus calls it.
    const TYPE: &'static str;

    /// Its samples.
    fn render(&self, text: &mut Text, name: &str, labels: &[&str], values: &[&str]);
}

/// Only goes up.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

/// Goes up and down.
#[derive(Default)]
pub(super) struct Gauge(AtomicI64);

/// How often something took how long.
#[derive(Default)]
pub(super) struct Histogram {
    counts: [AtomicU64; BUCKETS.len() + 1],
    nanoseconds: AtomicU64,
}

impl Counter {
    pub(super) fn increase(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Gauge {
    pub(super) fn add(&self, change: i64) {
        self.0.fetch_add(change, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Histogram {
    pub(super) fn observe(&self, duration: Duration) {
        let seconds = duration.as_secs_f64();
        let bucket = BUCKETS.partition_point(|end| *end < seconds);
        self.counts[bucket].fetch_add(1, Ordering::Relaxed);
        let nanoseconds = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

impl Instrument for Counter {
    const TYPE: &'static str = "counter";

    fn render(&self, text: &mut Text, name: &str, labels: &[&str], values: &[&str]) {
        text.sample(name, labels, values, self.0.load(Ordering::Relaxed) as f64);
    }
}

impl Instrument for Histogram {
    const TYPE: &'static str = "histogram";

    fn render(&self, text: &mut Text, name: &str, labels: &[&str], values: &[&str]) {
        let bucket_name = format!("{name}_bucket");
        let bucket_labels: Vec<&str> = labels.iter().copied().chain(["le"]).collect();
        let mut total = 0;
        for (index, count) in self.counts.iter().enumerate() {
            total += count.load(Ordering::Relaxed);
            let end = BUCKETS.get(index).map_or_else(|| "+Inf".to_owned(), f64::to_string);
            let bucket_values: Vec<&str> = values.iter().copied().chain([&*end]).collect();
            text.sample(&bucket_name, &bucket_labels, &bucket_values, total as f64);
        }
        let seconds = self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9;
        text.sample(&format!("{name}_sum"), labels, values, seconds);
        // Taken from the buckets, so that the two agree whatever is counted meanwhile.
        text.sample(&format!("{name}_count"), labels, values, total as f64);
    }
}
