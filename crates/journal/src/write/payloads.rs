use std::ops::Range;

use mcpgraph_value::{Value, write_text};

use crate::codec::{Place, write_reference};
use crate::database::{Connection, DatabaseError, bound};
use crate::mask::Masker;
use crate::{Digest, JournalOptions, PayloadRef, Truncated};

/// A payload of which the JSON is shorter than this stands in its event. To find out whether a
/// small one is there already costs more than to write it again.
const MAX_INLINE_BYTES: usize = 4096;

/// A payload that nests deeper than this stands by itself: its event adds a level.
const MAX_INLINE_DEPTH: usize = 64;

/// A payload that nests deeper than this could not be read back.
const MAX_DEPTH: usize = mcpgraph_value::MAX_DEPTH - 2;

/// A payload this large is compressed.
const MIN_PACKED_BYTES: usize = 16 * 1024;

/// How many of the payloads before, and of their parts, are looked at for the very same one.
const LOOK_BACK: usize = 16;

/// What is shorter than this is written again: to name it takes about a third.
const MIN_NAMED_BYTES: usize = 48;

/// Each part of a payload that has no more than these may be one that was written before.
const MAX_PARTS: usize = 16;

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
    /// What was written in this row and may come again.
    seen: Vec<Seen>,
}

/// Something that was written in a row.
struct Seen {
    /// Names it: whatever is written by one [`PayloadWriter`] lives longer than it.
    address: usize,
    /// Where its text is.
    text: Range<usize>,
    /// Whether that is JSON that has no references and is long enough to be named. Otherwise it is
    /// what stands after the name of a member.
    can_be_named: bool,
}

impl<E: Elsewhere> Place for PayloadWriter<'_, E> {
    type Error = E::Error;

    fn place(
        &mut self,
        out: &mut Vec<u8>,
        key: &str,
        payload: PayloadRef<'_>,
    ) -> Result<(), E::Error> {
        out.push(b'"');
        out.extend_from_slice(key.as_bytes());
        let start = out.len();
        let value = match payload {
            PayloadRef::Whole(value) => value,
            PayloadRef::Truncated(left) => {
                let preview = self.masker.message(&left.preview).into_owned().into();
                write_truncated(out, &Truncated { preview, ..left.clone() });
                return Ok(());
            }
        };
        let address = address(value);
        if let Some(seen) = address.and_then(|address| self.find(address)) {
            if seen.can_be_named {
                out.extend_from_slice(b"\":");
                write_reference(out, &seen.text);
            } else {
                out.extend_from_within(seen.text.clone());
            }
            return Ok(());
        }
        let named = self.write(out, start, value)?;
        if let Some(address) = address {
            let can_be_named = named.is_some();
            let text = named.unwrap_or(start..out.len());
            self.seen.push(Seen { address, text, can_be_named });
        }
        Ok(())
    }
}

impl<'a, E: Elsewhere> PayloadWriter<'a, E> {
    pub(crate) fn new(options: &'a JournalOptions, masker: &'a Masker, elsewhere: E) -> Self {
        Self { options, masker, elsewhere, seen: Vec::new() }
    }

    /// What comes next stands in another row.
    pub(crate) fn begin_row(&mut self) {
        self.seen.clear();
    }

    fn find(&self, address: usize) -> Option<&Seen> {
        self.seen.iter().rev().take(LOOK_BACK).find(|seen| seen.address == address)
    }

    /// Writes a payload after the name of its member; where its JSON is, if that can be named.
    fn write(
        &mut self,
        out: &mut Vec<u8>,
        start: usize,
        value: &Value,
    ) -> Result<Option<Range<usize>>, E::Error> {
        let is_deep = address(value).is_some() && value.is_deeper_than(MAX_INLINE_DEPTH);
        if is_deep && value.is_deeper_than(MAX_DEPTH) {
            let preview = format!("(nests deeper than {MAX_DEPTH} levels)");
            let digest = Digest::of(preview.as_bytes());
            let size = value.approximate_bytes() as u64;
            write_truncated(out, &Truncated { preview: preview.into(), size, digest });
            return Ok(None);
        }
        out.extend_from_slice(b"\":");
        let (json, known) = (out.len(), self.seen.len());
        let mut named = self.write_parts(out, value);
        // What was named has been found to have nothing to mask.
        if self.masker.suspects(&out[json..]) {
            self.take_back(out, json, known);
            self.masker.value(value).write_json(out);
            named = 0;
        }
        if named > 0 && (is_deep || out.len() - json + named >= MAX_INLINE_BYTES) {
            // It will not stand here, where something can be named.
            self.take_back(out, json, known);
            value.write_json(out);
            named = 0;
        }
        let size = out.len() - json;
        if size > self.options.max_payload_bytes {
            let left = self.truncated(&out[json..]);
            self.take_back(out, start, known);
            write_truncated(out, &left);
        } else if size >= MAX_INLINE_BYTES || is_deep {
            let digest = self.elsewhere.keep(&out[json..])?;
            self.take_back(out, start, known);
            out.extend_from_slice(b"@\":\"");
            out.extend_from_slice(&digest.hex());
            out.push(b'"');
        } else if named == 0 && size >= MIN_NAMED_BYTES {
            return Ok(Some(json..out.len()));
        }
        Ok(None)
    }

    /// Takes back what was written from a place on, when so much had been seen.
    fn take_back(&mut self, out: &mut Vec<u8>, place: usize, known: usize) {
        out.truncate(place);
        self.seen.truncate(known);
    }

    /// Writes a value, of which parts may have been written before; how long those are.
    fn write_parts(&mut self, out: &mut Vec<u8>, value: &Value) -> usize {
        let mut named = 0;
        match value {
            Value::Object(members) if members.len() <= MAX_PARTS => {
                out.push(b'{');
                for (place, (key, member)) in members.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    write_text(out, key);
                    out.push(b':');
                    named += self.write_part(out, member);
                }
                out.push(b'}');
            }
            Value::Array(items) if items.len() <= MAX_PARTS => {
                out.push(b'[');
                for (place, item) in items.iter().enumerate() {
                    if place > 0 {
                        out.push(b',');
                    }
                    named += self.write_part(out, item);
                }
                out.push(b']');
            }
            _ => value.write_json(out),
        }
        named
    }

    fn write_part(&mut self, out: &mut Vec<u8>, part: &Value) -> usize {
        let Some(address) = address(part) else {
            part.write_json(out);
            return 0;
        };
        if let Some(seen) = self.find(address).filter(|seen| seen.can_be_named) {
            write_reference(out, &seen.text);
            return seen.text.len();
        }
        let start = out.len();
        part.write_json(out);
        let text = start..out.len();
        if text.len() >= MIN_NAMED_BYTES {
            self.seen.push(Seen { address, text, can_be_named: true });
        }
        0
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

/// Where a value is in memory, if it is one that others may share and that is worth being named.
pub(super) fn address(value: &Value) -> Option<usize> {
    match value {
        Value::Array(items) if !items.is_empty() => Some(items.as_ptr().addr()),
        Value::Object(members) => Some(std::ptr::from_ref(&**members).addr()),
        Value::String(text) if text.len() >= MIN_NAMED_BYTES => Some(text.as_ptr().addr()),
        _ => None,
    }
}
