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

fn evaluate(rule: &Value, data: &Value) -> Result<Value, String> {
    let compiled = JsonLogic::compile(rule).map_err(|errors| errors[0].to_string())?;
    compiled.eval(&PlainScope::shared(data.clone()), &Env::at(0)).map_err(|error| error.to_string())
}
