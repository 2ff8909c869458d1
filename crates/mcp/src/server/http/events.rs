//! A stream of messages that a legacy client can come back to.
//!
//! Messages are kept after they were sent, in bounds, so that a client whose connection broke can
//! name the last event it has and get the rest. While somebody reads, the writer waits for the
//! reader; while nobody does, the oldest messages give way.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::message::Message;
use crate::server::limits::Limits;
use crate::server::outlet::Outlet;

/// One stream of a session.
#[derive(Debug)]
pub(super) struct EventStream {
    /// Its number in the session.
    pub(super) id: u64,
    /// The client knows that a stream may be closed before its end.
    can_leave: bool,
    queue: usize,
    max_events: usize,
    max_bytes: usize,
    state: Mutex<State>,
    readable: Notify,
    writable: Notify,
}

#[derive(Debug, Default)]
struct State {
    kept: VecDeque<Event>,
    kept_bytes: usize,
    /// The number of the last event; events count from 1.
    last: u64,
    /// The number of the last event that a reader took.
    taken: u64,
    /// The reader there is, by its number; 0 for none.
    reader: u64,
    readers: u64,
    /// The reader shall leave when it has read everything, and come back after a while.
    leave: Option<Duration>,
    /// Nothing more will come.
    ended: bool,
}

/// A message of a stream.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// Its number in the stream.
    pub(super) number: u64,
    /// The message as JSON.
    pub(super) text: Arc<str>,
    /// Whether it is an answer.
    pub(super) is_response: bool,
}

/// What a reader finds.
#[derive(Debug)]
pub(super) enum Item {
    Event(Event),
    /// The stream closes; the client may come back after a while.
    Leave(Duration),
}

/// The one who reads a stream. A later reader takes its place.
pub(super) struct Reader {
    stream: Arc<EventStream>,
    number: u64,
}

impl EventStream {
    pub(super) fn new(id: u64, can_leave: bool, limits: &Limits) -> Arc<Self> {
        Arc::new(Self {
            id,
            can_leave,
            queue: limits.queue,
            max_events: limits.max_replay_events.max(1),
            max_bytes: limits.max_replay_bytes,
            state: Mutex::default(),
            readable: Notify::new(),
            writable: Notify::new(),
        })
    }

    /// Begins to read: after the event with this number, or after what was read last.
    pub(super) fn read(self: &Arc<Self>, after: Option<u64>) -> Reader {
        let mut state = self.state.lock();
        state.readers += 1;
        state.reader = state.readers;
        state.leave = None;
        if let Some(after) = after {
            state.taken = after.min(state.last);
        }
        let number = state.reader;
        drop(state);
        // A reader that was here finds out that it has been replaced.
        self.readable.notify_waiters();
        self.writable.notify_waiters();
        Reader { stream: self.clone(), number }
    }

    /// Whether the client may be told when to come back.
    pub(super) fn can_leave(&self) -> bool {
        self.can_leave
    }

    pub(super) fn has_reader(&self) -> bool {
        self.state.lock().reader != 0
    }

    /// Waits until somebody reads.
    pub(super) async fn wait_for_reader(&self) {
        self.when(&self.writable, |state| (state.reader != 0).then_some(())).await;
    }

    /// The number of the last event that was taken.
    pub(super) fn taken(&self) -> u64 {
        self.state.lock().taken
    }

    /// How much is kept.
    pub(super) fn kept_bytes(&self) -> usize {
        self.state.lock().kept_bytes
    }

    /// Nothing more will come.
    pub(super) fn end(&self) {
        self.state.lock().ended = true;
        self.readable.notify_waiters();
        self.writable.notify_waiters();
    }

    fn push(&self, state: &mut State, text: Arc<str>, is_response: bool) {
        state.last += 1;
        state.kept_bytes += text.len();
        state.kept.push_back(Event { number: state.last, text, is_response });
        // What a reader still has to take is never given up: the queue bounds that.
        while state.kept.len() > self.max_events || state.kept_bytes > self.max_bytes {
            match state.kept.front() {
                Some(first) if state.kept.len() > 1 => {
                    if state.reader != 0 && first.number > state.taken {
                        break;
                    }
                    state.kept_bytes -= first.text.len();
                    state.kept.pop_front();
                }
                _ => break,
            }
        }
    }

    /// Waits until `ready` finds something in the state.
    async fn when<T>(&self, signal: &Notify, mut ready: impl FnMut(&mut State) -> Option<T>) -> T {
        loop {
            let mut signalled = std::pin::pin!(signal.notified());
            // Registered before the look, so that no signal falls in between.
            signalled.as_mut().enable();
            if let Some(found) = ready(&mut self.state.lock()) {
                return found;
            }
            signalled.await;
        }
    }
}

#[async_trait]
impl Outlet for Arc<EventStream> {
    async fn send(&self, message: Message) {
        let text: Arc<str> = message.to_json().into();
        let is_response = matches!(message, Message::Response(_));
        let has_room = |state: &mut State| {
            let waiting = state.last - state.taken;
            if state.ended {
                return Some(());
            }
            (state.reader == 0 || waiting < self.queue as u64).then(|| {
                self.push(state, text.clone(), is_response);
            })
        };
        self.when(&self.writable, has_room).await;
        self.readable.notify_waiters();
    }

    async fn pause(&self, retry: Duration) {
        if self.can_leave {
            self.state.lock().leave = Some(retry);
            self.readable.notify_waiters();
        }
    }
}

impl Reader {
    /// The next item; none when the stream has ended or another reader came.
    pub(super) async fn next(&mut self) -> Option<Item> {
        let number = self.number;
        let item = self
            .stream
            .when(&self.stream.readable, |state| {
                if state.reader != number {
                    return Some(None);
                }
                let at = state.kept.partition_point(|event| event.number <= state.taken);
                if let Some(event) = state.kept.get(at) {
                    state.taken = event.number;
                    return Some(Some(Item::Event(event.clone())));
                }
                if state.ended {
                    return Some(None);
                }
                state.leave.take().map(|retry| {
                    state.reader = 0;
                    Some(Item::Leave(retry))
                })
            })
            .await;
        self.stream.writable.notify_waiters();
        item
    }

    /// The stream that is read.
    pub(super) fn stream(&self) -> &EventStream {
        &self.stream
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.stream.state.lock();
        if state.reader == self.number {
            state.reader = 0;
            drop(state);
            // A writer that waited for this reader waits no more.
            self.stream.writable.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests;
