use std::time::Duration;

use super::micros;
use crate::database::{Connection, bound};
use crate::{Journal, JournalError};

/// After how long an amount is forgotten of which nothing is spent any more.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(2);

/// Whether something was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spent {
    /// It was.
    Yes,
    /// Nothing was: so much later it could be.
    Wait(Duration),
}

impl Journal {
    /// Spends something of an amount that several processes share, and that grows again as time
    /// passes: `cost` is how long it takes to grow back, `whole` how long all of it does.
    ///
    /// All that is kept is when nothing will be spent any more; a spending puts that off. One
    /// statement decides, whoever else asks at the same moment.
    pub fn spend(
        &self,
        name: &str,
        cost: Duration,
        whole: Duration,
    ) -> Result<Spent, JournalError> {
        self.alter(|connection| {
            let clock = connection.clock();
            let later =
                format!("CASE WHEN rates.until > {clock} THEN rates.until ELSE {clock} END");
            let sql = format!(
                "INSERT INTO rates (name, until) VALUES (?1, {clock} + CAST(?2 AS BIGINT))
                 ON CONFLICT (name) DO UPDATE SET until = {later} + CAST(?2 AS BIGINT)
                 WHERE {later} + CAST(?2 AS BIGINT) - {clock} <= CAST(?3 AS BIGINT)"
            );
            let (cost, whole) = (micros(cost), micros(whole));
            if connection.execute(&sql, bound![name, cost, whole])? > 0 {
                return Ok(Spent::Yes);
            }
            let sql = format!("SELECT until - {clock} FROM rates WHERE name = ?1");
            let left: i64 = connection.value(&sql, bound![name])?.unwrap_or_default();
            let wait = u64::try_from(left.saturating_add(cost).saturating_sub(whole));
            Ok(Spent::Wait(Duration::from_micros(wait.unwrap_or_default())))
        })
    }

    /// Forgets amounts of which nothing has been spent for long.
    pub fn forget_unspent(&self) -> Result<(), JournalError> {
        self.alter(|connection: &Connection| {
            let sql = format!("DELETE FROM rates WHERE until < {} - ?1", connection.clock());
            connection.execute(&sql, bound![micros(FORGOTTEN_AFTER)])?;
            Ok(())
        })
    }
}
