//! How a PostgreSQL database is reached: what its URL asks for, and why it did not work.
//!
//! This crate owns what `sslmode` and `sslrootcert` mean and the words for errors of the client. It
//! must not know what is asked of the database, nor who asks.

mod tls;

use std::error::Error;

pub use tls::read;
pub use tokio_postgres_rustls::MakeRustlsConnect;

/// What the database said, or the innermost cause.
pub fn reason(error: &tokio_postgres::Error) -> String {
    if let Some(said) = error.as_db_error() {
        let more = said.detail().or_else(|| said.hint()).map(|more| format!(" ({more})"));
        return format!("{}{}", said.message(), more.unwrap_or_default());
    }
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}
