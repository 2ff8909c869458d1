//! The stdio transport: a message is a line, and one connection serves both eras.

mod output;
mod queue;
mod standard;

use std::io;
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use standard::{StandardInput, StandardOutput, standard_streams};

use super::client::Meta;
use super::dispatch::{Admitted, Server};
use super::handshake;
use super::in_flight::{InFlight, Slot};
use super::outlet::{Answer, Outlet as _};
use super::session::Session;
use crate::cancellation;
use crate::excerpt::{Excerpt, Traits};
use crate::lines::{Line, Lines};
use crate::message::{Id, Message, Notification, Raw, Request, Response, RpcError, code, raw};
use crate::version::Version;
use output::Output;
use queue::{Queue, Ticket};

/// Serves one client until its input ends, its output is closed, or the server shuts down.
///
/// At the end of the input, calls under way get a moment to finish and are then cancelled.
pub async fn serve_stdio<R, W>(server: &Server, reader: R, writer: W) -> io::Result<()>
where
    R: AsyncRead + Unpin + Send,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let (output, outgoings) = Output::new(server.limits().queue);
    let mut connection = Connection {
        server: server.clone(),
        output,
        calls: InFlight::new(server.limits().max_in_flight, CancellationToken::new()),
        queue: Queue::new(server.limits()),
        session: None,
        tasks: TaskTracker::new(),
    };
    let mut writing = tokio::spawn(outgoings.write_to(writer));
    let mut lines = Lines::new(reader, server.limits().max_line_bytes);
    let reading = async {
        while let Some(line) = lines.next().await? {
            connection.take(line).await;
        }
        Ok(())
    };
    let outcome = tokio::select! {
        biased;
        () = server.shutdown().cancelled() => Ok(()),
        // A client that reads no more is gone, whatever it may still write.
        written = &mut writing => written.unwrap_or_else(|error| Err(error.into())),
        read = reading => read,
    };
    let grace = match (&outcome, server.shutdown().is_cancelled()) {
        (Ok(()), false) => server.limits().input_end_grace,
        (Ok(()), true) => server.limits().shutdown_grace,
        (Err(_), _) => std::time::Duration::ZERO,
    };
    connection.end(grace).await;
    if !writing.is_finished() {
        // All senders are gone: the writer ends when the rest is written, if anyone reads it.
        drop(tokio::time::timeout(server.limits().cancel_grace, &mut writing).await);
        writing.abort();
    }
    outcome
}

/// One client.
struct Connection {
    server: Server,
    output: Output,
    calls: Arc<InFlight>,
    /// Requests for which there is no place yet.
    queue: Queue,
    /// Open after `initialize`.
    session: Option<Arc<Session>>,
    tasks: TaskTracker,
}

impl Connection {
    async fn take(&mut self, line: Line<'_>) {
        let text = match line {
            Line::Text(text) => text,
            Line::TooLong(excerpt) => return self.refuse(&excerpt).await,
        };
        if text.trim_ascii_start().starts_with(b"[") && self.has_batches() {
            return self.take_batch(text).await;
        }
        match Message::from_json(text) {
            Ok(message) => self.take_message(message).await,
            Err(error) => self.answer(Id::of_message(text), Err(error)).await,
        }
    }

    /// Refuses a line that is too long, under its id if that can be known.
    async fn refuse(&self, excerpt: &Excerpt) {
        let limit = self.server.limits().max_line_bytes;
        let message = format!("a message is longer than the limit of {limit} bytes; send less");
        let Traits { id, has_method } = excerpt.traits();
        // What answers a request of ours is no request: its id is not the client's.
        let id = id.filter(|_| has_method);
        self.answer(id, Err(RpcError::new(code::INVALID_REQUEST, message))).await;
    }

    /// Only revision 2025-03-26 has batches.
    fn has_batches(&self) -> bool {
        self.session.as_ref().is_some_and(|session| session.client.version == Version::V2025_03_26)
    }

    async fn take_batch(&mut self, text: &[u8]) {
        match Message::batch_from_json(text, self.server.limits().max_batch) {
            Ok(messages) => {
                for message in messages {
                    match message {
                        Ok(message) => self.take_message(message).await,
                        Err(error) => self.answer(None, Err(error)).await,
                    }
                }
            }
            Err(error) => self.answer(None, Err(error)).await,
        }
    }

    async fn take_message(&mut self, message: Message) {
        match message {
            Message::Request(request) => self.take_request(request).await,
            Message::Notification(notification) => self.take_notification(notification).await,
            Message::Response(response) => {
                if let Some(session) = &self.session {
                    session.answered(response);
                }
            }
        }
    }

    async fn take_request(&mut self, request: Request) {
        match (request.method.as_str(), &self.session) {
            ("initialize", None) if handshake::opens_session(&request) => {
                return self.initialize(request).await;
            }
            // A client may see whether the server is there before it says who it is.
            ("ping", None) if request.params.is_none() => {
                return self.answer(Some(request.id), Ok(raw(&serde_json::json!({})))).await;
            }
            _ => {}
        }
        let meta = Meta::of(request.params.as_deref());
        let admitted = match Server::admit(request, meta, self.session.as_ref(), None) {
            Ok(admitted) => admitted,
            Err((id, error)) => return self.answer(Some(id), Err(error)).await,
        };
        let mut slot = match self.calls.enter(&admitted.request.id) {
            Ok(slot) => slot,
            Err(error) => return self.answer(Some(admitted.request.id), Err(error)).await,
        };
        if !needs_place(&admitted.request.method) || slot.take_place() {
            let (server, output) = (self.server.clone(), self.output.clone());
            self.tasks.spawn(async move { server.run(admitted, slot, &output).await });
            return;
        }
        match self.queue.join(&admitted.request) {
            Ok(ticket) => self.let_wait(admitted, slot, ticket),
            Err(error) => {
                drop(slot);
                self.answer(Some(admitted.request.id), Err(error)).await;
            }
        }
    }

    /// Runs a request as soon as there is a place for it. What comes after it is read meanwhile: it
    /// may be what a call under way waits for.
    fn let_wait(&self, admitted: Admitted, mut slot: Slot, ticket: Ticket) {
        let (server, output) = (self.server.clone(), self.output.clone());
        self.tasks.spawn(async move {
            let has_place = slot.wait_for_place().await;
            drop(ticket);
            if has_place {
                // Those who wait are many, and small as long as they do not run.
                return Box::pin(server.run(admitted, slot, &output)).await;
            }
            let error = RpcError::unavailable("the server ended before it came to the request");
            let response = Response { id: Some(admitted.request.id), outcome: Err(error) };
            output.answer(Answer { slot, response }).await;
        });
    }

    async fn initialize(&mut self, request: Request) {
        let outcome = match self.server.initialize(request.params.as_deref(), None, None).await {
            Ok((session, result)) => {
                self.session = Some(session);
                Ok(result)
            }
            Err(error) => Err(error),
        };
        self.answer(Some(request.id), outcome).await;
    }

    async fn take_notification(&mut self, notification: Notification) {
        match notification.method.as_str() {
            cancellation::METHOD => {
                if let Some(id) = cancellation::id_in(notification.params.as_deref()) {
                    self.calls.withdraw(&id);
                }
            }
            "notifications/initialized" => self.tell_changes(),
            _ => {
                if let Some(session) = &self.session {
                    self.server.service().notified(&session.client, notification).await;
                }
            }
        }
    }

    /// Begins to tell the client of changes.
    fn tell_changes(&mut self) {
        let Some(session) = self.session.clone() else { return };
        // A second `initialized` finds the task there already.
        if !session.changes.begin_telling() {
            return;
        }
        let (output, shutdown) = (self.output.clone(), self.calls.ended());
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = shutdown.cancelled() => break,
                    change = session.changes.next() => {
                        output.send(Message::Notification(change.to_notification())).await;
                    }
                }
            }
        });
    }

    async fn answer(&self, id: Option<Id>, outcome: Result<Raw, RpcError>) {
        self.output.send(Message::Response(Response { id, outcome })).await;
    }

    /// Ends the calls under way, after they had `grace` to end by themselves.
    async fn end(self, grace: std::time::Duration) {
        if !grace.is_zero() {
            let over = async {
                self.queue.empty().await;
                self.calls.idle().await;
            };
            drop(tokio::time::timeout(grace, over).await);
        }
        self.calls.end();
        if let Some(session) = &self.session {
            session.abandon();
        }
        self.tasks.close();
        // Calls end within their grace. What then still waits is for a client that does not read,
        // and ends with the writer.
        let enough = self.server.limits().cancel_grace * 2;
        drop(tokio::time::timeout(enough, self.tasks.wait()).await);
        if let Some(session) = &self.session {
            self.server.service().closed(&session.client).await;
        }
    }
}

/// Whether a request counts among those under way. Whether the server is there is told at any time,
/// and those who listen have places of their own: they stay for long and cost little.
fn needs_place(method: &str) -> bool {
    !matches!(method, "ping" | "subscriptions/listen")
}
