//! What requests say in their paths and queries.
//!
//! Axum answers in plain text, or not at all, to what it cannot read or does not know. Here it is
//! said as every other problem is.

use std::error::Error;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;

use crate::api::Shared;
use crate::problem::Problem;

/// The query of a request.
pub(crate) struct Query<T>(pub(crate) T);

/// What a path names.
pub(crate) struct Path<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::<T>::from_request_parts(parts, state).await;
        let axum::extract::Query(query) = read.map_err(|error| {
            Problem::invalid(format!("the query is not understood: {}", reason(&error)))
        })?;
        Ok(Self(query))
    }
}

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Path::<T>::from_request_parts(parts, state).await;
        let axum::extract::Path(path) = read.map_err(|error| {
            Problem::invalid(format!("the path is not understood: {}", reason(&error)))
        })?;
        Ok(Self(path))
    }
}

/// Why something could not be read, without the words of the layers around it.
fn reason(error: &dyn Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

/// The answer to a path under `/api` that there is not.
pub(crate) async fn nothing_there(State(shared): State<Arc<Shared>>, request: Request) -> Problem {
    let path = request.uri().path();
    // Somebody who looks for the paths of the studio should hear why they are not there.
    let hint = match shared.studio.workshop {
        Some(_) => "",
        None => "; graphs and procedures are only there where the studio is: `--studio`",
    };
    Problem::not_found(format!("there is nothing at `{path}`{hint}"))
}

/// The answer to a method that a path does not have. Axum names those it has in `Allow`.
pub(crate) async fn wrong_method(request: Request) -> Problem {
    let (method, path) = (request.method(), request.uri().path());
    let message =
        format!("`{path}` cannot be asked with {method}; `Allow` names the methods it has");
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message)
}
