use mcpgraph_expr::JsonPath;
use mcpgraph_value::Value;

use crate::{read, settle, suite_or_skip};

#[test]
fn every_case_of_rfc_9535() {
    let folder = suite_or_skip!("jsonpath");
    let suite = read(&folder.join("cts.json"));
    let cases = suite.get("tests").unwrap().as_array().unwrap();
    let mut failed = Vec::new();
    for case in cases.iter() {
        if let Err(what) = check(case) {
            failed.push((case.get("name").unwrap().as_str().unwrap().to_owned(), what));
        }
    }
    settle("JSONPath", cases.len(), &failed, &[]);
}

fn check(case: &Value) -> Result<(), String> {
    let selector = case.get("selector").unwrap().as_str().unwrap();
    let compiled = JsonPath::compile(selector);
    if case.get("invalid_selector").is_some() {
        return compiled.map_or(Ok(()), |_| Err("accepted".to_owned()));
    }
    let query = compiled.map_err(|error| error.to_string())?;
    let document = case.get("document").unwrap();
    let values = query.query(document).map_err(|error| error.to_string())?;
    let located = query.query_located(document).map_err(|error| error.to_string())?;
    let paths = located.iter().map(|found| Value::string(found.path.as_str())).collect();
    if values != located.iter().map(|found| found.value.clone()).collect::<Vec<_>>() {
        return Err("the values differ with and without their paths".to_owned());
    }
    let found = [Value::array(values), Value::array(paths)];
    // The order of an object's members is free, so that some cases have several results.
    let expected = |one: &str, several: &str| match (case.get(one), case.get(several)) {
        (Some(one), _) => vec![one.clone()],
        (None, Some(several)) => several.as_array().unwrap().to_vec(),
        (None, None) => Vec::new(),
    };
    for (found, (one, several)) in
        found.iter().zip([("result", "results"), ("result_paths", "results_paths")])
    {
        let expected = expected(one, several);
        if !expected.contains(found) {
            return Err(format!("{found} instead of {expected:?}"));
        }
    }
    Ok(())
}
