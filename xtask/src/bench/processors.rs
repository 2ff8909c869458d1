use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

/// How often a word goes to and fro for one figure, and how many figures are taken.
const ROUNDS: u32 = 20_000;
const FIGURES: usize = 9;

/// How many nanoseconds a word takes from one processor to another and back, at best; none where
/// there is only one.
///
/// Two threads work on the record of a run. What that costs depends on whether their processors have
/// a cache in common, some 50 ns, or not, some 300; and which they are a rented machine does not say.
pub(super) fn round_trip() -> Option<f64> {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    (processors > 1).then(|| (0..FIGURES).map(|_| round_trip_once()).fold(f64::INFINITY, f64::min))
}

fn round_trip_once() -> f64 {
    let word = AtomicU32::new(0);
    let await_word = |wanted: u32| {
        while word.load(Ordering::Acquire) != wanted {
            spin_loop();
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..ROUNDS {
                await_word(2 * round + 1);
                word.store(2 * round + 2, Ordering::Release);
            }
        });
        let began = Instant::now();
        for round in 0..ROUNDS {
            word.store(2 * round + 1, Ordering::Release);
            await_word(2 * round + 2);
        }
        began.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    })
}
