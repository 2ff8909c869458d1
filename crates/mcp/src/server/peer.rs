//! The way back to a client while one of its calls is under way.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc;

use super::client::{Client, LogLevel, Meta};
use super::in_flight::Wanted;
use super::session::Session;
use crate::cancellation;
use crate::edit;
use crate::message::{Message, Notification, Raw, Request, RpcError, code};
use crate::meta_key;
use crate::version::Era;

/// Sends to the client on the stream of one call.
///
/// Everything arrives in the order it was sent, and before the answer; what is sent after the
/// answer is dropped. A client that reads slowly makes the sender wait.
#[derive(Clone, Debug)]
pub struct CallPeer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    queue: mpsc::Sender<Outgoing>,
    client: Arc<Client>,
    /// The legacy session, which knows the answers that are awaited from the client.
    session: Option<Arc<Session>>,
    wanted: Wanted,
    progress_token: Option<Raw>,
    log_level: Option<LogLevel>,
}

/// What a call has for its client before the answer.
#[derive(Debug)]
pub(crate) enum Outgoing {
    /// In a box: a queue keeps room for many, and most calls have none.
    Message(Box<Message>),
    /// Close the stream; the client comes back for the rest.
    Pause(Duration),
}

impl CallPeer {
    pub(crate) fn new(
        queue: mpsc::Sender<Outgoing>,
        client: Arc<Client>,
        session: Option<Arc<Session>>,
        wanted: Wanted,
        meta: &Meta,
    ) -> Self {
        let log_level = match client.version.era() {
            Era::Modern => meta.get(meta_key::LOG_LEVEL).and_then(LogLevel::from_json),
            Era::Legacy => session.as_ref().and_then(|session| session.log_level()),
        };
        let progress_token = meta.get(meta_key::PROGRESS_TOKEN).map(ToOwned::to_owned);
        Self(Arc::new(Inner { queue, client, session, wanted, progress_token, log_level }))
    }

    /// The answer to the call is not sent before this is over.
    ///
    /// Whoever makes the answer need not wait for it: everything the call holds is free by then.
    pub fn answer_after(&self, over: BoxFuture<'static, ()>) {
        self.0.wanted.after(over);
    }

    /// The token under which the client wants progress, if it does.
    pub fn progress_token(&self) -> Option<&RawValue> {
        self.0.progress_token.as_deref()
    }

    /// The least severe log message the client asked for.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.0.log_level
    }

    /// Whether a log message of this level is wanted.
    ///
    /// A legacy client that has not set a level gets everything; a modern one nothing.
    pub fn wants_log(&self, level: LogLevel) -> bool {
        match self.0.log_level {
            Some(least) => level >= least,
            None => self.0.client.version.era() == Era::Legacy,
        }
    }

    /// Sends a notification. Log messages that the client does not want are dropped.
    pub async fn notify(&self, method: &str, params: Option<Raw>) {
        if method == "notifications/message" && !self.wants_log(level_of(params.as_deref())) {
            return;
        }
        let notification = Notification { method: method.to_owned(), params };
        self.put(Outgoing::Message(Box::new(Message::Notification(notification)))).await;
    }

    /// Reports progress, if the client wants it: `params` with the client's own token in it.
    pub async fn progress(&self, params: &RawValue) {
        if let Some(token) = self.progress_token()
            && let Some(params) = edit::with_member(params, meta_key::PROGRESS_TOKEN, token)
        {
            self.notify("notifications/progress", Some(params)).await;
        }
    }

    /// Whether the client said that it can be asked this, in whichever way its era has.
    pub fn may_ask(&self, method: &str) -> Result<(), RpcError> {
        let capability = match method {
            "elicitation/create" => "elicitation",
            "sampling/createMessage" => "sampling",
            "roots/list" => "roots",
            _ => return Ok(()),
        };
        if self.0.client.supports(capability) {
            return Ok(());
        }
        Err(RpcError::new(
            code::MISSING_CLIENT_CAPABILITY,
            format!("the client does not support {capability}, which `{method}` needs"),
        )
        .with_data(&serde_json::json!({ "requiredCapabilities": { capability: {} } })))
    }

    /// Asks the client something and waits for its answer: elicitation, sampling, roots.
    ///
    /// Only the legacy era has this; a modern client is asked by a result of type
    /// `input_required`.
    pub async fn request(
        &self,
        method: &str,
        params: Option<Raw>,
        timeout: Duration,
    ) -> Result<Raw, RpcError> {
        let Some(session) = &self.0.session else {
            return Err(RpcError::internal(format!(
                "`{method}` cannot be sent to a client of protocol version {}: a result of type \
                 `input_required` asks it",
                self.0.client.version
            )));
        };
        self.may_ask(method)?;
        let (id, answer) = session.expect_answer()?;
        let request = Request { id: id.clone(), method: method.to_owned(), params };
        self.put(Outgoing::Message(Box::new(Message::Request(request)))).await;
        let why = tokio::select! {
            answer = answer.wait() => match answer {
                Some(outcome) => return outcome,
                None => "the client went away",
            },
            () = self.0.wanted.cancel.cancelled() => "the call was cancelled",
            () = tokio::time::sleep(timeout) => "the client did not answer in time",
        };
        self.put(Outgoing::Message(Box::new(cancellation::message(&id, why)))).await;
        Err(RpcError::internal(format!("`{method}`: {why} (limit {} ms)", timeout.as_millis())))
    }

    /// Closes the stream of this call while the call goes on; the client comes back for the rest
    /// after `retry`. It does nothing where the client could not come back: that takes a legacy
    /// HTTP client of revision 2025-11-25.
    pub async fn pause(&self, retry: Duration) {
        self.put(Outgoing::Pause(retry)).await;
    }

    async fn put(&self, outgoing: Outgoing) {
        // The only error is that the call has been answered.
        drop(self.0.queue.send(outgoing).await);
    }
}

/// The level of a log message; the most severe where it has none, so that it is not lost.
fn level_of(params: Option<&RawValue>) -> LogLevel {
    #[derive(Deserialize)]
    struct Params {
        level: LogLevel,
    }
    params
        .and_then(|params| serde_json::from_str::<Params>(params.get()).ok())
        .map_or(LogLevel::Emergency, |params| params.level)
}
