//! Modern requests: each stands alone, and lives as long as its response.

use std::sync::Arc;

use axum::body::Body;
use bytes::Bytes;
use http::request::Parts;
use http::{Response, StatusCode};
use tokio::sync::mpsc;
use tokio_util::sync::DropGuard;

use super::respond::{self, Refused, answer, invalid, refuse};
use super::{Http, check, principal};
use crate::message::{Message, Request};
use crate::server::client::Meta;
use crate::server::dispatch::Server;
use crate::server::in_flight::{Slot, Wanted};
use crate::sse::Event;

pub(super) async fn request(
    http: &Arc<Http>,
    parts: &Parts,
    request: Request,
    meta: Meta,
) -> Result<Response<Body>, Refused> {
    let id = request.id.clone();
    let bad = |error| refuse(StatusCode::BAD_REQUEST, Some(id.clone()), error);
    check::same_version(&parts.headers, &meta).map_err(bad)?;
    let admitted =
        Server::admit(request, meta, None, principal(parts)).map_err(|(_, error)| bad(error))?;
    let (request, client) = (&admitted.request, &admitted.client);
    check::mirrors(&parts.headers, request, client, http.server.service()).map_err(bad)?;
    // Those who listen have places of their own: they stay for long and cost little.
    let place = match admitted.request.method.as_str() {
        "subscriptions/listen" => None,
        _ => Some(http.take_place(&id)?),
    };

    let wanted = Wanted::until(&http.stop);
    let gone = wanted.cancel.clone().drop_guard();
    let (outlet, mut messages) = mpsc::channel(http.server.limits().queue);
    let server = http.server.clone();
    tokio::spawn(async move {
        let slot = Slot::alone(wanted, place);
        server.run(admitted, slot, &outlet).await;
    });

    let first = match tokio::time::timeout(http.config.stream_after, messages.recv()).await {
        Ok(Some(Message::Response(response))) => {
            return Ok(answer(respond::modern_status(&response), response));
        }
        Ok(Some(message)) => Some(message),
        // Only a client can withdraw a request, and this one has no way to.
        Ok(None) => {
            return Err(invalid(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the request ended without an answer",
            ));
        }
        Err(_) => None,
    };
    let rest = Rest { first, messages, _gone: gone };
    let events =
        futures_util::stream::unfold(
            rest,
            |mut rest| async move { Some((rest.next().await?, rest)) },
        );
    Ok(respond::events(events, http.config.keep_alive))
}

/// The messages of a request on their way. When it is dropped, nobody wants the answer.
struct Rest {
    first: Option<Message>,
    messages: mpsc::Receiver<Message>,
    _gone: DropGuard,
}

impl Rest {
    async fn next(&mut self) -> Option<Bytes> {
        let message = match self.first.take() {
            Some(message) => message,
            None => self.messages.recv().await?,
        };
        Some(Event::message(message.to_json()).to_bytes().into())
    }
}
