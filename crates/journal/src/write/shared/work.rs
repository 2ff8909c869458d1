//! When the writer works: it is woken for what somebody waits for, and sleeps, rests or gathers
//! otherwise.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::Shared;
use crate::write::queue::{Item, MAX_BATCH, Queue, Sleep, Work};

/// How long events wait for others when nobody waits for them.
const LINGER: Duration = Duration::from_millis(10);

/// How long the writer rests after it wrote something before it has to be woken for what nobody
/// waits for.
///
/// Waking it costs a system call, which a request should not pay for its line in the log, nor a run
/// that goes on. While there is traffic, requests are written with the runs, or at the end of a
/// rest; for runs it looks in between.
const REST: Duration = Duration::from_millis(200);

impl Shared {
    pub(super) fn wake_writer(&self, queue: &Queue) {
        let is_full = queue.events >= MAX_BATCH;
        match queue.sleep {
            Sleep::Idle => drop(self.wake.notify_one()),
            Sleep::Resting | Sleep::Lingering if queue.urgent || is_full => {
                self.wake.notify_one();
            }
            Sleep::Gathering if queue.waiting >= queue.wanted || is_full => {
                self.wake.notify_one();
            }
            Sleep::Napping if is_full => drop(self.wake.notify_one()),
            _ => {}
        }
    }

    /// Somebody waits for what is queued.
    pub(crate) fn hurry(&self) {
        let mut queue = self.queue.lock();
        queue.urgent = true;
        self.wake_writer(&queue);
    }

    /// Lets the writer write what there is and end.
    pub(crate) fn close(&self) {
        self.queue.lock().closed = true;
        self.wake.notify_one();
    }

    /// Whether nothing more will come.
    pub(crate) fn is_closed(&self) -> bool {
        self.queue.lock().closed
    }

    /// What the writer is to do next; it sleeps until there is something, for `patience` at most.
    pub(crate) fn next_work(&self, patience: Option<Duration>) -> Work {
        let mut queue = self.queue.lock();
        let has_written = std::mem::take(&mut queue.has_written);
        queue.taken = None;
        if has_written {
            self.expect(&mut queue);
            self.rest(&mut queue, patience.map_or(REST, |patience| patience.min(REST)));
        }
        self.sleep(&mut queue, Sleep::Idle, patience);
        if queue.is_empty() {
            return if queue.closed { Work::Closed } else { Work::Idle };
        }
        let oldest = queue.oldest.or(queue.oldest_request).unwrap_or_else(Instant::now);
        while !queue.urgent && !queue.closed && queue.events < MAX_BATCH {
            let left = LINGER.saturating_sub(oldest.elapsed());
            if left.is_zero() {
                break;
            }
            queue.sleep = Sleep::Lingering;
            self.wake.wait_for(&mut queue, left);
            queue.sleep = Sleep::No;
        }
        self.gather(&mut queue);
        queue.has_written = true;
        Work::Write(queue.take(oldest), oldest)
    }

    /// What came since the writer was given something, which it writes along.
    pub(in crate::write) fn take_more(&self) -> Vec<Item> {
        let mut queue = self.queue.lock();
        let oldest = queue.taken.map_or_else(Instant::now, |(_, _, oldest)| oldest);
        queue.take(oldest)
    }

    /// Sleeps for so long at most, unless there is something to do.
    fn sleep(&self, queue: &mut MutexGuard<'_, Queue>, how: Sleep, time: Option<Duration>) {
        if !queue.is_empty() || queue.closed {
            return;
        }
        queue.sleep = how;
        match time {
            Some(time) => drop(self.wake.wait_for(queue, time)),
            None => self.wake.wait(queue),
        }
        queue.sleep = Sleep::No;
    }

    /// Rests for so long, or until there is something of a run.
    fn rest(&self, queue: &mut MutexGuard<'_, Queue>, time: Duration) {
        let began = Instant::now();
        while queue.items.is_empty() && !queue.closed && queue.events < MAX_BATCH {
            let left = time.saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            queue.sleep = Sleep::Resting;
            self.wake.wait_for(queue, left.min(LINGER));
            queue.sleep = Sleep::No;
        }
    }

    /// Waits for the next runs, if many will come in a moment.
    fn expect(&self, queue: &mut MutexGuard<'_, Queue>) {
        queue.gathering.saw(self.at_work.load(Ordering::Relaxed));
        if queue.waiting == 0
            && !queue.closed
            && let Some(time) = queue.gathering.next_ones()
        {
            self.pause(queue, Sleep::Napping, time);
        }
    }

    /// Waits for a moment until more runs wait, if they will soon.
    fn gather(&self, queue: &mut MutexGuard<'_, Queue>) {
        if queue.waiting == 0 {
            return;
        }
        queue.gathering.saw(self.at_work.load(Ordering::Relaxed));
        let (wanted, patience) = queue.gathering.wanted(queue.waiting);
        let began = Instant::now();
        queue.wanted = wanted;
        while queue.waiting < wanted && !queue.closed && queue.events < MAX_BATCH {
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                break;
            }
            match queue.gathering.nap(wanted - queue.waiting) {
                Some(nap) => self.pause(queue, Sleep::Napping, nap.min(left)),
                None => self.pause(queue, Sleep::Gathering, left),
            }
        }
    }

    fn pause(&self, queue: &mut MutexGuard<'_, Queue>, how: Sleep, time: Duration) {
        queue.sleep = how;
        self.wake.wait_for(queue, time);
        queue.sleep = Sleep::No;
    }
}
