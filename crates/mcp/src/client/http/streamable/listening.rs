//! The stream on which a legacy server says what belongs to no request.

use std::sync::Weak;

use tokio::sync::watch;

use super::super::endpoint::Answer;
use super::super::event_stream::EventStream;
use super::super::place::{MAX_RESUMES, Place};
use super::super::session::Session;
use super::Streamable;

/// Reads what a legacy server sends outside of requests, for as long as it offers to.
pub(super) async fn listen(transport: Weak<Streamable>, mut sessions: watch::Receiver<Session>) {
    loop {
        let session = sessions.borrow_and_update().clone();
        let mut place = Place::default();
        while place.attempts <= MAX_RESUMES {
            // Only the endpoint is held while waiting: the connection may be dropped meanwhile.
            let Some(endpoint) = transport.upgrade().map(|me| me.endpoint.clone()) else { return };
            let headers = session.headers_after(place.last_event_id.as_deref());
            match endpoint.get(headers).await {
                Ok(Answer::Events(events)) => read_all(&transport, events, &mut place).await,
                // It does not offer the stream, or not to this session any more.
                Ok(Answer::Refused(refusal)) if refusal.status.is_client_error() => break,
                Ok(_) => break,
                Err(_) => {}
            }
            place.attempts += 1;
            tokio::time::sleep(place.pause() * place.attempts).await;
        }
        // Another session may be another matter.
        loop {
            if sessions.changed().await.is_err() {
                return;
            }
            if sessions.borrow().generation != session.generation {
                break;
            }
        }
    }
}

async fn read_all(transport: &Weak<Streamable>, mut events: Box<EventStream>, place: &mut Place) {
    while let Ok(Some(event)) = events.next().await {
        place.note(&event);
        let Some(me) = transport.upgrade() else { return };
        let Some(dynamic) = me.as_transport() else { return };
        me.calls.route_event(event, None, &dynamic).await;
    }
}
