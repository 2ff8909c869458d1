use super::News;
use crate::database::{Access, Connection, bound};
use crate::{Journal, JournalError};

/// A token as it is kept: what it grants is in the document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptToken {
    /// What tells it apart.
    pub id: String,
    /// What people call it; no two have the same.
    pub name: String,
    /// JSON.
    pub document: String,
}

impl Journal {
    /// A number that is another one after every change of tokens, whichever process made it.
    pub fn tokens_version(&self) -> Result<i64, JournalError> {
        self.alter(|connection| {
            let sql = "SELECT value FROM counters WHERE name = 'tokens'";
            Ok(connection.value(sql, &[])?.unwrap_or_default())
        })
    }

    /// All tokens, in the order in which they were made.
    pub fn tokens(&self) -> Result<Vec<KeptToken>, JournalError> {
        self.alter(|connection| {
            let sql = "SELECT id, name, document FROM tokens ORDER BY made, id";
            Ok(connection.all(sql, &[], |row| {
                Ok(KeptToken { id: row.get(0)?, name: row.get(1)?, document: row.get(2)? })
            })?)
        })
    }

    /// Keeps a token; false if another has its id or its name.
    pub fn put_token(&self, token: &KeptToken) -> Result<bool, JournalError> {
        self.change_tokens(|connection| {
            let sql = format!(
                "INSERT INTO tokens (id, name, document, made) VALUES (?1, ?2, ?3, {})
                 ON CONFLICT DO NOTHING",
                connection.clock()
            );
            Ok(connection.execute(&sql, bound![&token.id, &token.name, &token.document])? > 0)
        })
    }

    /// Forgets the token with this id; false if there was none.
    pub fn remove_token(&self, id: &str) -> Result<bool, JournalError> {
        self.change_tokens(|connection| {
            Ok(connection.execute("DELETE FROM tokens WHERE id = ?1", bound![id])? > 0)
        })
    }

    fn change_tokens(
        &self,
        change: impl FnOnce(&Connection) -> Result<bool, JournalError>,
    ) -> Result<bool, JournalError> {
        let changed = self.alter(|connection| {
            connection.transaction(Access::Write, |connection| {
                let changed = change(connection)?;
                let sql = "UPDATE counters SET value = value + 1 WHERE name = 'tokens'";
                connection.execute(sql, &[])?;
                connection.announce(&News::Tokens)?;
                Ok(changed)
            })
        })?;
        self.shared.news.announce(&News::Tokens);
        Ok(changed)
    }
}
