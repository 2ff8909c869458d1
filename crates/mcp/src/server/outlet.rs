//! Where messages to a client go.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::message::Message;

/// A way to the client that keeps messages in order and makes the sender wait when it is full.
#[async_trait]
pub(crate) trait Outlet: Send + Sync {
    /// Sends one message. Where the client is gone for good it is dropped.
    async fn send(&self, message: Message);

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
