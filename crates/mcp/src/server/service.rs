//! What a product does behind the protocol.

use std::sync::Arc;

use async_trait::async_trait;
use http::Extensions;
use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::client::{Client, Meta};
use super::peer::CallPeer;
use crate::message::{Id, Notification, Raw, RpcError};
use crate::mirror::HeaderParameter;
use crate::version::Version;

/// The product's logic, behind any transport and for both eras.
///
/// The core answers `initialize`, `server/discover`, `ping` and `subscriptions/listen` by itself;
/// every other request comes here.
#[async_trait]
pub trait Service: Send + Sync + 'static {
    /// Answers a request.
    ///
    /// The result is passed on as it is. The core adds what the modern era wants and the result
    /// lacks (`resultType`, `ttlMs` and `cacheScope` on lists and reads, the server's name in
    /// `_meta`), and takes out what a legacy client does not know.
    ///
    /// When `call.cancel` fires, the answer is no longer wanted; the future is dropped if it does
    /// not end within [`Limits::cancel_grace`](super::Limits::cancel_grace).
    async fn call(&self, call: Call) -> Result<Raw, RpcError>;

    /// The server's name, version and the like, as in `serverInfo`. It is asked for with every
    /// answer and may change between two.
    fn info(&self) -> Arc<RawValue>;

    /// What the server can do, as this client shall see it.
    async fn describe(&self, client: &Client) -> Description;

    /// Takes note of a client's notification.
    ///
    /// The core takes `notifications/cancelled` and `notifications/initialized` itself. The next
    /// message of the client is read when this returns, so it must be quick.
    async fn notified(&self, client: &Arc<Client>, notification: Notification) {
        let _ = (client, notification);
    }

    /// A legacy session has ended: its client went away, deleted it, or left it idle.
    async fn closed(&self, client: &Arc<Client>) {
        let _ = client;
    }

    /// The parameters of a tool that the modern HTTP transport repeats in headers, by the
    /// `x-mcp-header` annotations of the tool's input schema. None for a tool that is unknown, or
    /// is not there for this client.
    ///
    /// [`mirror::header_parameters`](crate::mirror::header_parameters) finds them in a schema.
    fn header_parameters(&self, client: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        let _ = (client, tool);
        None
    }

    /// Whether a modern client that listens may be told of changes of a resource. A legacy client
    /// asks with `resources/subscribe`, which comes to [`Self::call`].
    async fn may_watch(&self, client: &Client, uri: &str) -> bool {
        let _ = (client, uri);
        true
    }
}

/// A service around another one: it sees the requests, and is the other one in all else.
#[async_trait]
pub trait Around: Send + Sync + 'static {
    /// The other one.
    fn inner(&self) -> &Arc<dyn Service>;

    /// Answers a request, mostly by asking the other one: see [`Service::call`].
    async fn pass(&self, call: Call) -> Result<Raw, RpcError>;
}

#[async_trait]
impl<T: Around> Service for T {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        self.pass(call).await
    }

    fn info(&self) -> Arc<RawValue> {
        self.inner().info()
    }

    async fn describe(&self, client: &Client) -> Description {
        self.inner().describe(client).await
    }

    async fn notified(&self, client: &Arc<Client>, notification: Notification) {
        self.inner().notified(client, notification).await;
    }

    async fn closed(&self, client: &Arc<Client>) {
        self.inner().closed(client).await;
    }

    fn header_parameters(&self, client: &Client, tool: &str) -> Option<Arc<[HeaderParameter]>> {
        self.inner().header_parameters(client, tool)
    }

    async fn may_watch(&self, client: &Client, uri: &str) -> bool {
        self.inner().may_watch(client, uri).await
    }
}

/// One request on its way through the service.
#[derive(Debug)]
pub struct Call {
    /// Unique among the client's requests under way; for logs.
    pub id: Id,
    /// Such as `tools/call`.
    pub method: String,
    /// An object, or nothing.
    pub params: Option<Raw>,
    /// The `_meta` of the parameters.
    pub meta: Meta,
    /// Who asks.
    pub client: Arc<Client>,
    /// Fires when the client no longer wants the answer.
    pub cancel: CancellationToken,
    /// The way back to the client while the call is under way.
    pub peer: CallPeer,
    /// What the layers of a service tell each other about it.
    pub extensions: Extensions,
}

/// What `initialize` and `server/discover` tell about the server.
#[derive(Clone, Debug)]
pub struct Description {
    /// The object of the server's capabilities.
    pub capabilities: Raw,
    /// How to use the server, for models.
    pub instructions: Option<String>,
}

impl Call {
    /// The same call with a token of its own, for what is done on its behalf. The parameters are
    /// left out: whoever does that says what is asked for.
    #[must_use]
    pub fn inside(&self, cancel: CancellationToken) -> Self {
        Self {
            id: self.id.clone(),
            method: self.method.clone(),
            params: None,
            meta: self.meta.clone(),
            client: Arc::clone(&self.client),
            cancel,
            peer: self.peer.clone(),
            extensions: self.extensions.clone(),
        }
    }

    /// The protocol version the request is made in.
    pub fn version(&self) -> Version {
        self.client.version
    }
}
