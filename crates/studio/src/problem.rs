use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use mcpgraph_journal::JournalError;
use mcpgraph_runtime::Unclear;
use mcpgraph_value::{Map, Value};

/// Why a request was not answered as asked.
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Problem {
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { status: StatusCode::NOT_FOUND, code: "not_found", message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code: "invalid", message: message.into() }
    }

    pub(crate) fn conflict(message: impl Into<String>) -> Self {
        Self { status: StatusCode::CONFLICT, code: "conflict", message: message.into() }
    }

    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self { status: StatusCode::FORBIDDEN, code: "forbidden", message: message.into() }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self { status, code: "internal", message: message.into() }
    }

    /// Runs are not recorded, so there is nothing to read.
    pub(crate) fn no_history() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: "no_history",
            message: "runs are not recorded here; start the server without --no-history".to_owned(),
        }
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
        let error: Map =
            Map::from_iter([("code", Value::from(self.code)), ("message", self.message.into())]);
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
}
