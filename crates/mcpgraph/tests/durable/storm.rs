//! Everything that can go wrong at once: processes are killed, stand still and are cut off, the
//! database loses its power, and every run finishes all the same.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use mcpgraph_testkit::{Cable, PostgresServer, Replica};

use crate::load::{KINDS, Load, Luck};

/// Names how many rounds there are; two if it is not set.
const ROUNDS: &str = "MCPGRAPH_STORM_ROUNDS";

/// How many runs a round has, and how many processes.
const RUNS: usize = 60;
const REPLICAS: usize = 3;

/// How long things go wrong in a round.
const STORM: Duration = Duration::from_secs(20);

/// Longer than it takes the others to think a process gone.
const STANDSTILL: Duration = Duration::from_secs(7);

/// A process, and what is wrong with it.
struct Exposed {
    replica: Replica,
    cable: Cable,
    wakes: Option<Instant>,
    is_mended: Option<Instant>,
}

impl Exposed {
    fn new(load: &Load, server: &PostgresServer) -> Self {
        let cable = Cable::to(server.address());
        let replica = load.world.replica_behind(&cable);
        Self { replica, cable, wakes: None, is_mended: None }
    }

    /// Ends what has been wrong for long enough.
    fn recover(&mut self, now: Instant) {
        if self.wakes.take_if(|wakes| *wakes <= now).is_some() {
            self.replica.wake();
        }
        if self.is_mended.take_if(|mended| *mended <= now).is_some() {
            self.cable.mend();
        }
    }
}

#[test]
fn every_run_finishes_whatever_happens_at_once() {
    let rounds = std::env::var(ROUNDS).map_or(2, |rounds| rounds.parse().unwrap());
    let Some(mut server) = PostgresServer::start() else { return };
    for round in 0..rounds {
        let Some(mut load) = Load::new(&server, &format!("storm{round}")) else { return };
        let happened = storm(&mut load, &mut server, Luck::new(round));
        let calls = load.len();
        let began = Instant::now();
        let runs = load.finish();
        eprintln!(
            "round {round}: {calls} calls, {} runs, {happened:?}, over after {:?}",
            runs.len(),
            began.elapsed()
        );
        assert!(runs.len() >= RUNS, "only {} runs began", runs.len());
        load.check(&runs);
    }
}

/// Makes the calls of a round and lets things go wrong; how often each happened.
fn storm(
    load: &mut Load,
    server: &mut PostgresServer,
    mut luck: Luck,
) -> BTreeMap<&'static str, usize> {
    let mut exposed: Vec<Exposed> = (0..REPLICAS).map(|_| Exposed::new(load, server)).collect();
    let mut kinds = KINDS.into_iter().filter(|kind| *kind != "sql").cycle();
    let mut happened: BTreeMap<&str, usize> = BTreeMap::new();
    let began = Instant::now();
    while began.elapsed() < STORM || load.begun() < RUNS {
        // Whoever is paused or cut off does not begin runs at once.
        for _ in 0..RUNS.saturating_sub(load.begun()).min(4) {
            load.call(&exposed[luck.below(REPLICAS)].replica, kinds.next().unwrap());
        }
        thread::sleep(luck.millis(1000));
        let now = Instant::now();
        for exposed in &mut exposed {
            exposed.recover(now);
        }
        let victim = luck.below(REPLICAS);
        let what = match luck.below(8) {
            0..=2 => {
                load.hit(&exposed[victim].replica);
                exposed[victim].replica.kill();
                exposed[victim] = Exposed::new(load, server);
                "killed"
            }
            3..=4 if exposed[victim].wakes.is_none() => {
                exposed[victim].replica.pause();
                exposed[victim].wakes = Some(now + STANDSTILL);
                "paused"
            }
            5..=6 if exposed[victim].is_mended.is_none() => {
                exposed[victim].cable.cut();
                exposed[victim].is_mended = Some(now + STANDSTILL);
                "cut off"
            }
            7 => {
                server.kill();
                thread::sleep(luck.millis(1500));
                server.start_again();
                "without the database"
            }
            _ => continue,
        };
        *happened.entry(what).or_default() += 1;
    }
    for mut exposed in exposed {
        exposed.recover(Instant::now() + STANDSTILL);
        load.keep(exposed.replica, Some(exposed.cable));
    }
    happened
}
