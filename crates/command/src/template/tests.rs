use super::{HoleKind, Piece, Template};

fn shown(text: &str) -> String {
    match Template::parse(text) {
        Ok(template) => template
            .pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => format!("'{text}'"),
                Piece::Hole(hole) => format!("<{:?} {}>", hole.kind, hole.name),
            })
            .collect(),
        Err(error) => format!("{:?} {}", error.range, error.message.split(';').next().unwrap()),
    }
}

#[test]
fn placeholders_are_told_from_text() {
    for (text, expected) in [
        ("", ""),
        ("get status", "'get status'"),
        ("a {b} c", "'a '<Plain b>' c'"),
        ("{id:t}{raw:w}", "<Identifier t><Raw w>"),
        ("{number:n}-{string:s}", "<Number n>'-'<Text s>"),
        ("{{a}} {b}", "'{a} '<Plain b>"),
        ("{a.b_c-d$1}", "<Plain a.b_c-d$1>"),
        ("{", "0..1 a `{` without its `}`"),
        ("a}", "1..2 a `}` without its `{`"),
        ("{}", "0..2 a placeholder is `{` and the name of an argument and `}`"),
        ("{a b}", "0..5 a placeholder is `{` and the name of an argument and `}`"),
        ("{x:a}", "0..5 `x` is no kind of placeholder"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
    assert!(Template::parse("{raw:a}").unwrap().has_raw());
    assert!(!Template::parse("{id:a}").unwrap().holes().any(|hole| hole.kind == HoleKind::Raw));
}
