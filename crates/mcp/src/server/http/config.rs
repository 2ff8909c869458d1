//! How the server is reached over HTTP.

use std::sync::Arc;
use std::time::Duration;

use crate::server::saved::SessionStore;

/// Settings of the HTTP transport. Limits are in [`Limits`](crate::server::Limits).
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// The path of the endpoint: `/mcp`.
    pub path: String,
    /// Values of `Host` that are served: a name with any port, or `name:port`; `*` for all.
    ///
    /// By default the names of this machine for itself, so that a page from elsewhere cannot
    /// reach the server by a name that it makes point here.
    pub allowed_hosts: Vec<String>,
    /// Values of `Origin` that are served, such as `https://example.com` or `http://localhost:*`
    /// for any port; `null`; `*` for all. A request without `Origin` is not from a browser.
    ///
    /// By default the pages of this machine.
    pub allowed_origins: Vec<String>,
    /// How long an answer is waited for before the response becomes a stream: 1 second.
    pub stream_after: Duration,
    /// How long a stream is silent before a comment is sent to keep it open: 15 seconds.
    pub keep_alive: Duration,
    /// How long a client waits before it comes back to a stream that broke: 3 seconds.
    pub retry: Duration,
    /// Where legacy sessions are kept that other processes serve too; by default they are known to
    /// this process only.
    pub sessions: Option<Arc<dyn SessionStore>>,
}

impl Default for HttpConfig {
    fn default() -> Self {
        let loopback = ["localhost", "127.0.0.1", "[::1]"];
        let origins = loopback
            .iter()
            .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
            .collect();
        Self {
            path: "/mcp".to_owned(),
            allowed_hosts: loopback.map(str::to_owned).into(),
            allowed_origins: origins,
            stream_after: Duration::from_secs(1),
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(3),
            sessions: None,
        }
    }
}
