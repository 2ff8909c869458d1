//! What several processes have in common beside runs: conversations, sessions, tokens, how much of
//! rates is spent, the keys of seals, and messages from one process to another. What any of it means
//! is known to those who keep it.
//!
//! Changes are single statements, each true by itself, and go past the writer of runs. Times are those
//! of the database, so that the clocks of several machines do not matter.

mod alone;
mod keys;
mod letters;
mod news;
mod rates;
mod seals;
mod shelf;
mod tokens;

pub use alone::Alone;
pub use keys::SealKey;
pub(crate) use news::Announcing;
pub use news::{News, NewsReader};
pub use rates::Spent;
pub(crate) use seals::ReadSeals;
pub use seals::Seals;
pub use shelf::{Kept, Shelf, Shelved};
pub use tokens::KeptToken;

use std::time::Duration;

use crate::database::Connection;
use crate::{Journal, JournalError};

impl Journal {
    /// Changes something that is not a run, with a connection of its own.
    pub(crate) fn alter<T>(
        &self,
        body: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        self.changing.with(&self.store, body)
    }
}

/// A duration as the store counts it.
pub(crate) fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
