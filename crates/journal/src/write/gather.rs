//! How many runs go into one commit.

/// How many runs that wait for a commit are gathered at most.
const MAX_GATHERED: usize = 32;

/// How many commits pass before more are waited for again, after they did not come.
const TRY_AGAIN_AFTER: u32 = 64;

/// Learns how many runs come together soon enough to be worth waiting for.
///
/// A commit writes whole pages, so one for many runs costs each a part of one for few. A run alone
/// never waits.
#[derive(Debug, Default)]
pub(super) struct Gathering {
    expected: usize,
    /// How many commits no more are to be waited for than came by themselves.
    rest: u32,
}

impl Gathering {
    /// How many to wait for when so many are at work. One half can be at work while the other is
    /// written.
    pub(super) fn wanted(&self, at_work: usize) -> usize {
        self.expected.min(at_work / 2).max(1)
    }

    /// Learns from a commit: so many were wanted, and so many came.
    pub(super) fn learn(&mut self, wanted: usize, came: usize) {
        if came < wanted {
            self.expected = came;
            self.rest = TRY_AGAIN_AFTER;
        } else if self.rest > 0 {
            self.rest -= 1;
            self.expected = self.expected.max(came).min(MAX_GATHERED);
        } else {
            self.expected = (came + came / 4 + 1).min(MAX_GATHERED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_alone_never_waits() {
        let mut gathering = Gathering::default();
        for _ in 0..1000 {
            assert_eq!(gathering.wanted(1), 1);
            gathering.learn(1, 1);
        }
    }

    #[test]
    fn many_are_gathered_up_to_half_of_those_at_work() {
        let mut gathering = Gathering::default();
        for (at_work, most) in [(40, 20), (1000, MAX_GATHERED)] {
            for _ in 0..100 {
                let wanted = gathering.wanted(at_work);
                gathering.learn(wanted, wanted);
            }
            assert_eq!(gathering.wanted(at_work), most);
        }
    }

    /// Runs that take long are at work, too, and nobody should wait for them.
    #[test]
    fn those_that_do_not_come_are_rarely_waited_for() {
        let mut gathering = Gathering::default();
        let in_vain = (0..1000).filter(|_| {
            let wanted = gathering.wanted(100);
            gathering.learn(wanted, 2);
            wanted > 2
        });
        assert!(in_vain.count() <= 1000 / TRY_AGAIN_AFTER as usize + 1);
    }
}
