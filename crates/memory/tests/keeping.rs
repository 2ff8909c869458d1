//! The allocator as the one of a program.

use std::sync::mpsc;
use std::thread;

use mcpgraph_memory::{Keeping, MAX_KEPT_BYTES, begin, end, kept_bytes};

#[global_allocator]
static MEMORY: Keeping = Keeping;

/// Does something on a thread of its own, which keeps nothing at first.
fn apart<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> T {
    thread::spawn(body).join().expect("it does not panic")
}

#[test]
fn a_thread_takes_again_what_it_gave_back() {
    let (is_same, kept) = apart(|| {
        begin();
        let first = Box::new([1_u64; 100]);
        let place = &raw const *first as usize;
        drop(first);
        let second = Box::new([2_u64; 100]);
        let is_same = place == &raw const *second as usize;
        drop(second);
        let kept = kept_bytes();
        end();
        (is_same, kept)
    });
    assert!(is_same);
    assert!(kept >= 800, "{kept}");
}

#[test]
fn a_thread_that_has_not_begun_or_has_ended_keeps_nothing() {
    let kept = apart(|| {
        drop(vec![0_u8; 100]);
        let before = kept_bytes();
        begin();
        drop(vec![0_u8; 100]);
        end();
        let after = kept_bytes();
        drop(vec![0_u8; 100]);
        (before, after, kept_bytes())
    });
    assert_eq!(kept, (0, 0, 0));
}

#[test]
fn no_more_is_kept_than_the_limit() {
    let kept = apart(|| {
        begin();
        let blocks: Vec<Vec<u8>> =
            (1..2000_usize).flat_map(|size| (0..4).map(move |_| vec![0; size * 4])).collect();
        drop(blocks);
        let kept = kept_bytes();
        end();
        kept
    });
    assert!(kept <= MAX_KEPT_BYTES, "{kept}");
    assert!(kept > MAX_KEPT_BYTES / 2, "{kept}");
}

/// What other threads took is given back here, and nobody here asks for its like.
#[test]
fn sizes_that_nobody_asks_for_make_room_for_others() {
    let (foreign, kept) = apart(|| {
        let foreign = apart(|| (0..400).map(|_| Box::new([0_u8; 5000])).collect::<Vec<_>>());
        let others = apart(|| (0..400).map(|_| Box::new([0_u8; 6000])).collect::<Vec<_>>());
        begin();
        drop((foreign, others));
        for size in (7000..8000).step_by(16) {
            drop(apart(move || (0..40).map(|_| vec![0_u8; size]).collect::<Vec<_>>()));
        }
        let foreign = kept_bytes();
        for _ in 0..10 {
            let own: Vec<_> = (0..150).map(|_| Box::new([0_u8; 800])).collect();
            drop(own);
        }
        let places = |own: &[Box<[u8; 800]>]| own.iter().map(|one| one.as_ptr().addr()).collect();
        let own: Vec<_> = (0..150).map(|_| Box::new([0_u8; 800])).collect();
        let before: std::collections::HashSet<usize> = places(&own);
        drop(own);
        let own: Vec<_> = (0..150).map(|_| Box::new([0_u8; 800])).collect();
        let after: std::collections::HashSet<usize> = places(&own);
        end();
        (foreign, before.intersection(&after).count())
    });
    assert!(foreign > MAX_KEPT_BYTES * 9 / 10, "{foreign}");
    assert_eq!(kept, 150);
}

#[test]
fn beginning_twice_changes_nothing() {
    let kept = apart(|| {
        begin();
        drop(vec![0_u8; 500]);
        let before = kept_bytes();
        begin();
        let blocks: Vec<Vec<u8>> = (0..2000).map(|_| vec![0; 500]).collect();
        drop(blocks);
        let after = kept_bytes();
        end();
        (before, after, kept_bytes())
    });
    // No more of one size than of one that began once.
    assert!(kept.0 > 0 && kept.1 < 256 * 1024, "{kept:?}");
    assert_eq!(kept.2, 0);
}

/// Blocks of all sizes and alignments grow, shrink and end on whichever thread, and hold what was
/// written into them.
#[test]
fn what_is_written_stays_wherever_blocks_go() {
    const THREADS: u64 = 4;
    const ROUNDS: usize = 20_000;
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..THREADS).map(|_| mpsc::sync_channel::<(u8, Vec<u8>)>(64)).unzip();
    let threads: Vec<_> = (0_u64..)
        .zip(receivers)
        .map(|(seed, receiver)| {
            let senders = senders.clone();
            thread::spawn(move || {
                let mut random = fastrand::Rng::with_seed(seed);
                let mut held: Vec<(u8, Vec<u8>)> = Vec::new();
                for round in 0..ROUNDS {
                    if round % 5000 == 0 && seed != 0 {
                        begin();
                    } else if round % 5000 == 4000 {
                        end();
                    }
                    let size = match random.u8(..8) {
                        0 => random.usize(1..100_000),
                        1..4 => random.usize(1..9000),
                        _ => random.usize(1..300),
                    };
                    let mark = random.u8(..);
                    match random.u8(..6) {
                        0 | 1 => held.push((mark, vec![mark; size])),
                        2 if !held.is_empty() => {
                            let place = random.usize(..held.len());
                            let (mark, block) = &mut held[place];
                            block.resize(size, *mark);
                            block.shrink_to_fit();
                        }
                        3 if !held.is_empty() => {
                            drop(held.swap_remove(random.usize(..held.len())));
                        }
                        4 if !held.is_empty() => {
                            let block = held.swap_remove(random.usize(..held.len()));
                            let to = random.usize(..senders.len());
                            // The other may have ended, or have enough.
                            drop(senders[to].try_send(block));
                        }
                        _ => {
                            let zeroed = vec![0_u8; size];
                            assert!(zeroed.iter().all(|byte| *byte == 0));
                            held.extend(receiver.try_iter());
                        }
                    }
                    if held.len() > 200 {
                        held.truncate(100);
                    }
                    if let Some((mark, block)) = held.last() {
                        assert!(block.iter().all(|byte| byte == mark));
                    }
                }
                for (mark, block) in held {
                    assert!(block.iter().all(|byte| *byte == mark));
                }
                end();
                kept_bytes()
            })
        })
        .collect();
    drop(senders);
    for thread in threads {
        assert_eq!(thread.join().expect("what was written stayed"), 0);
    }
}

#[test]
fn alignments_are_kept() {
    #[repr(align(64))]
    struct To64([u8; 192]);
    #[repr(align(128))]
    struct To128([u8; 4000]);
    #[repr(align(4096))]
    struct ToPages([u8; 100]);
    fn places<T>(make: impl Fn(u8) -> T, last: impl Fn(&T) -> u8) -> Vec<usize> {
        let blocks: Vec<Box<T>> = (0..100).map(|mark| Box::new(make(mark))).collect();
        assert!((0..).zip(&blocks).all(|(mark, block)| last(block) == mark));
        blocks.iter().map(|block| &raw const **block as usize).collect()
    }
    let (to_64, to_128, to_pages) = apart(|| {
        begin();
        let all = || {
            (
                places(|mark| To64([mark; 192]), |block| block.0[191]),
                places(|mark| To128([mark; 4000]), |block| block.0[3999]),
                places(|mark| ToPages([mark; 100]), |block| block.0[99]),
            )
        };
        let (before, after) = (all(), all());
        assert!(before.1.iter().any(|place| after.1.contains(place)), "none is used again");
        end();
        after
    });
    assert!(to_64.iter().all(|place| place % 64 == 0));
    assert!(to_128.iter().all(|place| place % 128 == 0));
    assert!(to_pages.iter().all(|place| place % 4096 == 0));
}
