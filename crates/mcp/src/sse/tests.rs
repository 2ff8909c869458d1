use super::*;

fn decode(text: &[u8], limit: usize) -> (Vec<Event>, Result<(), EventTooLong>) {
    let mut events = VecDeque::new();
    let outcome = Decoder::new(limit).feed(text, &mut events);
    (events.into(), outcome)
}

/// Reads the text at once and byte by byte, which must give the same.
fn read(text: &[u8]) -> Vec<Event> {
    let (events, outcome) = decode(text, 1 << 20);
    outcome.unwrap();
    let mut decoder = Decoder::new(1 << 20);
    let mut one_by_one = VecDeque::new();
    for byte in text {
        decoder.feed(std::slice::from_ref(byte), &mut one_by_one).unwrap();
    }
    assert_eq!(one_by_one, events);
    events
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

#[test]
fn an_event_past_the_limit_is_refused() {
    let long = [b"data: ".as_slice(), &[b'x'; 100], b"\n\n"].concat();
    assert!(decode(&long, 106).1.is_ok());
    assert_eq!(decode(&long, 105).1, Err(EventTooLong { limit: 105 }));
    // Many short lines count together, an endless line counts before its end.
    assert!(decode(&b"data: x\n".repeat(20), 105).1.is_err());
    assert!(decode(&[b'x'; 106], 105).1.is_err());
    // Comments and finished events do not count, and what came before is kept.
    assert!(decode(&b":\n".repeat(100), 105).1.is_ok());
    let (events, outcome) = decode(&[b"data: 1\n\n".repeat(50), long].concat(), 105);
    assert_eq!((events.len(), outcome.is_err()), (50, true));
}
