//! Streamable HTTP: one endpoint, each request with an answer or a stream of its own.

mod listening;

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use http::StatusCode;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::super::calls::Calls;
use super::super::connection::Link;
use super::super::handshake::legacy_version;
use super::super::transport::Transport;
use super::super::{ClientError, ClientOptions, HttpConfig, secrets};
use super::endpoint::{Answer, Endpoint};
use super::event_stream::EventStream;
use super::place::{MAX_RESUMES, Place};
use super::request_headers;
use super::session::{SESSION_ID, Session, set_version};
use crate::cancellation;
use crate::message::{Id, Message, Notification, Raw, Request, Response};
use crate::mirror::{HeaderParameter, header_parameters};
use crate::sse::{Event, EventTooLong};
use crate::version::{Era, Version};

/// How long the end of a session, or of a request, may take to be told.
const FAREWELL: Duration = Duration::from_secs(3);
/// The version of a request that asks for the version.
const PROBE_VERSION: Version = Version::LATEST;

struct Streamable {
    endpoint: Endpoint,
    calls: Arc<Calls>,
    session: watch::Sender<Session>,
    /// Held while a new session is made, so that it is made once.
    renewal: tokio::sync::Mutex<()>,
    /// Goes up with every new session in place of another.
    renewals: watch::Sender<u64>,
    /// What `initialize` is asked with, again if the server forgets the session.
    initialize: Raw,
    /// The headers that tools want, learnt from `tools/list`.
    tools: Mutex<HashMap<String, Arc<[HeaderParameter]>>>,
    shutdown: CancellationToken,
    me: Weak<Self>,
    _guard: DropGuard,
}

/// A way to the server at this URL. Nothing is sent yet.
pub(in super::super) fn connect(
    config: &HttpConfig,
    options: &ClientOptions,
    calls: Arc<Calls>,
    initialize: Raw,
) -> Result<Link, ClientError> {
    let endpoint = Endpoint::new(config, options)?;
    let secrets = endpoint.secrets().clone();
    let shutdown = CancellationToken::new();
    let transport = Arc::new_cyclic(|me| Streamable {
        endpoint,
        calls: calls.clone(),
        session: watch::Sender::new(Session::default()),
        renewal: tokio::sync::Mutex::default(),
        renewals: watch::Sender::new(0),
        initialize,
        tools: Mutex::default(),
        shutdown: shutdown.clone(),
        me: me.clone(),
        _guard: shutdown.drop_guard(),
    });
    Ok(Link { calls, transport, secrets })
}

#[async_trait]
impl Transport for Streamable {
    async fn exchange(&self, call: u64, request: Request) -> Result<(), ClientError> {
        let session = self.session();
        let answer = self.post_request(&request, &session).await?;
        match answer {
            Answer::Refused(refusal)
                if refusal.status == StatusCode::NOT_FOUND && session.id.is_some() =>
            {
                // What the server says to a new session is not its answer to the request.
                let renewed = self.renew(session.generation).await;
                renewed.map_err(|error| secrets::hide_in(self.endpoint.secrets(), error))?;
                let session = self.session();
                let answer = self.post_request(&request, &session).await?;
                self.receive(call, &request.method, answer, &session).await
            }
            answer => self.receive(call, &request.method, answer, &session).await,
        }
    }

    async fn send(&self, message: Message) -> Result<(), ClientError> {
        let headers = self.session().headers();
        match self.endpoint.post(&message, headers).await? {
            Answer::Refused(refusal) => Err(self.endpoint.refused(refusal)),
            Answer::Events(events) => {
                events.drain();
                Ok(())
            }
            Answer::Json(_) | Answer::Accepted => Ok(()),
        }
    }

    fn cancel(&self, call: u64, reason: &str) {
        // In the modern era the closed stream says it all.
        if self.session.borrow().is_modern() {
            return;
        }
        let Some(me) = self.me.upgrade() else { return };
        let message = cancellation::message(&Id::number(call), reason);
        tokio::spawn(async move {
            drop(tokio::time::timeout(FAREWELL, me.send(message)).await);
        });
    }

    fn established(&self, version: Version) {
        self.session.send_modify(|session| session.version = Some(version));
        if version.era() == Era::Legacy {
            let shutdown = self.shutdown.clone();
            let listening = listening::listen(self.me.clone(), self.session.subscribe());
            tokio::spawn(async move { shutdown.run_until_cancelled(listening).await });
        }
    }

    fn renewals(&self) -> watch::Receiver<u64> {
        self.renewals.subscribe()
    }

    async fn close(&self) {
        self.shutdown.cancel();
        let session = self.session();
        if session.id.is_some() {
            let farewell = self.endpoint.delete(session.headers());
            drop(tokio::time::timeout(FAREWELL, farewell).await);
        }
    }
}

impl Streamable {
    fn session(&self) -> Session {
        self.session.borrow().clone()
    }

    fn as_transport(&self) -> Option<Arc<dyn Transport>> {
        self.me.upgrade().map(|me| me as Arc<dyn Transport>)
    }

    /// Sends a request with the headers of its era.
    async fn post_request(
        &self,
        request: &Request,
        session: &Session,
    ) -> Result<Answer, ClientError> {
        let mut headers = session.headers();
        let is_probe = request.method == "server/discover";
        if request.method == "initialize" {
            headers.clear();
        } else if is_probe || session.is_modern() {
            let tool = request_headers::tool_of(request);
            let parameters = tool.and_then(|tool| self.tools.lock().get(&tool).cloned());
            let parameters = parameters.as_deref().unwrap_or_default();
            request_headers::add(&mut headers, request, parameters);
            if is_probe {
                set_version(&mut headers, PROBE_VERSION);
            }
        }
        self.endpoint.post(&Message::Request(request.clone()), headers).await
    }

    /// Reads the answer to a request, whatever form it has, and routes what it holds.
    async fn receive(
        &self,
        call: u64,
        method: &str,
        answer: Answer,
        session: &Session,
    ) -> Result<(), ClientError> {
        match answer {
            Answer::Json(response) => {
                if method == "initialize" {
                    self.begin_session(&response);
                }
                let body = self.endpoint.body(response).await?;
                self.learn(method, &body);
                if let Some(transport) = self.as_transport() {
                    self.calls.route_text(&body, Some(call), &transport).await;
                }
                self.expect_answered(call)
            }
            Answer::Events(events) => {
                if method == "initialize" {
                    self.begin_session(events.response());
                }
                self.follow(call, method, events, session).await
            }
            // A legacy server may answer on the connection's own stream.
            Answer::Accepted if !session.is_modern() && session.version.is_some() => Ok(()),
            Answer::Accepted => {
                Err(ClientError::Protocol(format!("it accepted `{method}` without answering it")))
            }
            Answer::Refused(refusal) => {
                // Who may not enter, or meets a server out of order, has learnt nothing about the
                // request; least of all what era the server speaks.
                let is_elsewhere = matches!(refusal.status.as_u16(), 401 | 403)
                    || (method == "server/discover" && refusal.status.is_server_error());
                match &refusal.error {
                    Some(error) if !is_elsewhere => Err(ClientError::Rpc(error.clone())),
                    _ => Err(self.endpoint.refused(refusal)),
                }
            }
        }
    }

    fn begin_session(&self, response: &reqwest::Response) {
        let id = response.headers().get(SESSION_ID).cloned();
        self.session.send_modify(|session| session.id = id);
    }

    async fn route(&self, call: u64, method: &str, event: Result<Event, EventTooLong>) {
        let Some(transport) = self.as_transport() else { return };
        if let Ok(event) = &event {
            self.learn(method, event.data.as_bytes());
        }
        self.calls.route_event(event, Some(call), &transport).await;
    }

    fn expect_answered(&self, call: u64) -> Result<(), ClientError> {
        if self.calls.is_pending(call) {
            Err(ClientError::Protocol("its answer is not one to the request".to_owned()))
        } else {
            Ok(())
        }
    }

    /// Reads the stream of a request to its answer. A legacy stream that breaks is read on from
    /// the last event; a modern one is lost with the request.
    async fn follow(
        &self,
        call: u64,
        method: &str,
        mut events: Box<EventStream>,
        session: &Session,
    ) -> Result<(), ClientError> {
        let mut place = Place::default();
        loop {
            let end = loop {
                match events.next().await {
                    Ok(Some(event)) => {
                        place.note(&event);
                        self.route(call, method, event).await;
                        if !self.calls.is_pending(call) {
                            events.drain();
                            return Ok(());
                        }
                    }
                    Ok(None) => break self.endpoint.broken("the stream ended before the answer"),
                    Err(error) => break error,
                }
            };
            if session.is_modern() || place.last_event_id.is_none() {
                return Err(end);
            }
            events = self.resume(&mut place, session, end).await?;
        }
    }

    /// Opens a broken legacy stream again.
    async fn resume(
        &self,
        place: &mut Place,
        session: &Session,
        mut end: ClientError,
    ) -> Result<Box<EventStream>, ClientError> {
        while place.attempts < MAX_RESUMES {
            place.attempts += 1;
            tokio::time::sleep(place.pause()).await;
            let headers = session.headers_after(place.last_event_id.as_deref());
            match self.endpoint.get(headers).await {
                Ok(Answer::Events(events)) => return Ok(events),
                Ok(Answer::Refused(refusal)) if refusal.status.is_client_error() => {
                    return Err(self.endpoint.refused(refusal));
                }
                Ok(Answer::Refused(refusal)) => end = self.endpoint.refused(refusal),
                Ok(_) => {}
                Err(error) => end = error,
            }
        }
        Err(end)
    }

    /// Makes a new session in place of one that the server has forgotten, once for all requests
    /// that notice.
    async fn renew(&self, generation: u64) -> Result<(), ClientError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Initialized {
            protocol_version: String,
        }
        let _renewing = self.renewal.lock().await;
        if self.session().generation != generation {
            return Ok(());
        }
        let request = Request {
            id: Id::string("initialize-again"),
            method: "initialize".to_owned(),
            params: Some(self.initialize.clone()),
        };
        let (outcome, id) = self.ask_alone(&request).await?;
        let result = outcome.outcome.map_err(ClientError::Rpc)?;
        let Initialized { protocol_version } = serde_json::from_str(result.get())
            .map_err(|error| ClientError::Protocol(format!("answer to `initialize`: {error}")))?;
        let version = Some(legacy_version(&protocol_version)?);
        self.session.send_replace(Session { id, version, generation: generation + 1 });
        let initialized =
            Notification { method: "notifications/initialized".to_owned(), params: None };
        self.send(Message::Notification(initialized)).await?;
        self.renewals.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Asks outside of any session, and gives the session id that came with the answer.
    async fn ask_alone(
        &self,
        request: &Request,
    ) -> Result<(Response, Option<http::HeaderValue>), ClientError> {
        let session_of = |response: &reqwest::Response| response.headers().get(SESSION_ID).cloned();
        let answer_in = |text: &[u8]| match Message::from_json(text) {
            Ok(Message::Response(response)) => Some(response),
            _ => None,
        };
        let lost = || self.endpoint.broken("a new session was not answered");
        let message = Message::Request(request.clone());
        match self.endpoint.post(&message, http::HeaderMap::new()).await? {
            Answer::Json(response) => {
                let id = session_of(&response);
                let body = self.endpoint.body(response).await?;
                Ok((answer_in(&body).ok_or_else(lost)?, id))
            }
            Answer::Events(mut events) => {
                let id = session_of(events.response());
                while let Some(event) = events.next_whole().await? {
                    if let Some(response) = answer_in(event.data.as_bytes()) {
                        events.drain();
                        return Ok((response, id));
                    }
                }
                Err(lost())
            }
            Answer::Accepted => Err(lost()),
            Answer::Refused(refusal) => Err(self.endpoint.refused(refusal)),
        }
    }

    /// Notes which arguments of which tools are repeated in headers, if that is what was asked for.
    fn learn(&self, method: &str, text: &[u8]) {
        if method != "tools/list" || !self.session.borrow().is_modern() {
            return;
        }
        #[derive(Deserialize)]
        struct Listed {
            tools: Vec<Tool>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Tool {
            name: String,
            input_schema: Raw,
        }
        let Ok(Message::Response(Response { outcome: Ok(result), .. })) = Message::from_json(text)
        else {
            return;
        };
        let Ok(listed) = serde_json::from_str::<Listed>(result.get()) else { return };
        let mut tools = self.tools.lock();
        for Tool { name, input_schema } in listed.tools {
            match header_parameters(&input_schema) {
                Ok(found) if !found.is_empty() => drop(tools.insert(name, found.into())),
                Ok(_) | Err(_) => drop(tools.remove(&name)),
            }
        }
    }
}
