//! The transport of 2024-11-05: a stream of events, which names the endpoint to post to.

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use http::HeaderMap;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::super::calls::Calls;
use super::super::connection::Link;
use super::super::transport::Transport;
use super::super::{ClientError, ClientOptions, CloseReason, HttpConfig};
use super::endpoint::{Answer, Endpoint};
use super::event_stream::EventStream;
use crate::cancellation;
use crate::message::{Id, Message, Request};
use crate::version::Version;

/// How long a cancellation may take to be told.
const FAREWELL: Duration = Duration::from_secs(3);

struct Sse {
    /// Where messages are posted.
    endpoint: Endpoint,
    shutdown: CancellationToken,
    me: Weak<Self>,
    _guard: DropGuard,
}

/// Opens the stream and waits for the endpoint it names.
pub(in super::super) async fn connect(
    config: &HttpConfig,
    options: &ClientOptions,
    calls: Arc<Calls>,
) -> Result<Link, ClientError> {
    let endpoint = Endpoint::new(config, options)?;
    let mut events = match endpoint.get(HeaderMap::new()).await? {
        Answer::Events(events) => events,
        Answer::Refused(refusal) => return Err(endpoint.refused(refusal)),
        Answer::Json(_) | Answer::Accepted => {
            return Err(ClientError::Protocol("it offers no stream of events".to_owned()));
        }
    };
    let endpoint = named_endpoint(&endpoint, &mut events).await?;
    let secrets = endpoint.secrets().clone();
    let shutdown = CancellationToken::new();
    let transport: Arc<Sse> = Arc::new_cyclic(|me| Sse {
        endpoint,
        shutdown: shutdown.clone(),
        me: me.clone(),
        _guard: shutdown.clone().drop_guard(),
    });
    let reading = read(events, calls.clone(), Arc::downgrade(&transport));
    tokio::spawn(async move { shutdown.run_until_cancelled(reading).await });
    Ok(Link { calls, transport, secrets })
}

/// The endpoint that the first event names; it must be of the same origin, because it gets the
/// same credentials.
async fn named_endpoint(
    endpoint: &Endpoint,
    events: &mut EventStream,
) -> Result<Endpoint, ClientError> {
    while let Some(event) = events.next_whole().await? {
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let url = endpoint
            .url()
            .join(event.data.trim())
            .map_err(|_| ClientError::Protocol("the endpoint it names is no URL".to_owned()))?;
        if url.origin() != endpoint.url().origin() {
            return Err(ClientError::Protocol(format!(
                "the endpoint it names is at {}, not at {}",
                url.origin().ascii_serialization(),
                endpoint.origin()
            )));
        }
        return Ok(endpoint.at(url));
    }
    Err(endpoint.broken("the stream ended before it named an endpoint"))
}

async fn read(mut events: Box<EventStream>, calls: Arc<Calls>, transport: Weak<Sse>) {
    let reason = loop {
        match events.next().await {
            Ok(Some(event)) => {
                let Some(transport) = transport.upgrade() else { return };
                let transport: Arc<dyn Transport> = transport;
                calls.route_event(event, None, &transport).await;
            }
            Ok(None) => break CloseReason::Broken("the server ended its stream".to_owned()),
            Err(error) => break CloseReason::Broken(error.to_string()),
        }
    };
    calls.close(reason);
}

#[async_trait]
impl Transport for Sse {
    async fn exchange(&self, _: u64, request: Request) -> Result<(), ClientError> {
        self.send(Message::Request(request)).await
    }

    async fn send(&self, message: Message) -> Result<(), ClientError> {
        match self.endpoint.post(&message, HeaderMap::new()).await {
            Ok(Answer::Refused(refusal)) => Err(self.endpoint.refused(refusal)),
            // What a server says to the post itself, often "Accepted" as text, means nothing.
            Ok(_) | Err(ClientError::Protocol(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn cancel(&self, call: u64, reason: &str) {
        let Some(me) = self.me.upgrade() else { return };
        let message = cancellation::message(&Id::number(call), reason);
        tokio::spawn(async move {
            drop(tokio::time::timeout(FAREWELL, me.send(message)).await);
        });
    }

    fn established(&self, _: Version) {}

    async fn close(&self) {
        self.shutdown.cancel();
    }
}
