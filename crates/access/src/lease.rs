//! Rates that several processes count together.
//!
//! What is left of a rate is in the store. A process takes some of it in advance and counts that down
//! by itself, so that most requests ask nobody. What it has taken and not used is still good later:
//! a token may thereby make more requests than its rate allows, by [`SHARE`] of it for each process at
//! most. Rates too small to be shared out are asked for each time, and are exact.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_journal::{Journal, JournalError, Spent};
use parking_lot::Mutex;

use crate::Rate;
use crate::rate::Buckets;

/// How much of a rate one process takes in advance: a twentieth.
const SHARE: u32 = 20;

/// How many rates are kept track of; those of which nothing is held are forgotten first.
const MAX_LEASES: usize = 10_000;

/// What this process has of the rates.
pub(crate) struct Leases {
    journal: Arc<Journal>,
    held: Mutex<HashMap<Name, Lease>>,
    /// What is counted with while the store is away: each process by itself.
    alone: Buckets,
}

/// Whose rate it is, and for what.
type Name = (String, String);

/// What this process has of one rate.
struct Lease {
    rate: Rate,
    left: u32,
    /// Before that the store has nothing to give.
    refused_until: Option<Instant>,
    /// Held by the one who asks the store; the others wait for what it gets.
    asking: Arc<tokio::sync::Mutex<()>>,
}

impl Leases {
    pub(crate) fn new(journal: Arc<Journal>) -> Self {
        Self { journal, held: Mutex::default(), alone: Buckets::default() }
    }

    /// Forgets rates in the store that nobody has used for long.
    pub(crate) fn tidy(&self) -> Result<(), JournalError> {
        self.journal.forget_unspent()
    }

    /// Takes one request out of every rate, or none out of any and tells how long to wait.
    pub(crate) async fn take(&self, wanted: &[(Name, Rate)]) -> Result<(), (Rate, Duration)> {
        loop {
            let Some((name, rate, asking)) = self.try_take(wanted)? else { return Ok(()) };
            let asking = asking.lock_owned().await;
            // Whoever asked before may have got enough for both.
            if self.has(&name) {
                continue;
            }
            if let Err(error) = self.ask(&name, rate).await {
                tracing::debug!(%error, "this process counts requests by itself");
                return self.alone.take(wanted, Instant::now());
            }
            drop(asking);
        }
    }

    /// Takes what is held here; gives the first rate of which there is nothing.
    #[expect(clippy::type_complexity, reason = "a rate with its name and its turn")]
    fn try_take(
        &self,
        wanted: &[(Name, Rate)],
    ) -> Result<Option<(Name, Rate, Arc<tokio::sync::Mutex<()>>)>, (Rate, Duration)> {
        let now = Instant::now();
        let mut held = self.held.lock();
        if held.len() + wanted.len() > MAX_LEASES {
            held.retain(|_, lease| lease.left > 0);
        }
        for (name, rate) in wanted {
            let lease = held.entry(name.clone()).or_insert_with(|| Lease::new(*rate));
            if lease.rate != *rate {
                *lease = Lease::new(*rate);
            }
            if let Some(until) = lease.refused_until.filter(|until| *until > now) {
                return Err((*rate, until.saturating_duration_since(now)));
            }
            if lease.left == 0 {
                return Ok(Some((name.clone(), *rate, Arc::clone(&lease.asking))));
            }
        }
        for (name, _) in wanted {
            if let Some(lease) = held.get_mut(name) {
                lease.left = lease.left.saturating_sub(1);
            }
        }
        Ok(None)
    }

    fn has(&self, name: &Name) -> bool {
        self.held.lock().get(name).is_some_and(|lease| lease.left > 0)
    }

    /// Asks the store for some of a rate, or for as little as can be used.
    async fn ask(&self, name: &Name, rate: Rate) -> Result<(), JournalError> {
        let most = (rate.count() / SHARE).max(1);
        let mut got = self.spend(name, rate, most).await?;
        if most > 1 && matches!(got, Spent::Wait(_)) {
            got = self.spend(name, rate, 1).await?;
            if got == Spent::Yes {
                self.note(name, 1, None);
                return Ok(());
            }
        }
        match got {
            Spent::Yes => self.note(name, most, None),
            Spent::Wait(wait) => self.note(name, 0, Some(wait)),
        }
        Ok(())
    }

    fn note(&self, name: &Name, got: u32, wait: Option<Duration>) {
        if let Some(lease) = self.held.lock().get_mut(name) {
            lease.left = lease.left.saturating_add(got);
            lease.refused_until = wait.map(|wait| Instant::now() + wait);
        }
    }

    async fn spend(&self, name: &Name, rate: Rate, count: u32) -> Result<Spent, JournalError> {
        let journal = Arc::clone(&self.journal);
        // Another rate is another amount.
        let name = format!("{} {rate} {}", name.0, name.1);
        let (cost, whole) = (rate.whole() * count / rate.count().max(1), rate.whole());
        let spent = tokio::task::spawn_blocking(move || journal.spend(&name, cost, whole)).await;
        // A panic there is a fault of ours: the process counts by itself, as without a store.
        spent.unwrap_or_else(|error| Err(JournalError::Damaged(error.to_string())))
    }
}

impl Lease {
    fn new(rate: Rate) -> Self {
        Self { rate, left: 0, refused_until: None, asking: Arc::default() }
    }
}

#[cfg(test)]
mod tests;
