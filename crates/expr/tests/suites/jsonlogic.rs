use std::collections::BTreeMap;

use mcpgraph_expr::{Env, JsonLogic, PlainScope};
use mcpgraph_value::Value;

use crate::{read, settle, suite_or_skip};

#[test]
fn every_case_of_json_logic() {
    let folder = suite_or_skip!("jsonlogic");
    let cases = read(&folder.join("tests.json"));
    let mut failed = Vec::new();
    let mut total = 0;
    for case in cases.as_array().unwrap().iter().filter(|case| !matches!(case, Value::String(_))) {
        total += 1;
        let [rule, data, expected] = [0, 1, 2].map(|index| case.at(index).unwrap());
        let outcome = evaluate(rule, data);
        if outcome.as_ref() != Ok(expected) {
            failed.push((rule.to_json(), format!("{outcome:?} instead of {expected}")));
        }
    }
    settle("JSON Logic", total, &failed, &[]);
}

/// The community's compatibility tables describe a dialect that is newer than the reference
/// implementation, which existing rules are written for. `compatible.json` holds what both mean
/// the same by; the other tables are counted, and each case that differs falls under a reason.
#[test]
fn the_compatibility_tables() {
    let folder = suite_or_skip!("jsonlogic").join("compat-tables");
    let mut differing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut total, mut agreeing) = (0, 0);
    let mut unexplained = Vec::new();
    for table in read(&folder.join("index.json")).as_array().unwrap().iter() {
        let table = table.as_str().unwrap();
        let cases = read(&folder.join(table));
        let cases = cases.as_array().unwrap().iter().filter(|case| case.as_object().is_some());
        for (index, case) in cases.enumerate() {
            total += 1;
            let data = case.get("data").cloned().unwrap_or_default();
            let outcome = evaluate(case.get("rule").unwrap(), &data);
            if agrees(case, &outcome) {
                agreeing += 1;
                continue;
            }
            let name = format!("{table}#{index}");
            match reason(table, index, case, &outcome) {
                Some(reason) => differing.entry(reason).or_default().push(name),
                None => unexplained.push(format!("{name}: {outcome:?} for {case}")),
            }
        }
    }
    println!("JSON Logic tables: {agreeing} of {total} cases agree");
    for (reason, names) in &differing {
        println!("{} differ: {reason}: {}", names.len(), names.join(" "));
    }
    assert!(unexplained.is_empty(), "{unexplained:#?}");
    // The reference implementation agrees in ten more, in which an operator it does not know either
    // is never evaluated; here that is an error when the rule is compiled.
    assert_eq!(agreeing, 806);
}

fn agrees(case: &Value, outcome: &Result<Value, String>) -> bool {
    match (case.get("error"), outcome) {
        (Some(_), Err(_)) => true,
        (None, Ok(value)) => Some(value) == case.get("result"),
        _ => false,
    }
}

/// The cases that want another value than the reference implementation gives.
const OTHER_VALUES: &[(&str, &[usize], &str)] = &[
    ("arithmetic/plus.json", &[5, 6, 19, 20, 21, 22], PREFIX),
    ("arithmetic/multiply.json", &[5, 6, 8], PREFIX),
    ("arithmetic/multiply.json", &[14], "`*` of nothing is an error"),
    ("arithmetic/multiply.json", &[17, 18, 19, 20, 21, 22, 23], "one factor is left as it is"),
    ("arithmetic/minus.json", &[2, 3, 4, 5, 6], TWO),
    ("arithmetic/divide.json", &[2, 5, 7, 9, 11, 13, 14, 15, 16, 18, 19, 21], TWO),
    ("arithmetic/modulo.json", &[9], TWO),
    ("comparison/greaterThan.json", &[1], TWO),
    ("comparison/greaterThanEquals.json", &[1], TWO),
    ("comparison/strictEquals.json", &[1], TWO),
    ("comparison/softEquals.json", &[27], "null == 0 is false in JavaScript"),
    ("comparison/softNotEquals.json", &[26], "null == 0 is false in JavaScript"),
    ("control/and.json", &[20], "`and` of nothing is undefined, written null"),
    ("control/or.json", &[4], "`or` of nothing is undefined, written null"),
    ("array/reduce.json", &[6], "without an initial value `reduce` begins with null"),
    ("chained.json", &[3], "a list as the only operand is one operand"),
];

const PREFIX: &str = "`+` and `*` read numbers as parseFloat does";
const TWO: &str = "the operator takes two operands";

fn reason(
    table: &str,
    index: usize,
    case: &Value,
    outcome: &Result<Value, String>,
) -> Option<String> {
    if let Err(error) = outcome
        && error.contains("(L0101)")
    {
        let name = error.split('`').nth(1).unwrap_or_default();
        return Some(format!("`{name}` is an operator of the newer dialect"));
    }
    if case.get("error").is_some() {
        return Some("JavaScript coerces where the newer dialect has an error".to_owned());
    }
    OTHER_VALUES
        .iter()
        .find(|(known, indexes, _)| *known == table && indexes.contains(&index))
        .map(|(_, _, reason)| (*reason).to_owned())
}

fn evaluate(rule: &Value, data: &Value) -> Result<Value, String> {
    let compiled = JsonLogic::compile(rule).map_err(|errors| errors[0].to_string())?;
    compiled.eval(&PlainScope::shared(data.clone()), &Env::at(0)).map_err(|error| error.to_string())
}
