//! What every way to a server can do.

use async_trait::async_trait;
use tokio::sync::watch;

use super::ClientError;
use crate::message::{Message, Request};
use crate::version::Version;

/// A way to a server. What it receives it gives to the connection's
/// [`Calls`](super::calls::Calls).
#[async_trait]
pub(super) trait Transport: Send + Sync + 'static {
    /// Sends a request.
    ///
    /// Where answers come over a shared stream it returns as soon as the request is on its way.
    /// Where each request has a stream of its own it returns when that stream has ended; dropping
    /// it closes the stream.
    async fn exchange(&self, call: u64, request: Request) -> Result<(), ClientError>;

    /// Sends a notification or an answer.
    async fn send(&self, message: Message) -> Result<(), ClientError>;

    /// Tells the server, if this transport has to, that the answer to `call` is no longer wanted.
    fn cancel(&self, call: u64, reason: &str);

    /// The handshake is over: streams that belong to the connection can begin.
    fn established(&self, version: Version);

    /// Reports when the server has forgotten what it was told, because a new session has taken the
    /// place of the old one.
    fn renewals(&self) -> watch::Receiver<u64> {
        watch::channel(0).1
    }

    /// Ends it in good order. Pending requests have failed before.
    async fn close(&self);

    /// The end of what the server's process wrote to stderr.
    fn stderr(&self) -> String {
        String::new()
    }
}
