//! How many runs go into one commit.

use std::time::{Duration, Instant};

/// How many runs that wait for a commit are gathered at most.
const MAX_GATHERED: usize = 32;

/// So many runs at work are many: whoever is behind them does not notice a moment more.
const MANY: usize = 16;

/// How long the writer sleeps without being woken. To wake it takes a system call of several
/// microseconds, which whoever serves calls should not make for every few of them.
const SHORTEST_NAP: Duration = Duration::from_micros(20);
const LONGEST_NAP: Duration = Duration::from_micros(600);

/// How long the others may take to come, as far as can be told.
const WORTH_WAITING: Duration = Duration::from_millis(2);

/// Runs that come more rarely than this are never waited for.
const RARE: Duration = Duration::from_millis(5);

/// Which part of the runs that were at work is taken to be gone for good, each time fewer are.
const FADES: usize = 16;

/// Tells from how runs came until now for how many it is worth waiting.
///
/// A commit writes whole pages, so one for many runs costs each a part of one for few. A run alone
/// never waits.
#[derive(Debug)]
pub(super) struct Gathering {
    /// The time between one that waits and the next, about.
    gap: Duration,
    latest: Option<Instant>,
    /// How many runs were at work lately. Callers who were just answered have none at work, and are
    /// about to begin the next.
    crowd: usize,
}

impl Default for Gathering {
    fn default() -> Self {
        Self { gap: RARE, latest: None, crowd: 0 }
    }
}

impl Gathering {
    /// A run begins to wait.
    pub(super) fn came(&mut self, now: Instant) {
        let gap = self.latest.map_or(RARE, |latest| now.saturating_duration_since(latest));
        self.latest = Some(now);
        self.gap = (self.gap * 7 + gap.min(RARE)) / 8;
    }

    /// So many runs are at work.
    pub(super) fn saw(&mut self, at_work: usize) {
        self.crowd = at_work.max(self.crowd - self.crowd.div_ceil(FADES));
    }

    /// How many to wait for when so many wait, and for how long. One half can be at work while the
    /// other is written.
    pub(super) fn wanted(&self, waiting: usize) -> (usize, Duration) {
        let wanted = (self.crowd / 2).min(MAX_GATHERED);
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

    /// The same for the next ones, when none waits.
    pub(super) fn next_ones(&self) -> Option<Duration> {
        let missing = (self.crowd / 4).min(MAX_GATHERED / 2);
        self.nap(missing).filter(|_| self.crowd >= MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told after many runs came with a time between them, when so many are at work.
    fn after(gap: Duration, at_work: usize) -> Gathering {
        let (mut gathering, mut now) = (Gathering::default(), Instant::now());
        for _ in 0..100 {
            now += gap;
            gathering.came(now);
        }
        gathering.saw(at_work);
        gathering
    }

    #[test]
    fn a_run_alone_never_waits() {
        for at_work in [1, 2] {
            assert!(after(Duration::from_micros(30), at_work).wanted(1).0 <= 1);
        }
    }

    #[test]
    fn many_are_gathered_up_to_half_of_those_at_work() {
        let gap = Duration::from_micros(30);
        assert_eq!(after(gap, 40).wanted(3).0, 20);
        let (wanted, patience) = after(gap, 1000).wanted(10);
        assert_eq!(wanted, MAX_GATHERED);
        assert!(patience > Duration::from_millis(1) && patience < WORTH_WAITING);
    }

    /// Of 64 callers few have a run at work while the others are told what theirs came to.
    #[test]
    fn those_who_were_at_work_a_moment_ago_come_again() {
        let mut gathering = after(Duration::from_micros(12), 64);
        for _ in 0..4 {
            gathering.saw(3);
        }
        assert!(gathering.wanted(1).0 > 20, "{gathering:?}");
        for _ in 0..64 {
            gathering.saw(1);
        }
        assert!(gathering.wanted(1).0 <= 1, "{gathering:?}");
    }

    #[test]
    fn only_many_that_come_soon_are_expected() {
        let soon = Duration::from_micros(12);
        assert_eq!(after(soon, MANY - 1).next_ones(), None);
        let many = after(soon, 64);
        assert_eq!(many.next_ones(), Some(many.takes(16)));
        assert_eq!(after(Duration::from_micros(300), 64).next_ones(), None);
        assert_eq!(Gathering::default().next_ones(), None);
    }

    #[test]
    fn nobody_naps_for_long() {
        let gathering = after(Duration::from_micros(12), 64);
        assert_eq!(gathering.nap(1), Some(SHORTEST_NAP));
        assert_eq!(gathering.nap(10), Some(gathering.takes(10)));
        assert_eq!(gathering.nap(64), None);
    }

    /// Runs that take long are at work, too, and nobody should wait for them.
    #[test]
    fn those_that_will_not_come_soon_are_not_waited_for() {
        assert_eq!(after(Duration::from_micros(300), 100).wanted(2), (2, Duration::ZERO));
        let mut rare = Gathering::default();
        rare.saw(100);
        assert_eq!(rare.wanted(1), (1, Duration::ZERO));
    }
}
