use super::{DatabaseError, Result};

/// A row that a statement gave.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r tokio_postgres::Row),
}

/// What a column can be read as.
pub(crate) trait Column: Sized {
    fn read(row: &Row<'_>, column: usize) -> Result<Self>;
}

impl Row<'_> {
    /// A column, by its place.
    pub(crate) fn get<T: Column>(&self, column: usize) -> Result<T> {
        T::read(self, column)
    }

    /// A text, where it is.
    pub(crate) fn text(&self, column: usize) -> Result<&str> {
        match self {
            Self::Sqlite(row) => {
                Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?)
            }
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }

    /// Bytes, where they are; a text is bytes, too.
    pub(crate) fn bytes(&self, column: usize) -> Result<&[u8]> {
        match self {
            Self::Sqlite(row) => {
                Ok(row.get_ref(column)?.as_bytes().map_err(rusqlite::Error::from)?)
            }
            Self::Postgres(row) => Ok(row.try_get(column)?),
        }
    }
}

/// Types that both clients can read by themselves.
macro_rules! columns {
    ($($type:ty),*) => {$(
        impl Column for $type {
            fn read(row: &Row<'_>, column: usize) -> Result<Self> {
                match row {
                    Row::Sqlite(row) => Ok(row.get(column)?),
                    Row::Postgres(row) => Ok(row.try_get(column)?),
                }
            }
        }
    )*};
}
columns!(i64, String, Vec<u8>, Option<i64>, Option<String>, Option<Vec<u8>>);

impl Column for bool {
    /// Neither has to have a type of its own for it.
    fn read(row: &Row<'_>, column: usize) -> Result<Self> {
        Ok(i64::read(row, column)? != 0)
    }
}

impl Column for [u8; 16] {
    fn read(row: &Row<'_>, column: usize) -> Result<Self> {
        row.bytes(column)?.try_into().map_err(|_| not_an_id(column))
    }
}

impl Column for Option<[u8; 16]> {
    fn read(row: &Row<'_>, column: usize) -> Result<Self> {
        let bytes: Option<Vec<u8>> = row.get(column)?;
        bytes.map(|bytes| bytes.try_into().map_err(|_| not_an_id(column))).transpose()
    }
}

fn not_an_id(column: usize) -> DatabaseError {
    DatabaseError::Row(format!("column {column} has not 16 bytes"))
}
