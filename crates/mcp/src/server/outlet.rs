//! Where messages to a client go.

use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc;

use super::in_flight::Slot;
use crate::message::{Message, Response};

/// A way to the client that keeps messages in order and makes the sender wait when it is full.
#[async_trait]
pub(crate) trait Outlet: Send + Sync {
    /// Sends one message. Where the client is gone for good it is dropped.
    async fn send(&self, message: Message);

    /// Sends an answer as soon as it may be sent. Its request is under way until then.
    async fn answer(&self, answer: Answer) {
        if let Some(after) = answer.after() {
            after.await;
        }
        let (message, _place) = answer.open();
        if let Some(message) = message {
            self.send(message).await;
        }
    }

    /// Lets the client come back for the rest after `retry`, where the transport can do that.
    async fn pause(&self, retry: Duration) {
        let _ = retry;
    }
}

/// The queue of a writer.
#[async_trait]
impl Outlet for mpsc::Sender<Message> {
    async fn send(&self, message: Message) {
        // The only error is that the reader is gone, and with it the client.
        drop(mpsc::Sender::send(self, message).await);
    }
}

/// The answer to a request that is under way until it is sent.
pub(crate) struct Answer {
    pub(crate) slot: Slot,
    pub(crate) response: Response,
}

impl Answer {
    /// What it has to wait for, if there is something.
    pub(crate) fn after(&self) -> Option<BoxFuture<'static, ()>> {
        self.slot.wanted.take_after()
    }

    /// Frees the id of the request. What is to be sent, if it is wanted, and the place to be kept
    /// until it is on its way.
    pub(crate) fn open(self) -> (Option<Message>, Slot) {
        let Self { mut slot, response } = self;
        slot.free_id();
        let message = (!slot.wanted.is_withdrawn()).then_some(Message::Response(response));
        (message, slot)
    }
}
