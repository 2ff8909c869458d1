use std::sync::Arc;
use std::time::Duration;

use super::{News, micros};
use crate::database::bound;
use crate::{Journal, JournalError};

/// How long a letter waits for the one it is for.
const KEPT: Duration = Duration::from_mins(15);

/// How often letters are looked for, should nobody say that they are there.
const LOOK: Duration = Duration::from_secs(1);

impl Journal {
    /// Leaves something for whichever process takes it: see [`Journal::take_letter`]. There is one
    /// letter for an address; a second is ignored. Meanwhile nobody else reads it.
    pub fn leave_letter(&self, address: &str, text: &str) -> Result<(), JournalError> {
        let news = News::Letter(address.into());
        let text = self.seal(text, address)?;
        self.alter(|connection| {
            let clock = connection.clock();
            let sql = format!(
                "INSERT INTO letters (address, text, left_at) VALUES (?1, ?2, {clock})
                 ON CONFLICT DO NOTHING"
            );
            connection.execute(&sql, bound![address, &text])?;
            let sql = format!("DELETE FROM letters WHERE {clock} - left_at >= ?1");
            connection.execute(&sql, bound![micros(KEPT)])?;
            Ok(connection.announce(&news)?)
        })?;
        self.shared.news.announce(&news);
        Ok(())
    }

    /// Takes what was left for an address.
    pub fn take_letter(&self, address: &str) -> Result<Option<String>, JournalError> {
        let taken: Option<String> = self.alter(|connection| {
            let sql = "DELETE FROM letters WHERE address = ?1 RETURNING text";
            Ok(connection.value(sql, bound![address])?)
        })?;
        taken.map_or(Ok(None), |text| self.unseal(&text, address))
    }

    /// Takes what was left for all addresses that begin like this, in the order of addresses.
    pub fn take_letters(&self, prefix: &str) -> Result<Vec<(String, String)>, JournalError> {
        let taken: Vec<(String, String)> = self.alter(|connection| {
            let sql = "DELETE FROM letters WHERE substr(address, 1, length(?1)) = ?1
                 RETURNING address, text";
            Ok(connection.all(sql, bound![prefix], |row| Ok((row.get(0)?, row.get(1)?)))?)
        })?;
        let mut letters = Vec::new();
        for (address, text) in taken {
            letters.extend(self.unseal(&text, &address)?.map(|text| (address, text)));
        }
        letters.sort_unstable();
        Ok(letters)
    }

    /// Waits for what is left for an address, and takes it.
    pub async fn letter(self: &Arc<Self>, address: &str) -> String {
        let wanted = address.to_owned();
        self.post(|of| of == address, move |journal| journal.take_letter(&wanted)).await
    }

    /// Waits for something that is left for addresses which begin like this, and takes it.
    pub async fn letters(self: &Arc<Self>, prefix: &str) -> Vec<(String, String)> {
        let wanted = prefix.to_owned();
        let take = move |journal: &Self| {
            let letters = journal.take_letters(&wanted)?;
            Ok((!letters.is_empty()).then_some(letters))
        };
        self.post(|of| of.starts_with(prefix), take).await
    }

    /// Looks for letters until there are some.
    async fn post<T: Send + 'static>(
        self: &Arc<Self>,
        is_wanted: impl Fn(&str) -> bool,
        take: impl Fn(&Self) -> Result<Option<T>, JournalError> + Clone + Send + 'static,
    ) -> T {
        let mut news = self.news();
        loop {
            let (journal, take) = (Arc::clone(self), take.clone());
            match tokio::task::spawn_blocking(move || take(&journal)).await {
                Ok(Ok(Some(taken))) => return taken,
                Ok(Ok(None)) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a letter is looked for again"),
                Err(error) => tracing::debug!(%error, "a letter is looked for again"),
            }
            let told = async {
                loop {
                    match news.next().await {
                        Some(News::Letter(of)) if is_wanted(&of) => break,
                        Some(News::Anything) => break,
                        Some(_) => {}
                        None => std::future::pending().await,
                    }
                }
            };
            // Whether it was said or is only looked for, the store knows.
            drop(tokio::time::timeout(LOOK, told).await);
        }
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
