//! The legacy sessions of the HTTP transport.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::events::EventStream;
use crate::message::{Message, RpcError};
use crate::server::in_flight::InFlight;
use crate::server::limits::Limits;
use crate::server::outlet::Outlet;
use crate::server::session::Session;
use crate::version::Version;

/// How long a session must have been idle to give way to a new one when there are too many.
const LEAST_IDLE: Duration = Duration::from_mins(1);

/// For how long what is known here of a session that other processes serve too is taken to be true,
/// should nobody say otherwise.
const CERTAIN_FOR: Duration = Duration::from_secs(1);

/// All sessions, by their key.
pub(super) struct Sessions {
    limits: Limits,
    sessions: Mutex<Known>,
}

type Known = HashMap<Arc<str>, Arc<HttpSession>>;

/// One session.
pub(super) struct HttpSession {
    pub(super) session: Arc<Session>,
    pub(super) calls: Arc<InFlight>,
    /// What is sent outside of any call.
    pub(super) standalone: Arc<EventStream>,
    state: Mutex<State>,
}

struct State {
    last_used: Instant,
    next_stream: u64,
    /// The streams of calls that a client can come back to.
    streams: HashMap<u64, Arc<EventStream>>,
    /// Those of them that have ended and what they keep, oldest first.
    ended: VecDeque<(u64, usize)>,
    /// When it was last seen to be as it is known here; none if something was said to have changed.
    certain: Option<Instant>,
    /// It began in another process, and its client has not been told what it may have missed.
    is_restored: bool,
}

impl Sessions {
    pub(super) fn new(limits: &Limits) -> Self {
        Self { limits: limits.clone(), sessions: Mutex::default() }
    }

    /// Adds a session. Where there are too many, the one that has been idle longest gives way and
    /// is returned to be closed.
    pub(super) fn add(
        &self,
        session: Arc<Session>,
        stop: &CancellationToken,
    ) -> Result<(Arc<HttpSession>, Option<Arc<HttpSession>>), RpcError> {
        let added = self.open(session, stop, false);
        let mut sessions = self.sessions.lock();
        let removed = self.make_room(&mut sessions, LEAST_IDLE);
        if sessions.len() >= self.limits.max_sessions {
            return Err(RpcError::unavailable(format!(
                "too many sessions are open: the limit is {}",
                self.limits.max_sessions
            )));
        }
        sessions.insert(added.key(), added.clone());
        Ok((added, removed))
    }

    /// Adds a session that began in another process, unless somebody was faster. Where there are too
    /// many, any that is idle gives way: it can be restored, too.
    pub(super) fn restore(
        &self,
        session: Arc<Session>,
        stop: &CancellationToken,
    ) -> (Arc<HttpSession>, Option<Arc<HttpSession>>) {
        let restored = self.open(session, stop, true);
        let mut sessions = self.sessions.lock();
        if let Some(known) = sessions.get(&restored.key()) {
            return (Arc::clone(known), None);
        }
        let removed = self.make_room(&mut sessions, Duration::ZERO);
        sessions.insert(restored.key(), restored.clone());
        (restored, removed)
    }

    fn open(
        &self,
        session: Arc<Session>,
        stop: &CancellationToken,
        is_restored: bool,
    ) -> Arc<HttpSession> {
        let now = Instant::now();
        Arc::new(HttpSession {
            calls: InFlight::new(self.limits.max_in_flight, stop.child_token()),
            standalone: EventStream::new(0, can_come_back(&session), &self.limits),
            session,
            state: Mutex::new(State {
                last_used: now,
                next_stream: 1,
                streams: HashMap::new(),
                ended: VecDeque::new(),
                certain: Some(now),
                is_restored,
            }),
        })
    }

    /// Takes out the session that has been idle longest, and for so long at least, if there are too
    /// many.
    fn make_room(&self, sessions: &mut Known, least: Duration) -> Option<Arc<HttpSession>> {
        if sessions.len() < self.limits.max_sessions {
            return None;
        }
        let idlest = sessions
            .iter()
            .filter_map(|(key, session)| Some((session.idle_for()?, key)))
            .filter(|(idle, _)| *idle >= least)
            .max()
            .map(|(_, key)| key.clone());
        idlest.and_then(|key| sessions.remove(&key))
    }

    /// The session with this key, which is not thereby used.
    pub(super) fn peek(&self, key: &str) -> Option<Arc<HttpSession>> {
        self.sessions.lock().get(key).cloned()
    }

    /// Nothing that is known is certain any more.
    pub(super) fn doubt_all(&self) {
        for session in self.sessions.lock().values() {
            session.set_certain(false);
        }
    }

    /// The keys of the sessions in which something happens.
    pub(super) fn busy(&self) -> Vec<Arc<str>> {
        let sessions = self.sessions.lock();
        let busy = sessions.iter().filter(|(_, session)| session.idle_for().is_none());
        busy.map(|(key, _)| key.clone()).collect()
    }

    /// The session with this key, which is thereby used.
    pub(super) fn get(&self, key: &str) -> Option<Arc<HttpSession>> {
        let session = self.sessions.lock().get(key).cloned()?;
        session.state.lock().last_used = Instant::now();
        Some(session)
    }

    pub(super) fn remove(&self, key: &str) -> Option<Arc<HttpSession>> {
        self.sessions.lock().remove(key)
    }

    /// Takes out the sessions that have been idle for too long.
    pub(super) fn remove_idle(&self) -> Vec<Arc<HttpSession>> {
        let limit = self.limits.session_idle;
        let is_idle = |session: &HttpSession| session.idle_for().is_some_and(|idle| idle >= limit);
        let mut sessions = self.sessions.lock();
        sessions.extract_if(|_, session| is_idle(session)).map(|(_, session)| session).collect()
    }

    /// Takes out all.
    pub(super) fn remove_all(&self) -> Vec<Arc<HttpSession>> {
        self.sessions.lock().drain().map(|(_, session)| session).collect()
    }
}

/// Whether the client knows that the server may close a stream before its end.
fn can_come_back(session: &Session) -> bool {
    session.client.version >= Version::V2025_11_25
}

impl HttpSession {
    fn key(&self) -> Arc<str> {
        self.session.client.session.as_ref().map_or("", |key| key.as_str()).into()
    }

    /// Whether it is surely as it is known here.
    pub(super) fn is_certain(&self) -> bool {
        self.state.lock().certain.is_some_and(|since| since.elapsed() < CERTAIN_FOR)
    }

    pub(super) fn set_certain(&self, is_certain: bool) {
        self.state.lock().certain = is_certain.then(Instant::now);
    }

    /// True for the first who asks: that one tells the client of changes from now on.
    pub(super) fn begin_telling(&self) -> bool {
        self.session.changes.begin_telling()
    }

    /// Tells the client that it may have missed changes while another process served it; once.
    pub(super) fn tell_missed(&self) {
        if std::mem::take(&mut self.state.lock().is_restored) {
            self.session.changes.tell_lists();
        }
    }

    /// How long nothing happened; none while something does.
    fn idle_for(&self) -> Option<Duration> {
        let is_busy = !self.calls.is_idle() || self.standalone.has_reader();
        (!is_busy).then(|| self.state.lock().last_used.elapsed())
    }

    /// A stream for the messages of a call.
    pub(super) fn open_stream(&self, limits: &Limits) -> Arc<EventStream> {
        let mut state = self.state.lock();
        let stream = EventStream::new(state.next_stream, can_come_back(&self.session), limits);
        state.next_stream += 1;
        state.streams.insert(stream.id, stream.clone());
        stream
    }

    /// The stream with this number, if it can still be read.
    pub(super) fn stream(&self, id: u64) -> Option<Arc<EventStream>> {
        if id == 0 {
            return Some(self.standalone.clone());
        }
        self.state.lock().streams.get(&id).cloned()
    }

    /// The calls of a stream have ended. It is kept for a while for a client that comes back.
    pub(super) fn end_stream(&self, stream: &EventStream, limits: &Limits) {
        stream.end();
        let state = &mut *self.state.lock();
        state.last_used = Instant::now();
        // One that was forgotten has been answered whole.
        if state.streams.contains_key(&stream.id) {
            state.ended.push_back((stream.id, stream.kept_bytes()));
        }
        let mut bytes: usize = state.ended.iter().map(|(_, bytes)| bytes).sum();
        while state.ended.len() > limits.max_finished_streams
            || (bytes > limits.max_replay_bytes && state.ended.len() > 1)
        {
            let Some((oldest, freed)) = state.ended.pop_front() else { break };
            state.streams.remove(&oldest);
            bytes -= freed;
        }
    }

    /// Nobody will come back to this stream.
    pub(super) fn forget_stream(&self, id: u64) {
        let mut state = self.state.lock();
        state.streams.remove(&id);
        state.ended.retain(|(ended, _)| *ended != id);
    }

    /// Tells the client of changes while it reads the standalone stream.
    pub(super) async fn tell_changes(self: Arc<Self>) {
        let ended = self.calls.ended();
        let tell = async {
            loop {
                // Changes that nobody is there to hear are told once, later.
                self.standalone.wait_for_reader().await;
                let change = self.session.changes.next().await;
                self.standalone.send(Message::Notification(change.to_notification())).await;
            }
        };
        tokio::select! {
            () = ended.cancelled() => {}
            () = tell => {}
        }
    }

    /// Ends everything that this process does for a session that was taken out.
    pub(super) fn close_here(&self) {
        self.calls.end();
        self.session.abandon();
        self.standalone.end();
        let streams: Vec<_> = self.state.lock().streams.drain().map(|(_, stream)| stream).collect();
        for stream in streams {
            stream.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Notification;
    use crate::server::broadcast::Broadcaster;
    use crate::server::client::{Client, SessionKey};
    use crate::subscription::Filter;

    fn session() -> Arc<Session> {
        let client = Client {
            version: Version::LATEST_LEGACY,
            info: None,
            capabilities: crate::message::null(),
            session: SessionKey::random(),
            principal: None,
        };
        let client = Arc::new(client);
        let changes = Broadcaster::new().subscribe(Filter::default(), Arc::clone(&client));
        Arc::new(Session::new(client, changes, 9))
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_idle_session_gives_way() {
        let limits = Limits { max_sessions: 2, ..Limits::default() };
        let sessions = Sessions::new(&limits);
        let stop = CancellationToken::new();
        let (first, _) = sessions.add(session(), &stop).unwrap();
        let (second, _) = sessions.add(session(), &stop).unwrap();
        assert!(sessions.add(session(), &stop).is_err());
        tokio::time::advance(LEAST_IDLE).await;
        let key = first.session.client.session.as_ref().unwrap().as_str();
        assert!(sessions.get(key).is_some(), "used just now");
        let (_, removed) = sessions.add(session(), &stop).unwrap();
        assert!(Arc::ptr_eq(&removed.unwrap(), &second));
        tokio::time::advance(limits.session_idle).await;
        let _reader = first.standalone.read(None);
        assert_eq!(sessions.remove_idle().len(), 1, "the other one is being read");
    }

    #[tokio::test]
    async fn ended_streams_are_kept_in_bounds() {
        let limits =
            Limits { max_finished_streams: 3, max_replay_bytes: 2000, ..Limits::default() };
        let sessions = Sessions::new(&limits);
        let (session, _) = sessions.add(session(), &CancellationToken::new()).unwrap();
        let end_one = async |size: usize| {
            let stream = session.open_stream(&limits);
            let method = "x".repeat(size);
            stream.send(Message::Notification(Notification { method, params: None })).await;
            session.end_stream(&stream, &limits);
            stream.id
        };
        let mut ids = Vec::new();
        for size in [10, 10, 10, 10, 3000, 10] {
            ids.push(end_one(size).await);
            assert!(session.stream(ids[ids.len() - 1]).is_some(), "the newest is always there");
        }
        let kept = |ids: &[u64]| ids.iter().filter(|id| session.stream(**id).is_some()).count();
        assert_eq!(kept(&ids), 1);
        for _ in 0..5 {
            ids.push(end_one(10).await);
        }
        assert_eq!(kept(&ids), 3);
    }
}
