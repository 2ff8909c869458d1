//! What comes as server-sent events.

use std::sync::Arc;

use super::Calls;
use crate::client::transport::Transport;
use crate::sse::{Event, EventTooLong};

impl Calls {
    /// Routes what an event holds, or tells of one that was too long. Events of other types than
    /// messages hold nothing.
    pub(in crate::client) async fn route_event(
        self: &Arc<Self>,
        event: Result<Event, EventTooLong>,
        origin: Option<u64>,
        transport: &Arc<dyn Transport>,
    ) {
        match event {
            Ok(event) if event.is_message() && !event.data.is_empty() => {
                self.route_text(event.data.as_bytes(), origin, transport).await;
            }
            Err(EventTooLong { limit, event, data }) if event.is_message() => {
                self.too_large(&data, limit, origin);
            }
            Ok(_) | Err(_) => {}
        }
    }
}
