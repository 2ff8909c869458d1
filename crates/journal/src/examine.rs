//! Whether a store does what it is for.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Journal, JournalError, RunId};

/// What was found out about a store that works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Which database it is, with its version.
    pub database: String,
    /// How far its clock is from that of this machine, in either direction.
    pub clock_apart: Duration,
    /// How many connections all its clients may have together, where that is limited.
    pub connections: Option<u64>,
}

impl Journal {
    /// Writes something, reads it back and looks at the clock.
    pub fn examine(&self) -> Result<Examined, JournalError> {
        let name = format!("examined {}", RunId::new());
        self.leave_letter(&name, &name)?;
        if self.take_letter(&name)?.as_deref() != Some(&name) {
            return Err(JournalError::Damaged("what was written is not what is read".to_owned()));
        }
        self.changing.with(&self.store, |connection| {
            let database = connection.value::<String>(connection.version(), &[])?;
            let before = SystemTime::now();
            let sql = format!("SELECT {}", connection.clock());
            let clock = connection.value::<i64>(&sql, &[])?.unwrap_or_default();
            let after = SystemTime::now();
            let clock =
                UNIX_EPOCH + Duration::from_micros(u64::try_from(clock).unwrap_or_default());
            // It was read at some moment in between.
            let apart = match (before.duration_since(clock), clock.duration_since(after)) {
                (Ok(behind), _) => behind,
                (_, Ok(ahead)) => ahead,
                _ => Duration::ZERO,
            };
            let connections = match connection.most_connections() {
                Some(sql) => connection.value::<i64>(sql, &[])?.map(i64::unsigned_abs),
                None => None,
            };
            Ok(Examined { database: database.unwrap_or_default(), clock_apart: apart, connections })
        })
    }
}
