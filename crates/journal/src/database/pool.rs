use parking_lot::{Condvar, Mutex};

use super::{Connection, Store};
use crate::JournalError;

/// How many connections change something at once, beside the one that writes runs. Who finds all of
/// them busy waits: a database serves few connections better than many.
const MAX_CONNECTIONS: usize = 4;

/// Connections for changes that do not go through the writer of runs.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    /// How many are in use.
    busy: usize,
}

/// A place of the pool; it is free again when this is dropped.
struct Place<'a>(&'a Pool);

impl Pool {
    /// Does something with a connection that nobody else uses meanwhile.
    pub(crate) fn with<T>(
        &self,
        store: &Store,
        body: impl FnOnce(&Connection) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let mut state = self.state.lock();
        while state.busy >= MAX_CONNECTIONS {
            self.freed.wait(&mut state);
        }
        state.busy += 1;
        let idle = std::iter::from_fn(|| state.idle.pop()).find(|one| !one.is_closed());
        drop(state);
        let place = Place(self);
        let connection = match idle {
            Some(connection) => connection,
            None => store.open_writer()?,
        };
        let outcome = body(&connection);
        if !connection.is_closed() {
            self.state.lock().idle.push(connection);
        }
        drop(place);
        outcome
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.state.lock().busy -= 1;
        self.0.freed.notify_one();
    }
}
