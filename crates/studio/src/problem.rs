use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderValue, StatusCode};
use mcpgraph_journal::JournalError;
use mcpgraph_runtime::Unclear;
use mcpgraph_value::{Map, Value};

/// Why a request was not answered as asked.
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// What is wrong in detail, and its name.
    detail: Option<(&'static str, Value)>,
}

impl Problem {
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "invalid", message)
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", message)
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", message)
    }

    /// The same problem, with what is wrong in detail.
    pub(crate) fn with(mut self, name: &'static str, detail: Value) -> Self {
        self.detail = Some((name, detail));
        self
    }

    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), detail: None }
    }

    /// The server is about to end.
    pub(crate) fn draining() -> Self {
        let message = "this server is about to end and takes no new runs; ask again";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "draining", message)
    }

    /// Runs are not recorded, so there is nothing to read.
    pub(crate) fn no_history() -> Self {
        let message = "runs are not recorded here; start the server without --no-history";
        Self::new(StatusCode::NOT_FOUND, "no_history", message)
    }
}

/// Any JSON answer that nobody keeps, with a status.
pub(crate) fn answer(status: StatusCode, value: &serde_json::Value) -> Response {
    let mut response = Response::new(Body::from(value.to_string()));
    *response.status_mut() = status;
    mark_json(&mut response);
    response
}

impl From<JournalError> for Problem {
    fn from(error: JournalError) -> Self {
        match error {
            JournalError::NoRun(_) | JournalError::NoStep { .. } => {
                Self::not_found(error.to_string())
            }
            JournalError::StillRunning(_) | JournalError::GoesOn(_) => {
                Self::conflict(format!("{error}; stop it first"))
            }
            error => {
                tracing::warn!(%error, "the record of runs could not be read");
                Self::internal(error.to_string())
            }
        }
    }
}

impl From<Unclear> for Problem {
    fn from(unclear: Unclear) -> Self {
        Self::invalid(unclear.to_string())
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut error: Map =
            Map::from_iter([("code", Value::from(self.code)), ("message", self.message.into())]);
        if let Some((name, detail)) = self.detail {
            error.insert(name, detail);
        }
        let mut response = json(&Map::from_iter([("error", error)]).into());
        *response.status_mut() = self.status;
        response
    }
}

/// A JSON answer that nobody keeps.
pub(crate) fn json(value: &Value) -> Response {
    let mut response = Response::new(Body::from(value.to_json()));
    mark_json(&mut response);
    response
}

fn mark_json(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
}
