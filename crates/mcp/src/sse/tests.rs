use super::*;
use crate::excerpt::Traits;

/// What is read of a text that comes in pieces of a length.
fn decode(text: &[u8], limit: usize, piece: usize) -> Vec<Result<Event, EventTooLong>> {
    let mut events = VecDeque::new();
    let mut decoder = Decoder::new(limit);
    for piece in text.chunks(piece) {
        decoder.feed(piece, &mut events);
    }
    events.into()
}

/// Reads the text at once and byte by byte, which must give the same.
fn read(text: &[u8]) -> Vec<Event> {
    let events = decode(text, 1 << 20, text.len());
    assert_eq!(decode(text, 1 << 20, 1), events);
    events.into_iter().map(Result::unwrap).collect()
}

#[test]
fn what_is_written_is_read() {
    for event in [
        Event::message("{}"),
        Event::message(""),
        Event::message("a\nb\n").with_id("7"),
        Event {
            event: Some("endpoint".into()),
            data: "/messages?id=1".into(),
            id: Some(String::new()),
            retry: Some(Duration::from_millis(1500)),
        },
    ] {
        assert_eq!(read(&event.to_bytes()), [event]);
    }
}

#[test]
fn line_ends_of_every_kind() {
    for text in
        ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"]
    {
        assert_eq!(read(text.as_bytes()), [Event::message("a"), Event::message("b")], "{text:?}");
    }
    assert_eq!(Event::message("a\r\nb\rc").to_bytes(), b"data: a\ndata: b\ndata: c\n\n");
}

#[test]
fn fields_as_the_standard_says() {
    assert_eq!(read(b"\xEF\xBB\xBFdata:a\n\n"), [Event::message("a")]);
    assert_eq!(read(b"data\n\n"), [Event::message("")]);
    assert_eq!(read(b"data:  a\n\n"), [Event::message(" a")]);
    assert_eq!(read(b":comment\n\n\n"), []);
    assert_eq!(read(b"other: x\n\n"), []);
    assert_eq!(read(b"data: unfinished\n"), []);
    assert_eq!(read(b"id: a\0b\ndata: x\n\n"), [Event::message("x")]);
    assert_eq!(read(b"retry: 12x\ndata: x\n\n"), [Event::message("x")]);
    assert_eq!(read(b"retry: 99999999999999999999999\ndata: x\n\n"), [Event::message("x")]);
    assert_eq!(read(b"data: \xff\n\n"), [Event::message("\u{fffd}")]);
    assert_eq!(read(b"id: 5\n\n"), [Event::message("").with_id("5")]);
    assert!(read(b"event: message\ndata: x\n\n")[0].is_message());
    assert!(!read(b"event: endpoint\ndata: x\n\n")[0].is_message());
}

#[test]
fn a_field_cannot_smuggle_another() {
    let event = Event { event: Some("a\ndata: b".into()), ..Event::message("c").with_id("1\r2") };
    assert_eq!(event.to_bytes(), b"event: a\nid: 1\ndata: c\n\n");
}

/// What is read with a limit, however the text comes: the data of events, and of those that are too
/// long what the ends of their data say.
fn read_within(limit: usize, text: &[u8]) -> Vec<String> {
    let shown = |piece| {
        let show = |event: Result<Event, EventTooLong>| match event {
            Ok(event) => event.data,
            Err(skipped) => {
                assert_eq!((skipped.limit, skipped.event.data.as_str()), (limit, ""));
                let Traits { id, has_method } = skipped.data.traits();
                let event = skipped.event.id.unwrap_or_default();
                format!("skipped {id:?} {has_method} {event}")
            }
        };
        decode(text, limit, piece).into_iter().map(show).collect::<Vec<_>>()
    };
    let whole = shown(text.len());
    for piece in [1, 2, 3, 7, 50] {
        assert_eq!(shown(piece), whole, "{piece}");
    }
    whole
}

#[test]
fn an_event_past_the_limit_is_skipped_but_for_its_ends() {
    let long = |line: &str| line.replace('#', &"x".repeat(100));
    let just = long("data: #\n\n");
    assert_eq!(read_within(106, just.as_bytes()), ["x".repeat(100)]);
    assert_eq!(read_within(105, just.as_bytes()), ["skipped None false "]);
    let around = |event: &str| format!("data: 1\n\n{}data: 2\n\n", long(event));
    for (event, told) in [
        ("data: {\"id\":5,\"result\":\"#\"}\n\n", "skipped Some(5) false "),
        ("data:{\"result\":\"#\",\"id\":5}\r\n\r\n", "skipped Some(5) false "),
        ("id: 7\ndata: {\"method\":\"m\",\"a\":\"#\"}\n\n", "skipped None true 7"),
        // Many short lines count together, and other fields are none of the data.
        (
            "data: {\ndata: \"id\": 5,\n:#\ndata: \"a\": 1}\nevent: message\n\n",
            "skipped Some(5) false ",
        ),
        (
            "data: {\"result\":\"#\"\ndata: ,\ndata:\"id\":5}\nretry: 5\n\n",
            "skipped Some(5) false ",
        ),
    ] {
        assert_eq!(read_within(60, around(event).as_bytes()), ["1", told, "2"], "{event}");
    }
    // What has no data is nothing, and comments do not count together.
    assert_eq!(read_within(60, around(":#\n\n").as_bytes()), ["1", "2"]);
    assert_eq!(read_within(60, around("other: #\n\n").as_bytes()), ["1", "2"]);
    assert_eq!(read_within(60, around(&":\n".repeat(100)).as_bytes()), ["1", "2"]);
    // One without an end is not kept.
    assert_eq!(read_within(60, long("data: 1\n\ndata: #").as_bytes()), ["1"]);
}
