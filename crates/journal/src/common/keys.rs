use std::fmt;
use std::time::Duration;

use super::{News, micros};
use crate::database::{Access, bound};
use crate::{Journal, JournalError};

/// The length of a key.
pub(super) const KEY_BYTES: usize = 32;

/// A key with which processes seal what they give to clients, so that any of them opens it again.
#[derive(Clone, PartialEq, Eq)]
pub struct SealKey {
    /// What tells it apart.
    pub no: i64,
    /// The key.
    pub key: [u8; KEY_BYTES],
    /// How long it has existed.
    pub age: Duration,
}

impl fmt::Debug for SealKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SealKey")
            .field("no", &self.no)
            .field("age", &self.age)
            .finish_non_exhaustive()
    }
}

impl Journal {
    /// The keys of seals, newest first. Where there is none, or the newest has existed for `renew`,
    /// `fresh` becomes one; those that have existed for `forget` are forgotten. Of several processes
    /// that ask at the same moment one makes the key, and the others are given it.
    pub fn seal_keys(
        &self,
        fresh: &[u8; KEY_BYTES],
        renew: Duration,
        forget: Duration,
    ) -> Result<Vec<SealKey>, JournalError> {
        let known = self.known_keys()?;
        let is_due = |known: &[SealKey]| {
            known.first().is_none_or(|newest| newest.age >= renew)
                || known.last().is_some_and(|oldest| oldest.age >= forget)
        };
        if !is_due(&known) {
            return Ok(known);
        }
        // Whoever may only read opens what was sealed with those there are.
        match self.renew_keys(fresh, renew, forget) {
            Err(_) if !known.is_empty() => Ok(known),
            renewed => renewed.and_then(|()| self.known_keys()),
        }
    }

    fn renew_keys(
        &self,
        fresh: &[u8; KEY_BYTES],
        renew: Duration,
        forget: Duration,
    ) -> Result<(), JournalError> {
        // That is rare, and no connection is kept for it.
        self.store.open_writer()?.transaction(Access::Write, |connection| {
            let clock = connection.clock();
            let made = connection.execute(
                &format!(
                    "INSERT INTO seal_keys (no, key, made)
                         SELECT (SELECT coalesce(max(no), 0) + 1 FROM seal_keys),
                             CAST(?1 AS {}), {clock}
                         WHERE NOT EXISTS (SELECT 1 FROM seal_keys WHERE {clock} - made < ?2)",
                    connection.bytes_type()
                ),
                bound![&fresh[..], micros(renew)],
            )?;
            connection.execute(
                &format!(
                    "DELETE FROM seal_keys WHERE {clock} - made >= ?1
                         AND no < (SELECT max(no) FROM seal_keys)"
                ),
                bound![micros(forget)],
            )?;
            if made > 0 {
                connection.announce(&News::SealKeys)?;
            }
            Ok::<_, JournalError>(())
        })
    }

    fn known_keys(&self) -> Result<Vec<SealKey>, JournalError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT no, key, {} - made FROM seal_keys ORDER BY no DESC",
                connection.clock()
            );
            let rows = connection.all(&sql, &[], |row| {
                Ok((row.get::<i64>(0)?, row.get::<Vec<u8>>(1)?, row.get::<i64>(2)?))
            })?;
            rows.into_iter()
                .map(|(no, key, age)| {
                    let age = Duration::from_micros(u64::try_from(age).unwrap_or_default());
                    let key = key.try_into().map_err(|_| {
                        JournalError::Damaged(format!("the key of seals {no} has another length"))
                    })?;
                    Ok(SealKey { no, key, age })
                })
                .collect()
        })
    }
}
