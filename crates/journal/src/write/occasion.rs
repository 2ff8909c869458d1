//! What many runs have in common and is kept once for all of them: what ran, and who asked for it.
//!
//! The row of a run would be three times as long with it, and a longer row costs whoever writes it
//! and whoever reads many of them.

use std::collections::HashSet;
use std::sync::Arc;

use mcpgraph_value::Value;
use parking_lot::Mutex;

use super::row::RowOf;
use crate::database::{Connection, Result, bound};
use crate::mask::Masker;
use crate::{Digest, Face, NewRun};

/// How many are known in memory.
const MAX_KNOWN: usize = 32;

/// What ran, and who asked for it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Occasion {
    tool: Arc<str>,
    digest: Digest,
    definition: Option<Arc<str>>,
    face: Face,
    client: Option<Arc<str>>,
    protocol: Option<Arc<str>>,
    principal: Option<Arc<str>>,
}

/// Those of the runs that were made ready last, by those who record.
///
/// Runs that have one in common refer to the same, so that the writer knows it by where it is. It
/// would look at each text otherwise, which is slow as long as others count their references to it.
#[derive(Default)]
pub(crate) struct Shown(Mutex<Vec<Arc<Occasion>>>);

/// The occasions of the runs that were written last.
#[derive(Default)]
pub(super) struct Occasions {
    known: Vec<Known>,
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

struct Known {
    occasion: Arc<Occasion>,
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

impl Shown {
    /// The occasion of a run.
    pub(crate) fn of(&self, run: &NewRun) -> Arc<Occasion> {
        let row = RowOf::of(run);
        let mut known = self.0.lock();
        let place = known.iter().rposition(|known| known.is_of(&row));
        let make = || Arc::new(Occasion::new(&row, Arc::clone(&run.tool)));
        Arc::clone(move_last(&mut known, place, make))
    }
}

impl Occasions {
    /// What names the occasion of a run, which is in the store from then on.
    pub(super) fn keep(
        &mut self,
        occasion: &Arc<Occasion>,
        masker: &Arc<Masker>,
        connection: &Connection,
        stored: &mut Stored,
    ) -> Result<Digest> {
        self.mask_by(masker);
        let is_it = |known: &Known| Arc::ptr_eq(&known.occasion, occasion);
        let place = self.known.iter().rposition(is_it);
        let make = || Known::new(Arc::clone(occasion), masker);
        move_last(&mut self.known, place, make).store(connection, stored)
    }

    /// The same for a run whose occasion was not made before.
    pub(super) fn keep_of(
        &mut self,
        row: &RowOf<'_>,
        masker: &Arc<Masker>,
        connection: &Connection,
        stored: &mut Stored,
    ) -> Result<Digest> {
        self.mask_by(masker);
        let place = self.known.iter().rposition(|known| known.occasion.is_of(row));
        let make = || Known::new(Arc::new(Occasion::new(row, row.tool.into())), masker);
        move_last(&mut self.known, place, make).store(connection, stored)
    }

    /// Forgets what another masker left.
    fn mask_by(&mut self, masker: &Arc<Masker>) {
        if !self.masked_by.as_ref().is_some_and(|by| Arc::ptr_eq(by, masker)) {
            self.known.clear();
            self.masked_by = Some(Arc::clone(masker));
        }
    }
}

/// Moves what was found to the end of a list, where it is found soonest, or adds it there.
fn move_last<T>(known: &mut Vec<T>, place: Option<usize>, make: impl FnOnce() -> T) -> &T {
    match place {
        Some(place) if place + 1 == known.len() => {}
        Some(place) => known[place..].rotate_left(1),
        None => {
            if known.len() == MAX_KNOWN {
                known.remove(0);
            }
            known.push(make());
        }
    }
    &known[known.len() - 1]
}

impl Occasion {
    fn new(row: &RowOf<'_>, tool: Arc<str>) -> Self {
        let origin = row.origin;
        Self {
            tool,
            digest: row.digest,
            definition: row.definition.cloned(),
            face: origin.face,
            client: origin.client.clone(),
            protocol: origin.protocol.clone(),
            principal: origin.principal.clone(),
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
            && *self.tool == *row.tool
            && self.face == origin.face
            && self.client == origin.client
            && self.protocol == origin.protocol
            && self.principal == origin.principal
    }
}

impl Known {
    fn new(occasion: Arc<Occasion>, masker: &Masker) -> Self {
        let Occasion { tool, digest, definition, face, client, protocol, principal } = &*occasion;
        let definition = definition.as_ref().map(|text| {
            let masked = masker.text(text).into_owned();
            (Digest::of(masked.as_bytes()), masked)
        });
        let client = client.as_deref().map(|client| masker.json_text(client).into_owned());
        let protocol = protocol.as_deref().map(|text| masker.text(text).into_owned());
        let text = |text: Option<&str>| text.map_or(Value::Null, Value::from);
        let said = Value::array(vec![
            Value::String(Arc::clone(tool)),
            digest.to_string().into(),
            definition.as_ref().map_or(Value::Null, |(digest, _)| digest.to_string().into()),
            face.name().into(),
            text(client.as_deref()),
            text(protocol.as_deref()),
            text(principal.as_deref()),
        ]);
        let key = Digest::of(said.to_json().as_bytes());
        Self { occasion, kept: Kept { key, definition, client, protocol } }
    }

    /// Puts it into the store unless it is there; what names it.
    fn store(&self, connection: &Connection, stored: &mut Stored) -> Result<Digest> {
        let key = self.kept.key;
        if stored.latest != Some(key) && stored.keys.insert(key) {
            self.insert(connection, stored)?;
        }
        stored.latest = Some(key);
        Ok(key)
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
                &*self.occasion.tool,
                &self.occasion.digest,
                definition.as_ref().map(|(digest, _)| digest),
                self.occasion.face.name(),
                client.as_ref(),
                protocol.as_ref(),
                self.occasion.principal.as_deref(),
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
