use mcpgraph_value::{Value, write_text};

use crate::codec::Place;
use crate::database::{Connection, DatabaseError, bound};
use crate::mask::Masker;
use crate::{Digest, JournalOptions, Payload, Truncated};

/// A payload of which the JSON is shorter than this stands in its event. To find out whether a
/// small one is there already costs more than to write it again.
const MAX_INLINE_BYTES: usize = 4096;

/// A payload that nests deeper than this stands by itself: its event adds a level.
const MAX_INLINE_DEPTH: usize = 64;

/// A payload that nests deeper than this could not be read back.
const MAX_DEPTH: usize = mcpgraph_value::MAX_DEPTH - 2;

/// A payload this large is compressed.
const MIN_PACKED_BYTES: usize = 16 * 1024;

/// How many of the payloads before are looked at for the very same one.
const LOOK_BACK: usize = 8;

/// Where payloads go that do not stand in their events.
pub(crate) trait Elsewhere {
    /// Why it could not be kept.
    type Error;

    /// Keeps a payload by itself, unless there is an equal one.
    fn keep(&self, json: &[u8]) -> Result<Digest, Self::Error>;
}

/// Rows of their own, for the run with this number.
pub(crate) struct Rows<'a>(pub(crate) &'a Connection, pub(crate) i64);

/// There is no other place.
pub(crate) struct Nowhere;

/// Masks payloads and puts them where they belong.
pub(crate) struct PayloadWriter<'a, E> {
    options: &'a JournalOptions,
    masker: &'a Masker,
    elsewhere: E,
    /// Where in the text a payload was written that may come again. An address names it: whatever
    /// is written by one of these lives longer than it.
    pub(crate) seen: Vec<(usize, std::ops::Range<usize>)>,
}

impl<E: Elsewhere> Place for PayloadWriter<'_, E> {
    type Error = E::Error;

    fn place(&mut self, out: &mut Vec<u8>, key: &str, payload: &Payload) -> Result<(), E::Error> {
        out.push(b'"');
        out.extend_from_slice(key.as_bytes());
        let start = out.len();
        let value = match payload {
            Payload::Whole(value) => value,
            Payload::Truncated(left) => {
                let preview = self.masker.text(&left.preview).into_owned().into();
                write_truncated(out, &Truncated { preview, ..left.clone() });
                return Ok(());
            }
        };
        let address = address(value);
        if let Some(address) = address
            && let Some((_, range)) =
                self.seen.iter().rev().take(LOOK_BACK).find(|(seen, _)| *seen == address)
        {
            out.extend_from_within(range.clone());
            return Ok(());
        }
        self.write(out, start, value)?;
        if let Some(address) = address {
            self.seen.push((address, start..out.len()));
        }
        Ok(())
    }
}

impl<'a, E: Elsewhere> PayloadWriter<'a, E> {
    pub(crate) fn new(options: &'a JournalOptions, masker: &'a Masker, elsewhere: E) -> Self {
        Self { options, masker, elsewhere, seen: Vec::new() }
    }

    fn write(&self, out: &mut Vec<u8>, start: usize, value: &Value) -> Result<(), E::Error> {
        let is_deep = address(value).is_some() && value.is_deeper_than(MAX_INLINE_DEPTH);
        if is_deep && value.is_deeper_than(MAX_DEPTH) {
            let preview = format!("(nests deeper than {MAX_DEPTH} levels)");
            let digest = Digest::of(preview.as_bytes());
            let size = value.approximate_bytes() as u64;
            write_truncated(out, &Truncated { preview: preview.into(), size, digest });
            return Ok(());
        }
        out.extend_from_slice(b"\":");
        let json = out.len();
        value.write_json(out);
        if self.masker.suspects(&out[json..]) {
            let masked = self.masker.value(value);
            out.truncate(json);
            masked.write_json(out);
        }
        let size = out.len() - json;
        if size > self.options.max_payload_bytes {
            let left = self.truncated(&out[json..]);
            out.truncate(start);
            write_truncated(out, &left);
        } else if size >= MAX_INLINE_BYTES || is_deep {
            let digest = self.elsewhere.keep(&out[json..])?;
            out.truncate(start);
            out.extend_from_slice(b"@\":\"");
            out.extend_from_slice(&digest.hex());
            out.push(b'"');
        }
        Ok(())
    }

    fn truncated(&self, json: &[u8]) -> Truncated {
        let shown = String::from_utf8_lossy(&json[..self.options.preview_bytes.min(json.len())]);
        // A character that was cut in two is left out.
        let preview = shown.trim_end_matches(char::REPLACEMENT_CHARACTER).into();
        Truncated { preview, size: json.len() as u64, digest: Digest::of(json) }
    }
}

impl Elsewhere for Rows<'_> {
    type Error = DatabaseError;

    fn keep(&self, json: &[u8]) -> Result<Digest, DatabaseError> {
        let Self(connection, run) = self;
        let digest = Digest::of(json);
        let known = "SELECT no FROM payloads WHERE digest = ?1";
        let no = match connection.value(known, bound![&digest])? {
            Some(no) => Some(no),
            None => {
                let packed = (json.len() >= MIN_PACKED_BYTES)
                    .then(|| lz4_flex::block::compress(json))
                    .filter(|packed| packed.len() < json.len());
                connection.value::<i64>(
                    "INSERT INTO payloads (digest, size, packed, data) VALUES (?1, ?2, ?3, ?4)
                     RETURNING no",
                    bound![
                        &digest,
                        json.len(),
                        packed.is_some(),
                        packed.as_deref().unwrap_or(json),
                    ],
                )?
            }
        };
        let uses = "INSERT INTO uses (run, payload) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
        connection.execute_later(uses, bound![*run, no])?;
        Ok(digest)
    }
}

impl Elsewhere for Nowhere {
    type Error = ();

    fn keep(&self, _: &[u8]) -> Result<Digest, ()> {
        Err(())
    }
}

/// Writes what is left of a payload, after the name of its member.
pub(crate) fn write_truncated(out: &mut Vec<u8>, left: &Truncated) {
    out.extend_from_slice(b"~\":{\"size\":");
    out.extend_from_slice(left.size.to_string().as_bytes());
    out.extend_from_slice(b",\"digest\":\"");
    out.extend_from_slice(&left.digest.hex());
    out.extend_from_slice(b"\",\"preview\":");
    write_text(out, &left.preview);
    out.push(b'}');
}

/// Where a value is in memory, if it is one that others share: strings are made on the way here.
fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) if !items.is_empty() => Some(items.as_ptr().addr()),
        Value::Object(members) => Some(std::ptr::from_ref(&**members).addr()),
        _ => None,
    }
}
