//! Replicas, their cores and the one database, event by event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::{Figures, Rate};

/// How many calls are simulated for each replica, and how many of them only fill the queues.
const CALLS: usize = 4000;
const FIRST: usize = CALLS / 4;

/// What was found.
pub(super) struct Found {
    pub(super) rate: Rate,
    pub(super) median_ms: f64,
    pub(super) slowest_ms: f64,
}

/// What happens at a moment, in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// A call of this client was computed.
    Computed { replica: usize, client: usize },
    /// The transaction of this replica is in the database.
    Committed { replica: usize },
}

#[derive(Default)]
struct Replica {
    idle_cores: usize,
    /// Clients whose calls wait for a core.
    waiting: VecDeque<usize>,
    /// Clients whose runs wait for the next transaction.
    finished: Vec<usize>,
    /// Clients whose runs are in the transaction under way.
    committing: Vec<usize>,
}

struct World<'a> {
    figures: &'a Figures,
    now: u64,
    random: u64,
    happening: BinaryHeap<Reverse<(u64, Event)>>,
    replicas: Vec<Replica>,
    /// Replicas whose transactions wait for the database; the first has it.
    queue: VecDeque<usize>,
    /// When each client of each replica made its call.
    called: Vec<Vec<u64>>,
}

/// Lets clients call until there is enough to count.
pub(super) fn simulate(figures: &Figures, replicas: usize) -> Found {
    let replica = || Replica { idle_cores: figures.cores, ..Replica::default() };
    let mut world = World {
        figures,
        now: 0,
        random: 0x9e37_79b9_7f4a_7c15,
        happening: BinaryHeap::new(),
        replicas: (0..replicas).map(|_| replica()).collect(),
        queue: VecDeque::new(),
        called: vec![vec![0; figures.clients]; replicas],
    };
    for replica in 0..replicas {
        for client in 0..figures.clients {
            world.call(replica, client);
        }
    }
    let (mut times, mut commits, mut answered, mut since) = (Vec::new(), 0_usize, 0_usize, 0);
    while answered < CALLS * replicas {
        let Some(Reverse((at, event))) = world.happening.pop() else { break };
        world.now = at;
        match event {
            Event::Computed { replica, client } => world.computed(replica, client),
            Event::Committed { replica } => {
                for client in world.committed(replica) {
                    answered += 1;
                    if answered == FIRST * replicas {
                        (since, commits) = (world.now, 0);
                        times.clear();
                    }
                    times.push(world.now - world.called[replica][client]);
                    world.call(replica, client);
                }
                commits += 1;
            }
        }
    }
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize] as f64 / 1e6;
    let seconds = (world.now - since) as f64 / 1e9;
    let rate = Rate {
        calls_per_second: times.len() as f64 / seconds,
        runs_per_commit: times.len() as f64 / commits.max(1) as f64,
    };
    Found { rate, median_ms: at(0.5), slowest_ms: at(0.99) }
}

impl World<'_> {
    /// A client calls.
    fn call(&mut self, replica: usize, client: usize) {
        self.called[replica][client] = self.now;
        self.replicas[replica].waiting.push_back(client);
        self.compute(replica);
    }

    fn compute(&mut self, replica: usize) {
        while self.replicas[replica].idle_cores > 0 {
            let Some(client) = self.replicas[replica].waiting.pop_front() else { break };
            self.replicas[replica].idle_cores -= 1;
            let takes = self.about(self.figures.call_us);
            self.later(takes, Event::Computed { replica, client });
        }
    }

    fn computed(&mut self, replica: usize, client: usize) {
        self.replicas[replica].idle_cores += 1;
        self.replicas[replica].finished.push(client);
        self.compute(replica);
        self.commit(replica);
    }

    /// Asks for a transaction, unless one of the replica is under way or asked for.
    fn commit(&mut self, replica: usize) {
        if self.replicas[replica].finished.is_empty() || self.queue.contains(&replica) {
            return;
        }
        self.queue.push_back(replica);
        if self.queue.len() == 1 {
            self.write();
        }
    }

    /// The first in the queue has the database. It writes what has gathered by then.
    fn write(&mut self) {
        let Some(replica) = self.queue.front().copied() else { return };
        let writes = &mut self.replicas[replica];
        writes.committing = std::mem::take(&mut writes.finished);
        let runs = writes.committing.len() as f64;
        let takes = self.about(self.figures.commit_us + self.figures.run_us * runs);
        self.later(takes, Event::Committed { replica });
    }

    /// Whose runs are in the database now.
    fn committed(&mut self, replica: usize) -> Vec<usize> {
        self.queue.pop_front();
        let done = std::mem::take(&mut self.replicas[replica].committing);
        self.write();
        self.commit(replica);
        done
    }

    fn later(&mut self, takes: u64, event: Event) {
        self.happening.push(Reverse((self.now + takes, event)));
    }

    /// A time in nanoseconds that is this on average, from half of it to three halves.
    fn about(&mut self, micros: f64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let share = (self.random >> 11) as f64 / (1_u64 << 53) as f64;
        (micros * 1000.0 * (0.5 + share)) as u64
    }
}
