use std::time::Duration;

use super::{News, micros};
use crate::database::bound;
use crate::{Journal, JournalError};

/// How long a letter waits for the one it is for.
const KEPT: Duration = Duration::from_mins(15);

impl Journal {
    /// Leaves something for whichever process takes it: see [`Journal::take_letter`]. There is one
    /// letter for an address; a second is ignored.
    pub fn leave_letter(&self, address: &str, text: &str) -> Result<(), JournalError> {
        let news = News::Letter(address.into());
        self.alter(|connection| {
            let clock = connection.clock();
            let sql = format!(
                "INSERT INTO letters (address, text, left_at) VALUES (?1, ?2, {clock})
                 ON CONFLICT DO NOTHING"
            );
            connection.execute(&sql, bound![address, text])?;
            let sql = format!("DELETE FROM letters WHERE {clock} - left_at >= ?1");
            connection.execute(&sql, bound![micros(KEPT)])?;
            Ok(connection.announce(&news)?)
        })?;
        self.shared.news.announce(&news);
        Ok(())
    }

    /// Takes what was left for an address.
    pub fn take_letter(&self, address: &str) -> Result<Option<String>, JournalError> {
        self.alter(|connection| {
            let sql = "DELETE FROM letters WHERE address = ?1 RETURNING text";
            Ok(connection.value(sql, bound![address])?)
        })
    }

    /// Tells all processes of something that is kept nowhere, or was changed by
    /// [`Journal::reshelve`]. Who does not listen misses it.
    pub fn announce(&self, news: &News) -> Result<(), JournalError> {
        if !self.is_shared() {
            self.shared.news.announce(news);
            return Ok(());
        }
        // This process hears it from the database, as the others do.
        self.alter(|connection| Ok(connection.announce(news)?))
    }
}
