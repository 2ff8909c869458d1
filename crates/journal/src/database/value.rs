use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, ValueRef};

use crate::{Digest, RunId};

/// A value for a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// Values for the placeholders of a statement, in their order.
macro_rules! bound {
    ($($value:expr),* $(,)?) => {
        &[$($crate::database::Bound::from($value)),*][..]
    };
}
pub(crate) use bound;

impl From<i64> for Bound<'_> {
    fn from(number: i64) -> Self {
        Self::Integer(number)
    }
}

impl From<u64> for Bound<'_> {
    /// What is larger than anything that is counted here stays that.
    fn from(number: u64) -> Self {
        Self::Integer(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Bound<'_> {
    fn from(number: usize) -> Self {
        Self::from(number as u64)
    }
}

impl From<bool> for Bound<'_> {
    fn from(is: bool) -> Self {
        Self::Integer(is.into())
    }
}

impl<'a> From<&'a str> for Bound<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a String> for Bound<'a> {
    fn from(text: &'a String) -> Self {
        Self::Text(text)
    }
}

impl<'a> From<&'a [u8]> for Bound<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a [u8; 16]> for Bound<'a> {
    fn from(bytes: &'a [u8; 16]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a RunId> for Bound<'a> {
    fn from(id: &'a RunId) -> Self {
        Self::Bytes(id.as_bytes())
    }
}

impl<'a> From<&'a Digest> for Bound<'a> {
    fn from(digest: &'a Digest) -> Self {
        Self::Bytes(digest.as_bytes())
    }
}

impl<'a, T: Into<Bound<'a>>> From<Option<T>> for Bound<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl ToSql for Bound<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}
