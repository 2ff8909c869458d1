use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

use crate::database::Bound;

/// A value that is sent later.
#[derive(Debug)]
pub(super) enum Owned {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&Bound<'_>> for Owned {
    fn from(bound: &Bound<'_>) -> Self {
        match *bound {
            Bound::Null => Self::Null,
            Bound::Integer(number) => Self::Integer(number),
            // PostgreSQL keeps every character but one.
            Bound::Text(text) => Self::Text(text.replace('\0', "\u{fffd}")),
            Bound::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
        }
    }
}

impl Owned {
    /// About what it holds.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Null | Self::Integer(_) => 8,
            Self::Text(text) => text.len(),
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

impl ToSql for Owned {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => number.to_sql(kind, out),
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(kind: &Type) -> bool {
        [Type::INT8, Type::TEXT, Type::BYTEA].contains(kind)
    }

    to_sql_checked!();
}
