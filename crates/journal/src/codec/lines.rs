//! Lines as rows of events have them: what nearly every event says is shorter than its JSON.
//!
//! - `>3"list"mcp 120,"in":…}` is a step that began, `<3"count"140,"out":…}` one that finished; where
//!   no edge was taken, a space stands in its place. Steps of which there is more to say, and other
//!   events, are JSON.
//! - A payload that stood in the row before, or a part of one, is named by where: [`REFERENCE`], the
//!   byte of the row it begins at, `+`, its length and `;`. What is named names nothing itself.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use mcpgraph_engine::{Event, StepId};
use mcpgraph_value::write_text;

use super::write::{
    Place, is_place_of, member, write_event, write_number, write_started, write_succeeded,
    write_time,
};
use crate::{PayloadRef, StoredEvent};

/// Begins a reference. No JSON has this byte, which is escaped in strings.
const REFERENCE: char = '\u{1}';

/// Writes an event on one line of a row, without its end.
pub(crate) fn write_line<P: Place>(
    out: &mut Vec<u8>,
    event: &StoredEvent,
    place: &mut P,
) -> Result<(), P::Error> {
    match event {
        StoredEvent::StepStarted { step, path, node, kind, input, item_name: None, began, at }
            if began == at && is_place_of(path, *step) && is_word(kind) =>
        {
            write_began(out, place, *step, node, kind, input.as_ref().map(Into::into), *at)
        }
        StoredEvent::StepFinished { step, output, edge, at } => {
            write_finished(out, place, *step, edge.as_deref(), output.into(), *at)
        }
        other => write_event(out, other, place),
    }
}

/// The same for an event as it happened, if it is one of those that nearly every run consists of;
/// none if it has to be made into a [`StoredEvent`] first.
pub(crate) fn write_plain_line<P: Place>(
    out: &mut Vec<u8>,
    event: &Event,
    place: &mut P,
) -> Option<Result<(), P::Error>> {
    let whole = PayloadRef::Whole;
    Some(match event {
        Event::Started { tool, digest, input, given } => {
            write_started(out, place, (tool, *digest, *given), whole(input))
        }
        Event::StepStarted { step, path, node, kind, input, item_name: None, began, at }
            if began == at && is_place_of(path, *step) && is_word(kind) =>
        {
            write_began(out, place, *step, node, kind, input.as_ref().map(whole), *at)
        }
        Event::StepFinished { step, output, edge, at } => {
            write_finished(out, place, *step, edge.as_deref(), whole(output), *at)
        }
        Event::Finished { outcome: Ok(output), at } => {
            write_succeeded(out, place, whole(output), *at)
        }
        _ => return None,
    })
}

fn write_began<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    step: StepId,
    node: &str,
    kind: &str,
    input: Option<PayloadRef<'_>>,
    at: Duration,
) -> Result<(), P::Error> {
    out.push(b'>');
    write_number(out, step);
    write_text(out, node);
    out.extend_from_slice(kind.as_bytes());
    out.push(b' ');
    write_time(out, at);
    if let Some(input) = input {
        member(out, place, "in", input)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_finished<P: Place>(
    out: &mut Vec<u8>,
    place: &mut P,
    step: StepId,
    edge: Option<&str>,
    output: PayloadRef<'_>,
    at: Duration,
) -> Result<(), P::Error> {
    out.push(b'<');
    write_number(out, step);
    match edge {
        Some(edge) => write_text(out, edge),
        None => out.push(b' '),
    }
    write_time(out, at);
    member(out, place, "out", output)?;
    out.push(b'}');
    Ok(())
}

/// Writes where something stands instead of writing it again.
pub(crate) fn write_reference(out: &mut Vec<u8>, named: &Range<usize>) {
    out.push(REFERENCE as u8);
    write_number(out, named.start);
    out.push(b'+');
    write_number(out, named.len());
    out.push(b';');
}

/// The event of a line as JSON, where `row` is everything that stands beside it; none if that is
/// damaged.
pub(crate) fn expand<'l>(line: &'l str, row: &str) -> Option<Cow<'l, str>> {
    let (mut json, mut rest) = match line.as_bytes().first()? {
        b'>' => began(&line[1..])?,
        b'<' => finished(&line[1..])?,
        _ if !line.contains(REFERENCE) => return Some(Cow::Borrowed(line)),
        _ => (String::new(), line),
    };
    while let Some((before, after)) = rest.split_once(REFERENCE) {
        let (named, after) = after.split_once(';')?;
        let (start, length) = named.split_once('+')?;
        let (start, length): (usize, usize) = (start.parse().ok()?, length.parse().ok()?);
        json.push_str(before);
        json.push_str(row.get(start..start.checked_add(length)?)?);
        rest = after;
    }
    json.push_str(rest);
    Some(Cow::Owned(json))
}

/// The beginning of a step's JSON, and the payload that follows as it stands in the line.
fn began(line: &str) -> Option<(String, &str)> {
    let (step, rest) = digits(line);
    let (node, rest) = quoted(rest)?;
    let (kind, rest) = rest.split_once(' ')?;
    let (at, rest) = digits(rest);
    let json = format!(r#"{{"e":"step","s":{step},"node":{node},"kind":"{kind}","at":{at}"#);
    Some((json, rest))
}

/// The same of a step that finished.
fn finished(line: &str) -> Option<(String, &str)> {
    let (step, rest) = digits(line);
    let mut json = format!(r#"{{"e":"done","s":{step}"#);
    let rest = match rest.strip_prefix(' ') {
        Some(rest) => rest,
        None => {
            let (edge, rest) = quoted(rest)?;
            json.push_str(",\"to\":");
            json.push_str(edge);
            rest
        }
    };
    let (at, rest) = digits(rest);
    json.push_str(",\"at\":");
    json.push_str(at);
    Some((json, rest))
}

/// The digits that a text begins with, and what follows.
fn digits(text: &str) -> (&str, &str) {
    let end = text.bytes().take_while(u8::is_ascii_digit).count();
    text.split_at(end)
}

/// The string of JSON that a text begins with, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let mut bytes = text.bytes().enumerate();
    bytes.next().filter(|(_, byte)| *byte == b'"')?;
    while let Some((place, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(text.split_at(place + 1)),
            // Whatever is escaped.
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

/// Whether the name of a type can stand in a line as it is.
fn is_word(kind: &str) -> bool {
    kind.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use mcpgraph_engine::StepPath;
    use mcpgraph_value::Value;
    use std::convert::Infallible;
    use std::sync::Arc;

    use super::*;
    use crate::Payload;

    /// Writes payloads where they are.
    struct Here;

    impl Place for Here {
        type Error = Infallible;

        fn place(
            &mut self,
            out: &mut Vec<u8>,
            key: &str,
            payload: PayloadRef<'_>,
        ) -> Result<(), Infallible> {
            write_text(out, key);
            out.push(b':');
            let PayloadRef::Whole(value) = payload else { panic!("it is not whole") };
            value.write_json(out);
            Ok(())
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_line_is_short_and_comes_back_as_the_json_of_its_event() {
        let at = Duration::from_micros(120);
        let payload = |json: &str| Payload::Whole(Value::from_json(json).unwrap());
        let began = |node: &str, kind: &str, path: &[u32], input: Option<Payload>, began| {
            StoredEvent::StepStarted {
                step: 3,
                path: StepPath::new(path),
                node: node.into(),
                kind: kind.into(),
                input,
                item_name: None,
                began,
                at,
            }
        };
        let finished = |edge: Option<&str>, output| StoredEvent::StepFinished {
            step: 3,
            output,
            edge: edge.map(Arc::from),
            at,
        };
        let cases = [
            (began("list", "mcp", &[3], None, at), r#">3"list"mcp 120}"#),
            (began("list", "mcp", &[3], Some(payload("1")), at), r#">3"list"mcp 120,"in":1}"#),
            (finished(Some("a b"), payload(r#"{"x":">"}"#)), r#"<3"a b"120,"out":{"x":">"}}"#),
            (finished(None, payload(r#""""#)), r#"<3 120,"out":""}"#),
            (finished(Some("\"\\\u{1}"), payload("[]")), r#"<3"\"\\\u0001"120,"out":[]}"#),
            (began("\"", "mcp", &[3], None, at), r#">3"\""mcp 120}"#),
        ];
        for (event, expected) in cases {
            let (mut line, mut json) = (Vec::new(), Vec::new());
            let Ok(()) = write_line(&mut line, &event, &mut Here);
            let Ok(()) = write_event(&mut json, &event, &mut Here);
            let (line, json) = (text(line), text(json));
            assert_eq!(line, expected);
            assert_eq!(expand(&line, "").unwrap(), json);
        }
        for event in [
            began("list", "mcp", &[2], None, at),
            began("list", "mcp", &[3, 0], None, at),
            began("list", "mcp", &[3], None, Duration::from_micros(119)),
            began("list", "a kind", &[3], None, at),
        ] {
            let (mut line, mut json) = (Vec::new(), Vec::new());
            let Ok(()) = write_line(&mut line, &event, &mut Here);
            let Ok(()) = write_event(&mut json, &event, &mut Here);
            assert_eq!(line, json);
        }
    }

    #[test]
    fn references_are_what_they_name() {
        let row = "{\"in\":{\"é\":1}}";
        let mut line = b"{\"out\":[".to_vec();
        write_reference(&mut line, &(6..14));
        line.push(b',');
        write_reference(&mut line, &(7..11));
        line.extend_from_slice(b"]}");
        assert_eq!(expand(&text(line), row).unwrap(), "{\"out\":[{\"é\":1},\"é\"]}");
    }

    #[test]
    fn what_is_damaged_is_not_read() {
        let row = "é23456";
        for line in [
            "",
            ">",
            "<",
            ">1",
            "<1\"a",
            "<1\"a\\\"",
            ">1\"a\"mcp",
            "{\u{1}",
            "{\u{1}0+1",
            "{\u{1}0;",
            "{\u{1}0+1;}",
            "{\u{1}a+1;}",
            "{\u{1}-1+2;}",
            "{\u{1}5+9;}",
            "{\u{1}18446744073709551615+2;}",
        ] {
            assert_eq!(expand(line, row), None, "{line:?}");
        }
    }
}
