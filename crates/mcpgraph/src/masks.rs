//! What records and traces of runs must not show.

use std::collections::BTreeSet;

use mcpgraph_config::model::{BackendDef, GraphFile, ServerDef};
use mcpgraph_journal::Redaction;
use mcpgraph_runtime::Instruments;
use parking_lot::Mutex;

/// The secrets and field names of every version of the files since the program began: a run of an
/// older version may still be under way.
#[derive(Default)]
pub(crate) struct Masks {
    known: Mutex<(BTreeSet<String>, BTreeSet<String>)>,
}

impl Masks {
    /// Masks what a file says from now on.
    pub(crate) fn add(&self, file: &GraphFile, instruments: &Instruments) {
        let mut known = self.known.lock();
        let servers = file.servers.iter().flat_map(ServerDef::masked);
        let masked = servers.chain(file.backends.iter().flat_map(BackendDef::masked));
        known.0.extend(masked.map(str::to_owned));
        known.1.extend(file.redact.iter().map(ToString::to_string));
        instruments.set_redaction(&Redaction {
            secrets: known.0.iter().cloned().collect(),
            fields: known.1.iter().cloned().collect(),
        });
    }
}
