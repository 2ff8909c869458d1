use tokio_postgres::error::SqlState;

/// Why a database did not do something.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite failed.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
    /// PostgreSQL failed.
    #[error("PostgreSQL: {}", mcpgraph_postgres::reason(.0))]
    Postgres(tokio_postgres::Error),
    /// PostgreSQL cannot be reached.
    #[error("{place} cannot be reached: {why}")]
    Unreachable {
        /// Which database.
        place: String,
        /// Why not.
        why: String,
    },
    /// PostgreSQL did not answer in time.
    #[error("PostgreSQL did not answer within {0} seconds")]
    Late(u64),
    /// The URL of a database cannot be used.
    #[error("{0}")]
    Url(String),
    /// The database was written by a newer version.
    #[error(
        "the database has format {found}, and this version of mcpgraph knows {known}: use a newer \
         mcpgraph, or another database"
    )]
    Newer {
        /// Its format.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// A row is not what was expected.
    #[error("a row is not as it should be: {0}")]
    Row(String),
}

// What they say is part of what these say: they are not told of as causes once more.
impl From<rusqlite::Error> for DatabaseError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<tokio_postgres::Error> for DatabaseError {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl DatabaseError {
    /// Whether there was something already that may be there only once.
    pub(crate) fn is_conflict(&self) -> bool {
        match self {
            Self::Postgres(error) => error.code() == Some(&SqlState::UNIQUE_VIOLATION),
            Self::Sqlite(error) => {
                error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
            }
            _ => false,
        }
    }

    /// Whether SQLite may not write where it has to.
    pub(crate) fn is_not_allowed(&self) -> bool {
        use rusqlite::ErrorCode::{CannotOpen, ReadOnly};
        matches!(self, Self::Sqlite(error)
            if matches!(error.sqlite_error_code(), Some(CannotOpen | ReadOnly)))
    }

    /// Whether there is no room for what is to be written.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Postgres(error) => error.code() == Some(&SqlState::DISK_FULL),
            Self::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull),
            _ => false,
        }
    }

    /// Whether SQLite is busy with another process.
    pub(crate) fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        matches!(self, Self::Sqlite(error)
            if matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked)))
    }
}
