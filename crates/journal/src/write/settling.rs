//! Up to where what was handed over is settled, in the file or lost, and who sleeps until it is.
//!
//! Whatever is handed over has a turn, and is settled in that order. So the writer says once for all
//! that it settled together how far it has come, and looks at no run but the one that it wakes: memory
//! that one processor changes is slow to reach for another.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::live::Live;

/// Numbers what is handed over, from 1; 0 is settled from the beginning.
pub(super) type Turn = u64;

#[derive(Default)]
pub(super) struct Settling {
    /// The turn of the latest that is settled. All before it are.
    latest: Apart<AtomicU64>,
    /// Who sleeps, in the order of their turns. Those who went away stay until theirs is settled.
    sleepers: Mutex<VecDeque<Sleeper>>,
}

/// Stands in no line of a processor's cache with anything else.
#[derive(Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// Somebody who sleeps until a turn is settled.
struct Sleeper {
    turn: Turn,
    run: Arc<Live>,
}

impl Settling {
    /// Whether a turn is settled.
    pub(super) fn has_come_to(&self, turn: Turn) -> bool {
        self.latest.0.load(Ordering::SeqCst) >= turn
    }

    /// So many more are settled. Only the writer says so.
    ///
    /// To wake somebody on another thread costs a system call each. So only the first is woken from
    /// here, who wakes the others from where they all are.
    pub(super) fn settle(&self, count: u64) {
        self.latest.0.fetch_add(count, Ordering::SeqCst);
        let Some(first) = self.first() else { return };
        first.wake();
        // It may have woken, and looked for others, just before.
        if !first.is_slept_for() {
            self.pass_on();
        }
    }

    /// A run is about to sleep until a turn is settled. It has to look for that once more, and to pass
    /// on when it wakes or goes away.
    pub(super) fn expect(&self, turn: Turn, run: &Arc<Live>) {
        let sleeper = Sleeper { turn, run: Arc::clone(run) };
        let mut sleepers = self.sleepers.lock();
        // Mostly it is the last.
        let place =
            sleepers.iter().rposition(|other| other.turn <= turn).map_or(0, |last| last + 1);
        sleepers.insert(place, sleeper);
    }

    /// Wakes those whose turn is settled.
    pub(super) fn pass_on(&self) {
        let mut sleepers = self.sleepers.lock();
        let settled = sleepers.iter().take_while(|next| self.has_come_to(next.turn)).count();
        if settled == 0 {
            return;
        }
        let woken: Vec<Sleeper> = sleepers.drain(..settled).collect();
        drop(sleepers);
        for Sleeper { run, .. } in woken {
            run.wake();
        }
    }

    /// The first who sleeps and whose turn is settled.
    fn first(&self) -> Option<Arc<Live>> {
        let mut sleepers = self.sleepers.lock();
        while let Some(first) = sleepers.front()
            && self.has_come_to(first.turn)
        {
            if first.run.is_slept_for() {
                return Some(Arc::clone(&first.run));
            }
            sleepers.pop_front();
        }
        None
    }
}
