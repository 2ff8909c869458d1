//! The parser accepts and rejects what the official suite says, with the same codes.

mod common;

use mcpgraph_value::Value;

#[test]
fn the_suite_is_accepted_and_rejected_with_the_same_codes() {
    let Some(suite) = common::suite() else { return };
    let cases = common::cases(&suite);
    let mut failures = Vec::new();
    for case in &cases {
        let expected = case
            .fields
            .get("code")
            .or_else(|| case.fields.pointer("/error/code"))
            .and_then(Value::as_str)
            .filter(|code| code.starts_with('S'));
        let parsed = mcpgraph_jsonata::parse(&case.expr);
        let got = parsed.as_ref().err().map(|errors| errors[0].code);
        if got != expected {
            failures
                .push(format!("{}: expected {expected:?}, got {got:?}: {}", case.name, case.expr));
        }
    }
    println!("{} expressions, {} differ", cases.len(), failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
