//! What a script waits for: timers and requests, each behind a promise.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant};

use rquickjs::{Ctx, Exception, Function, Promise};
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use crate::limits::{MAX_FETCHES, MAX_TIMERS};
use crate::watch::Clock;
use crate::worker::Task;
use crate::{FetchRequest, FetchResponse, Host, ScriptError, globals};

/// What reaches the thread of an execution while it waits.
pub(crate) enum Message {
    /// A request has its answer.
    Fetched(u64, Result<FetchResponse, String>),
    /// There may be a reason to stop.
    Wake,
}

/// Room for the answers of all requests, and a call to wake up.
pub(crate) const INBOX: usize = MAX_FETCHES + 1;

/// The operations of one execution.
///
/// No borrow is held while the engine is called: resolving a promise may run the script, which may
/// begin further operations.
pub(crate) struct Operations<'js> {
    timers: RefCell<BTreeMap<(Instant, u64), Function<'js>>>,
    fetches: RefCell<BTreeMap<u64, Fetch<'js>>>,
    next: Cell<u64>,
    inbox: Receiver<Message>,
    outbox: SyncSender<Message>,
    host: Arc<dyn Host>,
    world: Handle,
}

struct Fetch<'js> {
    resolve: Function<'js>,
    reject: Function<'js>,
    task: AbortHandle,
}

impl<'js> Operations<'js> {
    pub(crate) fn new(task: &Task, inbox: Receiver<Message>) -> Self {
        Self {
            timers: RefCell::default(),
            fetches: RefCell::default(),
            next: Cell::new(0),
            inbox,
            outbox: task.outbox.clone(),
            host: Arc::clone(&task.host),
            world: task.world.clone(),
        }
    }

    /// A promise that is resolved after a while.
    pub(crate) fn sleep(&self, ctx: &Ctx<'js>, delay: Duration) -> rquickjs::Result<Promise<'js>> {
        let (promise, resolve, _) = ctx.promise()?;
        if self.timers.borrow().len() >= MAX_TIMERS {
            let message = format!("more than {MAX_TIMERS} timers at once");
            return Err(Exception::throw_message(ctx, &message));
        }
        let due = Instant::now() + delay;
        self.timers.borrow_mut().insert((due, self.number()), resolve);
        Ok(promise)
    }

    /// A promise for the answer to a request.
    pub(crate) fn fetch(
        &self,
        ctx: &Ctx<'js>,
        request: FetchRequest,
    ) -> rquickjs::Result<Promise<'js>> {
        let (promise, resolve, reject) = ctx.promise()?;
        if self.fetches.borrow().len() >= MAX_FETCHES {
            let message = format!("more than {MAX_FETCHES} requests at once");
            return Err(Exception::throw_message(ctx, &message));
        }
        let number = self.number();
        let (host, outbox) = (Arc::clone(&self.host), self.outbox.clone());
        let task = self.world.spawn(async move {
            let answer = host.fetch(request).await;
            // There is room for every answer that somebody still waits for.
            drop(outbox.try_send(Message::Fetched(number, answer)));
        });
        let fetch = Fetch { resolve, reject, task: task.abort_handle() };
        self.fetches.borrow_mut().insert(number, fetch);
        Ok(promise)
    }

    fn number(&self) -> u64 {
        self.next.replace(self.next.get() + 1)
    }

    /// Waits for the next operation to end and tells the script, or for the end of its time.
    pub(crate) fn wait(
        &self,
        ctx: &Ctx<'js>,
        clock: &Clock<'_>,
    ) -> Result<rquickjs::Result<()>, ScriptError> {
        let due = self.timers.borrow().first_key_value().map(|((due, _), _)| *due);
        if due.is_none() && self.fetches.borrow().is_empty() {
            return Err(ScriptError::Stalled { limit: clock.limits.memory });
        }
        let until = due.map_or(clock.deadline, |due| due.min(clock.deadline));
        let left = until.saturating_duration_since(Instant::now());
        Ok(match self.inbox.recv_timeout(left) {
            Ok(Message::Fetched(number, answer)) => self.fetched(ctx, number, answer),
            Ok(Message::Wake) => Ok(()),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => self.fire_due(),
        })
    }

    fn fire_due(&self) -> rquickjs::Result<()> {
        let now = Instant::now();
        loop {
            let due = {
                let mut timers = self.timers.borrow_mut();
                let is_due = timers.first_key_value().is_some_and(|((due, _), _)| *due <= now);
                if is_due { timers.pop_first() } else { None }
            };
            match due {
                Some((_, resolve)) => resolve.call::<_, ()>(())?,
                None => return Ok(()),
            }
        }
    }

    fn fetched(
        &self,
        ctx: &Ctx<'js>,
        number: u64,
        answer: Result<FetchResponse, String>,
    ) -> rquickjs::Result<()> {
        let Some(fetch) = self.fetches.borrow_mut().remove(&number) else { return Ok(()) };
        match answer {
            Ok(response) => fetch.resolve.call((globals::response(ctx, response)?,)),
            Err(message) => {
                let error = Exception::from_message(ctx.clone(), &message)?;
                fetch.reject.call((error,))
            }
        }
    }

    /// Forgets everything and stops what is under way.
    pub(crate) fn clear(&self) {
        let timers = self.timers.take();
        let fetches = self.fetches.take();
        for fetch in fetches.values() {
            fetch.task.abort();
        }
        drop((timers, fetches));
    }
}
