//! SQL: statements built from arguments, statements with bound parameters, and the check that both
//! are what they should be.

mod bind;
mod build;
mod check;
mod functions;
mod part;
mod words;

use sqlparser::dialect::{Dialect as Grammar, PostgreSqlDialect, SQLiteDialect};

pub(crate) use self::bind::SqlTemplate;
pub(crate) use self::build::{Built, ONLY_EDGELAKE, build};
pub(crate) use self::check::{BuiltRules, Rules, check};
pub(crate) use self::words::is_reserved;

/// Which SQL is spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    EdgeLake,
    Sqlite,
    Postgres,
}

impl Dialect {
    fn grammar(self) -> &'static dyn Grammar {
        match self {
            Self::Sqlite => &SQLiteDialect {},
            // EdgeLake hands statements to either; what both understand is what it takes.
            Self::EdgeLake | Self::Postgres => &PostgreSqlDialect {},
        }
    }

    /// The quotes of identifiers. EdgeLake has the whole statement in double quotes, so that
    /// identifiers go without.
    fn quote(self) -> Option<char> {
        match self {
            Self::EdgeLake => None,
            Self::Sqlite | Self::Postgres => Some('"'),
        }
    }

    /// The place of a parameter, counted from 1.
    fn parameter(self, number: usize) -> String {
        match self {
            Self::Sqlite => format!("?{number}"),
            Self::Postgres | Self::EdgeLake => format!("${number}"),
        }
    }
}
