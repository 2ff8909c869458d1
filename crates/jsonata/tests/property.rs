//! The same expressions on the same data, here and in `jsonata-core`, an implementation that shares
//! nothing with this one. Where the two do not agree, the reference implementation decides.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]
#![expect(clippy::print_stdout, reason = "a test says what it could not do")]

#[path = "common/answers.rs"]
mod answers;
#[path = "common/core.rs"]
mod core_input;

use answers::{ask_ours, ask_reference, known_difference, text};
use core_input::converted;
use jsonata_core::evaluator::Evaluator;
use jsonata_core::parser;
use jsonata_core::value::JValue;
use mcpgraph_jsonata::{Environment, parse};
use mcpgraph_value::Value;
use proptest::prelude::*;

/// Data in which the names of generated paths are found, now and then.
fn data() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(String::from("null")),
        any::<bool>().prop_map(|flag| flag.to_string()),
        (-1000..1000_i32).prop_map(|number| number.to_string()),
        (-1000..1000_i32).prop_map(|number| (f64::from(number) / 8.0).to_string()),
        "[a-d é]{0,4}".prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        let object = prop::collection::btree_map("[a-e]", inner.clone(), 0..4);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
            object.prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => "[a-e]",
        1 => Just(String::from("$")),
        1 => Just(String::from("$$.a")),
        1 => (0..20_i32).prop_map(|number| number.to_string()),
        1 => Just(String::from("2.5")),
        1 => "[a-d]{0,3}".prop_map(|text| format!("\"{text}\"")),
        1 => prop_oneof![Just("true"), Just("false"), Just("null")].prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let two = (inner.clone(), inner.clone());
        let operator = prop::sample::select(vec![
            "+", "-", "*", "=", "!=", "<", ">=", "and", "or", "&", "in", "??", "?:",
        ]);
        let aggregate = prop::sample::select(vec![
            "count",
            "sum",
            "max",
            "min",
            "string",
            "not",
            "boolean",
            "length",
            "reverse",
            "distinct",
            "keys",
            "type",
            "append",
            "uppercase",
            "trim",
        ]);
        prop_oneof![
            4 => ("[a-e]", inner.clone()).prop_map(|(name, rest)| format!("{name}.({rest})")),
            2 => ("[a-e]", "[a-e]").prop_map(|(first, second)| format!("{first}.{second}")),
            2 => ("[a-e]", inner.clone()).prop_map(|(name, test)| format!("{name}[{test}]")),
            2 => (two.clone(), operator)
                .prop_map(|((left, right), operator)| format!("(({left}) {operator} ({right}))")),
            2 => (inner.clone(), aggregate).prop_map(|(value, name)| match name {
                "append" => format!("$append({value}, {value})"),
                name => format!("${name}({value})"),
            }),
            1 => (two.clone(), inner.clone())
                .prop_map(|((test, then), other)| format!("(({test}) ? ({then}) : ({other}))")),
            1 => two.clone().prop_map(|(first, second)| format!("[{first}, {second}]")),
            1 => ("[a-e]", "[a-e]").prop_map(|(first, second)| {
                format!("{{\"x\": {first}, \"y\": $$.{second}}}")
            }),
            1 => two.clone().prop_map(|(value, body)| format!("($v := {value}; {body})")),
            1 => two.prop_map(|(list, body)| {
                format!("$map({list}, function($v, $i) {{ [$i, {body}] }})")
            }),
            1 => (inner.clone(), inner.clone()).prop_map(|(list, test)| {
                format!("$filter([{list}], function($v) {{ {test} }})")
            }),
            1 => "[a-e]".prop_map(|name| format!("**.{name}")),
            1 => "[a-e]".prop_map(|name| format!("{name}.*")),
        ]
    })
}

/// A value, nothing, or the code of an error.
#[derive(Debug, PartialEq)]
enum Answer {
    Value(String),
    Nothing,
    Error(String),
}

fn ours(expression: &str, data: &str) -> Answer {
    let input = Value::from_json(data).unwrap();
    match parse(expression).unwrap().evaluate(Some(&input), &Environment::default()) {
        Ok(Some(value)) => Answer::Value(plain(&value)),
        Ok(None) => Answer::Nothing,
        Err(error) => Answer::Error(error.code.to_owned()),
    }
}

fn theirs(expression: &str, data: &str) -> Answer {
    let input = converted(&Value::from_json(data).unwrap());
    match Evaluator::new().evaluate(&parser::parse(expression).unwrap(), &input) {
        Ok(JValue::Undefined) => Answer::Nothing,
        Ok(value) => {
            let text = value.to_json_string().unwrap();
            Answer::Value(plain(&Value::from_json(&text).unwrap()))
        }
        Err(error) => Answer::Error(error.code().unwrap_or("no code").to_owned()),
    }
}

/// JSON with every number as a double, however it is held.
fn plain(value: &Value) -> String {
    match value {
        Value::Number(number) => number.as_f64().to_string(),
        Value::Array(items) => {
            format!("[{}]", items.iter().map(plain).collect::<Vec<_>>().join(","))
        }
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key:?}:{}", plain(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_json(),
    }
}

/// Whether the reference says what we do, too. True where it cannot be asked.
fn is_as_in_the_reference(expression: &str, data: &str) -> bool {
    let data = Value::from_json(data).unwrap();
    let expected = match ask_reference(&[(expression.to_owned(), 0)], std::slice::from_ref(&data)) {
        Ok(answers) => answers.into_iter().next().unwrap(),
        Err(reason) => {
            println!("skipped: {reason}");
            return true;
        }
    };
    let got = ask_ours(expression, &data);
    text(&expected) == text(&got) || known_difference(expression, &expected, &got).is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_implementations_agree(expression in expression(), data in data()) {
        let (ours, theirs) = (ours(&expression, &data), theirs(&expression, &data));
        match (&ours, &theirs) {
            // It leaves out evaluations whose results cannot matter, and with them their errors,
            // which the reference raises; `differential.rs` compares those.
            (Answer::Error(_), _) => {}
            _ if ours == theirs => {}
            _ => {
                let right = is_as_in_the_reference(&expression, &data);
                prop_assert!(right, "{expression} on {data}: {ours:?}, not {theirs:?}");
            }
        }
    }
}
