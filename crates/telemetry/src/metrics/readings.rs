//! Numbers that others keep.

use std::sync::Arc;

use parking_lot::RwLock;

use super::text::{self, Text};
use crate::outline::bounded_name;

/// What sort of number is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It goes up and down: a queue's length, a lag.
    Gauge,
    /// It only goes up: what was lost since the start.
    Counter,
}

/// Why a number cannot be added.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetricsError {
    /// Prometheus would not read it.
    #[error("`{0}` is not the name of a metric")]
    Name(&'static str),
    /// There is one already.
    #[error("there is a metric `{0}` already")]
    Taken(&'static str),
}

/// Numbers that are read when metrics are shown.
#[derive(Default)]
pub(super) struct Readings(RwLock<Vec<Entry>>);

struct Entry {
    kind: Reading,
    name: &'static str,
    help: &'static str,
    read: Read,
}

/// How numbers are read.
pub(super) enum Read {
    /// There is one.
    One(Box<dyn Fn() -> f64 + Send + Sync>),
    /// There are several, told apart by this label.
    Each(&'static str, Box<dyn Fn() -> Vec<(Arc<str>, f64)> + Send + Sync>),
}

impl Readings {
    pub(super) fn add(
        &self,
        kind: Reading,
        name: &'static str,
        help: &'static str,
        read: Read,
    ) -> Result<(), MetricsError> {
        if !text::is_name(name) || (kind == Reading::Counter && !name.ends_with("_total")) {
            return Err(MetricsError::Name(name));
        }
        let mut entries = self.0.write();
        if entries.iter().any(|entry| entry.name == name) {
            return Err(MetricsError::Taken(name));
        }
        entries.push(Entry { kind, name, help, read });
        Ok(())
    }

    pub(super) fn render(&self, text: &mut Text) {
        for entry in &*self.0.read() {
            let kind = match entry.kind {
                Reading::Gauge => "gauge",
                Reading::Counter => "counter",
            };
            text.family(entry.name, entry.help, kind);
            match &entry.read {
                Read::One(read) => text.sample(entry.name, &[], &[], read()),
                Read::Each(label, read) => {
                    for (value, number) in read() {
                        text.sample(entry.name, &[label], &[&*bounded_name(&value)], number);
                    }
                }
            }
        }
    }
}
