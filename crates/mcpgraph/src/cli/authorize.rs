//! Bearer tokens on every request over HTTP.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use mcpgraph_access::Access;
use mcpgraph_diagnostics::codes;
use mcpgraph_mcp::server::Principal;
use serde_json::json;

struct Guarded {
    access: Arc<Access>,
    /// Where tokens count that are granted a part only: what is beside it shows everything.
    mcp: String,
    /// Whether what is beside it is a studio, which is for the person at this machine: a browser
    /// shows no tokens.
    has_studio: bool,
}

/// A router that, as soon as there is a token, only those reach who show one; with a studio, all of this machine reach what
/// is beside the endpoint `mcp`.
pub(super) fn guarded(
    router: Router,
    access: Arc<Access>,
    mcp: String,
    has_studio: bool,
) -> Router {
    let state = Arc::new(Guarded { access, mcp, has_studio });
    router.layer(middleware::from_fn_with_state(state, authorize))
}

async fn authorize(
    State(guarded): State<Arc<Guarded>>,
    mut request: Request,
    next: Next,
) -> Response {
    let is_beside = request.uri().path() != guarded.mcp;
    if is_beside && guarded.has_studio {
        return next.run(request).await;
    }
    if !guarded.access.asks() {
        return next.run(request).await;
    }
    let Some(secret) = bearer(request.headers()) else {
        return refused(StatusCode::UNAUTHORIZED, "show a token: `Authorization: Bearer …`");
    };
    let token = match guarded.access.identify(secret) {
        Ok(Some(token)) => token,
        Ok(None) => {
            return refused(StatusCode::UNAUTHORIZED, "the token is not known, or has ended");
        }
        Err(error) => {
            tracing::error!(%error, "nobody is let in");
            return refused(StatusCode::SERVICE_UNAVAILABLE, "tokens cannot be checked now");
        }
    };
    if is_beside && !token.grant.is_everything() {
        return refused(StatusCode::FORBIDDEN, "the token is for a part of the tools only");
    }
    request.extensions_mut().insert(Principal(token.id.into()));
    next.run(request).await
}

/// The token of a request. One that names two shows none.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (all.next(), all.next()) else { return None };
    let (scheme, token) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn refused(status: StatusCode, why: &str) -> Response {
    let error = json!({ "error": { "code": codes::TOKEN_REFUSED.id(), "message": why } });
    let mut response = (status, error.to_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}
