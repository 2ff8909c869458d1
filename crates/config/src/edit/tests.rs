//! The emitter against the reader: whatever is written is read back as the same value.

use mcpgraph_diagnostics::Source;
use mcpgraph_value::{Map, Value};
use proptest::prelude::*;

use super::emit::{Emitter, Owner};
use super::layout::Layout;
use super::style::Habits;
use crate::yaml;

/// Files whose authors have different habits.
const STYLES: [&str; 6] = [
    "a: {b: 1}\nc: [1]\n",
    "a:\n    b: 1\n    c:\n    - d: 'x'\n",
    "a:\r\n  b:\r\n    - \"x\"\r\n",
    "{\"a\": {\n    \"b\": [\n      {\n        \"c\": \"d\"\n      }\n    ]\n}}\n",
    "{\"a\": {\"b\": []}}",
    "a: 1",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "",
        " ",
        "  ",
        "\n",
        "\n\n",
        "\n ",
        "\t",
        "\r",
        "a",
        "b c",
        ":",
        ": ",
        " #",
        "#",
        "-",
        "- ",
        "---",
        "...",
        "?",
        "[",
        "]",
        "{",
        "}",
        ",",
        "'",
        "\"",
        "\\",
        "|",
        ">",
        "&",
        "*",
        "!",
        "%",
        "@",
        "`",
        "=",
        "<<",
        "null",
        "~",
        "true",
        "yes",
        "1",
        "0x1",
        "012",
        "1e5",
        ".5",
        ".inf",
        "2024-01-01",
        "\u{0}",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "\u{feff}",
        "\u{ffff}",
        "é",
        "日",
        "😀",
        "$.x",
        "${A}",
    ]);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |f| {
            mcpgraph_value::Number::from_f64(f).map(Value::Number)
        }),
        texts().prop_map(Value::string),
        any::<String>().prop_map(Value::string),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::array),
            prop::collection::vec((texts(), inner), 0..4)
                .prop_map(|members| Value::object(members.into_iter().collect::<Map>())),
        ]
    })
}

fn check(style: &str, value: &Value) {
    let layout = Layout::new(style).expect("a layout");
    let habits = Habits::of(&layout);
    let emitter = Emitter::new(&habits);
    let block = emitter.value(value, "key", Owner::Key(0));
    let block = format!("key: {}{}\nnext: 1\n", block.inline, block.below);
    let item = format!("- {}\n", &emitter.item(value, "key", 0)[1..].trim_start_matches(' '));
    let flow = format!("[{}]", emitter.flow_at(value, "key", 0));
    for (text, pointer) in [(block, "/key"), (item, "/0"), (flow, "/0")] {
        let (tree, found) = yaml::parse(&Source::new("written", text.clone()));
        assert!(found.is_empty(), "{found:?} in {text:?}");
        let tree = tree.expect("a tree");
        let read = tree.pointer(pointer).expect("the value").to_value();
        assert_eq!(read.to_json(), value.to_json(), "in {text:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_written_is_read_back(style in prop::sample::select(&STYLES[..]), value in values()) {
        check(style, &value);
    }

    #[test]
    fn text_is_read_back(style in prop::sample::select(&STYLES[..]), text in texts()) {
        check(style, &Value::string(text.clone()));
        check(style, &Value::object(Map::from_iter([(text.as_str(), 1_i64)])));
    }
}
