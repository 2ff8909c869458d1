use crate::database::{Connection, bound};
use crate::{Journal, JournalError};

/// What is done by one process at a time ends when this is dropped.
pub struct Alone {
    /// Its end gives the lock back, whatever becomes of the process.
    _connection: Connection,
}

impl Journal {
    /// Begins something of this number that only one process may do at a time; none while another
    /// does it. In a store that is not shared nobody has to be kept from anything.
    ///
    /// Whoever waits asks again instead of waiting in the database: a statement that waits there
    /// would keep tables from being changed.
    pub fn alone(&self, what: i64) -> Result<Option<Alone>, JournalError> {
        let connection = self.store.open_reader()?;
        if !self.store.is_shared() {
            return Ok(Some(Alone { _connection: connection }));
        }
        let sql = "SELECT CASE WHEN pg_try_advisory_lock(?1) THEN 1 ELSE 0 END::BIGINT";
        let is_taken = connection.value::<i64>(sql, bound![what])? == Some(1);
        Ok(is_taken.then_some(Alone { _connection: connection }))
    }
}
