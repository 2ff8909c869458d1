//! The capacity model of `docs/scale.md`.

use super::{Figures, Rate};

/// How often the sizes of transactions and the time between them are brought into line.
const ROUNDS: usize = 200;

/// What so many replicas do.
///
/// Transactions follow each other in the database. Until it is the turn of a replica, its runs
/// gather: as many as its cores finish in that time. One replica alone writes for half of its
/// clients while the other half computes; among several there is time for all of them.
pub(super) fn rate(figures: &Figures, replicas: usize) -> Rate {
    let (cores, clients) = (figures.cores as f64, figures.clients as f64);
    let most = if replicas == 1 { (clients / 2.0).max(1.0) } else { clients };
    let replicas = replicas as f64;
    let (mut runs, mut cycle) = (1.0_f64, 0.0);
    for _ in 0..ROUNDS {
        let writing = replicas * (figures.commit_us + figures.run_us * runs);
        let computing = figures.call_us * runs / cores;
        cycle = writing.max(computing);
        let gathered = cycle * cores / figures.call_us;
        runs = f64::midpoint(runs, gathered.clamp(1.0, most));
    }
    Rate { calls_per_second: replicas * runs / cycle * 1e6, runs_per_commit: runs }
}

/// What more of would help.
pub(super) fn holds(figures: &Figures, replicas: usize) -> &'static str {
    let cores = replicas as f64 * figures.cores as f64 / figures.call_us * 1e6;
    let rate = rate(figures, replicas).calls_per_second;
    let database = 1e6 / figures.run_us;
    if rate > 0.9 * cores {
        "the replicas' cores"
    } else if rate > 0.9 * database {
        "the primary's write rate"
    } else {
        "transactions, one after the other"
    }
}
