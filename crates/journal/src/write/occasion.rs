//! What many runs have in common and is kept once for all of them: what ran, and who asked for it.
//!
//! The row of a run would be three times as long with it, and a longer row costs whoever writes it
//! and whoever reads many of them.

use std::collections::HashSet;
use std::sync::Arc;

use mcpgraph_value::Value;

use super::row::RowOf;
use crate::database::{Connection, Result, bound};
use crate::mask::Masker;
use crate::{Digest, Face};

/// How many are known in memory.
const MAX_KNOWN: usize = 32;

/// The occasions of the runs that were written last.
#[derive(Default)]
pub(super) struct Occasions {
    known: Vec<Occasion>,
    masked_by: Option<Arc<Masker>>,
}

/// Those that are in the store for sure, as long as a transaction lasts.
#[derive(Default)]
pub(super) struct Stored {
    keys: HashSet<Digest>,
    definitions: HashSet<Digest>,
    /// Mostly the next run has the same.
    latest: Option<Digest>,
}

/// What ran, and who asked for it.
struct Occasion {
    tool: String,
    digest: Digest,
    definition: Option<Arc<str>>,
    face: Face,
    client: Option<Arc<str>>,
    protocol: Option<Arc<str>>,
    principal: Option<Arc<str>>,
    /// What of it is kept.
    kept: Kept,
}

/// An occasion without its secrets.
struct Kept {
    /// Names it by what it says.
    key: Digest,
    /// The text of the definition, and what names that.
    definition: Option<(Digest, String)>,
    client: Option<String>,
    protocol: Option<String>,
}

impl Occasions {
    /// What names the occasion of a run, which is in the store from then on.
    pub(super) fn keep(
        &mut self,
        row: &RowOf<'_>,
        masker: &Arc<Masker>,
        connection: &Connection,
        stored: &mut Stored,
    ) -> Result<Digest> {
        let occasion = self.of(row, masker);
        let key = occasion.kept.key;
        if stored.latest != Some(key) && stored.keys.insert(key) {
            occasion.insert(connection, stored)?;
        }
        stored.latest = Some(key);
        Ok(key)
    }

    fn of(&mut self, row: &RowOf<'_>, masker: &Arc<Masker>) -> &Occasion {
        if !self.masked_by.as_ref().is_some_and(|by| Arc::ptr_eq(by, masker)) {
            self.known.clear();
            self.masked_by = Some(Arc::clone(masker));
        }
        // The one of the run before is last.
        match self.known.iter().rposition(|known| known.is_of(row)) {
            Some(place) if place + 1 == self.known.len() => {}
            Some(place) => self.known[place..].rotate_left(1),
            None => {
                if self.known.len() == MAX_KNOWN {
                    self.known.remove(0);
                }
                self.known.push(Occasion::new(row, masker));
            }
        }
        &self.known[self.known.len() - 1]
    }
}

impl Occasion {
    fn new(row: &RowOf<'_>, masker: &Masker) -> Self {
        let RowOf { tool, digest, definition, origin, .. } = *row;
        let definition_kept = definition.map(|text| {
            let masked = masker.text(text).into_owned();
            (Digest::of(masked.as_bytes()), masked)
        });
        let client = origin.client.as_deref().map(|client| masker.json_text(client).into_owned());
        let protocol = origin.protocol.as_deref().map(|text| masker.text(text).into_owned());
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        let said = Value::array(vec![
            tool.into(),
            digest.to_string().into(),
            definition_kept.as_ref().map_or(Value::Null, |(digest, _)| digest.to_string().into()),
            origin.face.name().into(),
            text(client.as_deref()),
            text(protocol.as_deref()),
            text(origin.principal.as_deref()),
        ]);
        let key = Digest::of(said.to_json().as_bytes());
        Self {
            tool: tool.to_owned(),
            digest,
            definition: definition.cloned(),
            face: origin.face,
            client: origin.client.clone(),
            protocol: origin.protocol.clone(),
            principal: origin.principal.clone(),
            kept: Kept { key, definition: definition_kept, client, protocol },
        }
    }

    /// Whether a run has this one.
    fn is_of(&self, row: &RowOf<'_>) -> bool {
        let origin = row.origin;
        // A definition is long; where it is in memory tells it from others.
        let has_definition = match (&self.definition, row.definition) {
            (Some(known), Some(text)) => Arc::ptr_eq(known, text),
            (known, text) => known.is_none() && text.is_none(),
        };
        has_definition
            && self.digest == row.digest
            && self.tool == row.tool
            && self.face == origin.face
            && self.client == origin.client
            && self.protocol == origin.protocol
            && self.principal == origin.principal
    }

    fn insert(&self, connection: &Connection, stored: &mut Stored) -> Result<()> {
        let Kept { key, definition, client, protocol } = &self.kept;
        if let Some((digest, text)) = definition
            && stored.definitions.insert(*digest)
        {
            connection.execute_later(
                "INSERT INTO definitions (digest, text) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
                bound![digest, text],
            )?;
        }
        connection.execute_later(
            "INSERT INTO occasions (occasion_key, occasion_tool, occasion_digest,
                 occasion_definition, occasion_face, occasion_client, occasion_protocol,
                 occasion_principal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            bound![
                key,
                &self.tool,
                &self.digest,
                definition.as_ref().map(|(digest, _)| digest),
                self.face.name(),
                client.as_ref(),
                protocol.as_ref(),
                self.principal.as_deref(),
            ],
        )
    }
}

/// Forgets occasions and definitions that no run refers to. Nobody else may write meanwhile.
pub(super) fn forget_unused(connection: &Connection) -> Result<()> {
    connection.execute(
        "DELETE FROM occasions WHERE occasion_key NOT IN
             (SELECT DISTINCT occasion FROM runs WHERE occasion IS NOT NULL)",
        &[],
    )?;
    let sql = "DELETE FROM definitions WHERE digest NOT IN
             (SELECT definition FROM runs WHERE definition IS NOT NULL
              UNION
              SELECT occasion_definition FROM occasions WHERE occasion_definition IS NOT NULL)";
    connection.execute(sql, &[]).map(drop)
}
