//! `cargo xtask simulate`: how many calls replicas on one PostgreSQL can take, by simulation and by
//! the formula of `docs/scale.md`.

mod events;
mod formula;

use clap::Args;

/// The figures of one machine, as `cargo xtask bench replicas` measures them.
#[derive(Args, Clone, Debug)]
pub(crate) struct Figures {
    /// The largest number of replicas
    #[arg(long, default_value_t = 32)]
    pub(crate) replicas: usize,
    /// Cores of each replica
    #[arg(long, default_value_t = 2)]
    pub(crate) cores: usize,
    /// Clients of each replica, who call again as soon as they are answered
    #[arg(long, default_value_t = 64)]
    pub(crate) clients: usize,
    /// What a call takes of a core, in microseconds
    #[arg(long, default_value_t = 150.0)]
    pub(crate) call_us: f64,
    /// What a transaction takes of PostgreSQL, whatever is in it, in microseconds
    #[arg(long, default_value_t = 2900.0)]
    pub(crate) commit_us: f64,
    /// What each run in a transaction adds, in microseconds
    #[arg(long, default_value_t = 165.0)]
    pub(crate) run_us: f64,
    /// Events of a run
    #[arg(long, default_value_t = 12)]
    pub(crate) events: usize,
    /// Bytes of a run in the database
    #[arg(long, default_value_t = 1358)]
    pub(crate) bytes: usize,
}

/// What replicas do together.
#[derive(Clone, Copy, Debug)]
struct Rate {
    calls_per_second: f64,
    /// How many runs one transaction carries.
    runs_per_commit: f64,
}

/// Prints the curve.
#[expect(clippy::print_stdout, reason = "the curve is the task's data")]
pub(crate) fn run(figures: &Figures) {
    println!(
        "{:>8} {:>12} {:>12} {:>12} {:>10} {:>10} {:>9} {:>9}   held by",
        "replicas", "calls/s", "by formula", "events/s", "MiB/s", "runs/commit", "p50 ms", "p99 ms"
    );
    for replicas in doubling(figures.replicas) {
        let simulated = events::simulate(figures, replicas);
        let expected = formula::rate(figures, replicas);
        let per_second = simulated.rate.calls_per_second;
        println!(
            "{replicas:>8} {per_second:>12.0} {:>12.0} {:>12.0} {:>10.1} {:>10.1} {:>9.1} {:>9.1}   {}",
            expected.calls_per_second,
            per_second * figures.events as f64,
            per_second * figures.bytes as f64 / f64::from(1 << 20),
            simulated.rate.runs_per_commit,
            simulated.median_ms,
            simulated.slowest_ms,
            formula::holds(figures, replicas),
        );
    }
}

/// 1, 2, 4, … up to a number, and that number.
fn doubling(most: usize) -> impl Iterator<Item = usize> {
    let powers = std::iter::successors(Some(1), |number: &usize| number.checked_mul(2));
    powers.take_while(move |number| *number < most).chain(std::iter::once(most.max(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIGURES: Figures = Figures {
        replicas: 32,
        cores: 2,
        clients: 64,
        call_us: 150.0,
        commit_us: 2900.0,
        run_us: 165.0,
        events: 12,
        bytes: 1358,
    };

    #[test]
    fn the_formula_says_what_the_simulation_finds() {
        for figures in [FIGURES, Figures { commit_us: 200.0, call_us: 400.0, ..FIGURES }] {
            for replicas in doubling(32) {
                let simulated = events::simulate(&figures, replicas).rate.calls_per_second;
                let expected = formula::rate(&figures, replicas).calls_per_second;
                let ratio = simulated / expected;
                assert!((0.8..1.25).contains(&ratio), "{replicas}: {simulated} {expected}");
            }
        }
    }

    #[test]
    fn no_number_of_replicas_goes_beyond_the_database() {
        let most = 1e6 / FIGURES.run_us;
        for replicas in doubling(32) {
            let rate = events::simulate(&FIGURES, replicas).rate.calls_per_second;
            assert!(rate <= most, "{replicas}: {rate}");
        }
    }

    #[test]
    fn the_curve_goes_up_to_the_number_asked_for() {
        assert_eq!(doubling(6).collect::<Vec<_>>(), [1, 2, 4, 6]);
        assert_eq!(doubling(1).collect::<Vec<_>>(), [1]);
    }
}
