use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::RunId;

/// A request that was answered, as the log of requests keeps it.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// When it came.
    pub at: SystemTime,
    /// How long the answer took.
    pub duration: Duration,
    /// Such as `tools/call`.
    pub method: Arc<str>,
    /// The tool, prompt or resource it is about.
    pub name: Option<Arc<str>>,
    /// The upstream server that was asked.
    pub server: Option<Arc<str>>,
    /// How it ended.
    pub status: RequestStatus,
    /// The code of the protocol error it was answered with.
    pub code: Option<i64>,
    /// Who asked, where tokens are asked for.
    pub token: Option<RequestToken>,
    /// The name by which the client introduced itself.
    pub client: Option<Arc<str>>,
    /// The run it became; with workflows, that of the outermost.
    pub run: Option<RunId>,
}

/// The token that a request showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestToken {
    /// What tells it apart.
    pub id: Arc<str>,
    /// What people call it; none if it was revoked meanwhile.
    pub name: Option<Arc<str>>,
}

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestStatus {
    /// With a result.
    Ok,
    /// With a result that says that the tool failed.
    ToolError,
    /// With a protocol error.
    Error,
    /// The client went away or no longer wanted it.
    Cancelled,
}

/// A request in the log.
#[derive(Clone, Debug, PartialEq)]
pub struct KeptRequest {
    /// Its number: later ones have greater ones.
    pub no: u64,
    /// The request.
    pub request: Request,
}

/// Which requests are wanted: those that everything given fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestFilter {
    /// Of the token with this id or name.
    pub token: Option<String>,
    /// With this method.
    pub method: Option<String>,
    /// About a tool, prompt or resource with such a name; `*` is any text, `?` one character.
    pub name: Option<String>,
    /// That this upstream server was asked.
    pub server: Option<String>,
    /// That ended so.
    pub status: Option<RequestStatus>,
    /// That came then or later.
    pub since: Option<SystemTime>,
    /// That came before that.
    pub until: Option<SystemTime>,
    /// That took longer.
    pub slower_than: Option<Duration>,
    /// How many at most.
    pub limit: usize,
    /// Before the one with this number: the cursor of the page before.
    pub before: Option<u64>,
}

/// Requests, the newest first.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestListing {
    /// The requests.
    pub requests: Vec<KeptRequest>,
    /// There may be more: [`RequestFilter::before`] for the next page.
    pub next: Option<u64>,
}

impl Default for RequestFilter {
    fn default() -> Self {
        Self {
            token: None,
            method: None,
            name: None,
            server: None,
            status: None,
            since: None,
            until: None,
            slower_than: None,
            limit: 100,
            before: None,
        }
    }
}

impl RequestStatus {
    /// Every status.
    pub const ALL: [Self; 4] = [Self::Ok, Self::ToolError, Self::Error, Self::Cancelled];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::ToolError => "tool-error",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}
