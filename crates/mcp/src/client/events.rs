//! What a server says besides answers.

use async_trait::async_trait;
use tokio::sync::oneshot;

use crate::message::{Raw, RpcError};

/// What happens to one request before its answer.
///
/// All events of a request are in its channel before its answer is given back, in the order of the
/// wire. The channel is the caller's and bounded: if it stays full for
/// [`limits::EVENT_PATIENCE`](super::limits::EVENT_PATIENCE), progress and log messages that do
/// not fit are dropped, and the server's requests are refused.
#[derive(Debug)]
pub enum CallEvent {
    /// The parameters of a `notifications/progress`.
    Progress(Raw),
    /// The parameters of a `notifications/message`.
    Log(Raw),
    /// The server asks something, such as `sampling/createMessage`.
    ServerRequest {
        /// What is asked.
        method: String,
        /// With what.
        params: Option<Raw>,
        /// Where the answer goes. Dropping it refuses the request; it is closed when the server
        /// takes the request back.
        reply: Reply,
    },
}

/// Takes the answer to a request of the server.
pub type Reply = oneshot::Sender<Result<Raw, RpcError>>;

/// What happens on a connection and belongs to no request.
#[derive(Clone, Debug)]
pub enum Event {
    /// A list of the server is not what it was.
    ListChanged(List),
    /// The parameters of a `notifications/resources/updated`.
    ResourceUpdated(Raw),
    /// The parameters of a `notifications/message`.
    Log(Raw),
    /// Any other notification.
    Other {
        /// Its method.
        method: String,
        /// Its parameters.
        params: Option<Raw>,
    },
}

/// The lists of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `tools/list`
    Tools,
    /// `resources/list` and `resources/templates/list`
    Resources,
    /// `prompts/list`
    Prompts,
}

/// Takes what belongs to no request of ours.
#[async_trait]
pub trait Events: Send + Sync + 'static {
    /// Something happened. Called by the task that reads: it must not wait for anything.
    fn event(&self, event: Event);

    /// The server asks something that no request of ours led to, or that cannot be tied to one.
    /// `ping` is answered without it.
    async fn request(&self, method: &str, params: Option<Raw>) -> Result<Raw, RpcError> {
        drop(params);
        Err(RpcError::method_not_found(method))
    }
}

/// Ignores every event and refuses every request.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEvents;

#[async_trait]
impl Events for NoEvents {
    fn event(&self, _: Event) {}
}
