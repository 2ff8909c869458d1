//! How many runs go into one commit.

use std::time::{Duration, Instant};

/// How many runs that wait for a commit are gathered at most.
const MAX_GATHERED: usize = 32;

/// So many runs at work are many: whoever is behind them does not notice a moment more.
const MANY: usize = 16;

/// How long the writer sleeps without being woken. To wake it takes a system call of several
/// microseconds, which whoever serves calls should not make for every few of them.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
const LONGEST_NAP: Duration = Duration::from_micros(250);

/// How long the others may take to come, as far as can be told.
const WORTH_WAITING: Duration = Duration::from_millis(2);

/// Runs that come more rarely than this are never waited for.
const RARE: Duration = Duration::from_millis(5);

/// Tells from how runs came until now for how many it is worth waiting.
///
/// A commit writes whole pages, so one for many runs costs each a part of one for few. A run alone
/// never waits.
#[derive(Debug)]
pub(super) struct Gathering {
    /// The time between one that waits and the next, about.
    gap: Duration,
    latest: Option<Instant>,
}

impl Default for Gathering {
    fn default() -> Self {
        Self { gap: RARE, latest: None }
    }
}

impl Gathering {
    /// A run begins to wait.
    pub(super) fn came(&mut self, now: Instant) {
        let gap = self.latest.map_or(RARE, |latest| now.saturating_duration_since(latest));
        self.latest = Some(now);
        self.gap = (self.gap * 7 + gap.min(RARE)) / 8;
    }

    /// How many to wait for when so many wait and so many are at work, and for how long. One half
    /// can be at work while the other is written.
    pub(super) fn wanted(&self, waiting: usize, at_work: usize) -> (usize, Duration) {
        let wanted = (at_work / 2).min(MAX_GATHERED);
        let takes = self.takes(wanted.saturating_sub(waiting));
        if takes > WORTH_WAITING { (waiting, Duration::ZERO) } else { (wanted, takes * 2) }
    }

    /// How long so many take to come, about.
    pub(super) fn takes(&self, runs: usize) -> Duration {
        self.gap.saturating_mul(u32::try_from(runs).unwrap_or(u32::MAX))
    }

    /// For how long to sleep until so many more wait, without being woken; none if it is better to be
    /// woken, because it is not known well enough when they come.
    pub(super) fn nap(&self, missing: usize) -> Option<Duration> {
        let takes = self.takes(missing).max(SHORTEST_NAP);
        (takes <= LONGEST_NAP).then_some(takes)
    }

    /// The same for the next ones, when so many are at work and none waits.
    pub(super) fn next_ones(&self, at_work: usize) -> Option<Duration> {
        let missing = (at_work / 4).min(MAX_GATHERED / 2);
        self.nap(missing).filter(|_| at_work >= MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told after many runs came with a time between them.
    fn after(gap: Duration) -> Gathering {
        let (mut gathering, mut now) = (Gathering::default(), Instant::now());
        for _ in 0..100 {
            now += gap;
            gathering.came(now);
        }
        gathering
    }

    #[test]
    fn a_run_alone_never_waits() {
        let gathering = after(Duration::from_micros(30));
        assert!(gathering.wanted(1, 1).0 <= 1);
        assert!(gathering.wanted(1, 2).0 <= 1);
    }

    #[test]
    fn many_are_gathered_up_to_half_of_those_at_work() {
        let gathering = after(Duration::from_micros(30));
        assert_eq!(gathering.wanted(3, 40).0, 20);
        let (wanted, patience) = gathering.wanted(10, 1000);
        assert_eq!(wanted, MAX_GATHERED);
        assert!(patience > Duration::from_millis(1) && patience < WORTH_WAITING);
    }

    #[test]
    fn only_many_that_come_soon_are_expected() {
        let gathering = after(Duration::from_micros(12));
        assert_eq!(gathering.next_ones(MANY - 1), None);
        assert_eq!(gathering.next_ones(64), Some(gathering.takes(16)));
        assert_eq!(after(Duration::from_micros(300)).next_ones(64), None);
        assert_eq!(Gathering::default().next_ones(64), None);
    }

    #[test]
    fn nobody_naps_for_long() {
        let gathering = after(Duration::from_micros(12));
        assert_eq!(gathering.nap(1), Some(SHORTEST_NAP));
        assert_eq!(gathering.nap(10), Some(gathering.takes(10)));
        assert_eq!(gathering.nap(32), None);
    }

    /// Runs that take long are at work, too, and nobody should wait for them.
    #[test]
    fn those_that_will_not_come_soon_are_not_waited_for() {
        let gathering = after(Duration::from_micros(300));
        assert_eq!(gathering.wanted(2, 100), (2, Duration::ZERO));
        assert_eq!(Gathering::default().wanted(1, 100), (1, Duration::ZERO));
    }
}
