use std::io::Read as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use mcpgraph_expr::{Env, ExprError, JsonLogic, JsonPath, Jsonata, PlainScope};
use mcpgraph_value::{Map, Value};

use super::args::{EvalArgs, Language};
use super::{Exit, output};

/// Evaluates an expression on some data, with the same code that nodes use.
pub(super) fn eval(args: &EvalArgs) -> anyhow::Result<Exit> {
    let context = match &args.context {
        Some(path) => read_json(path)?,
        None => Value::object(Map::new()),
    };
    let (text, exit) = match evaluate(args, context) {
        Ok(Some(value)) => (value.to_json_pretty() + "\n", Exit::Success),
        Ok(None) => (String::new(), Exit::Success),
        Err(error) => (describe(&error).to_json() + "\n", Exit::Failure),
    };
    output::data(&text)?;
    Ok(exit)
}

fn evaluate(args: &EvalArgs, context: Value) -> Result<Option<Value>, ExprError> {
    let env = Env::at(now_millis());
    match args.language {
        Language::Jsonata => {
            Jsonata::compile(&args.expression)?.eval(&PlainScope::shared(context), &env)
        }
        Language::Jsonlogic => {
            let rule = Value::from_json(&args.expression).map_err(|error| {
                ExprError::new("L0001", format!("the rule is not JSON: {error}"))
            })?;
            let rule = JsonLogic::compile(&rule).map_err(first)?;
            rule.eval(&PlainScope::shared(context), &env).map(Some)
        }
        Language::Jsonpath => {
            JsonPath::compile(&args.expression)?.query(&context).map(|found| Some(found.into()))
        }
    }
}

fn first(errors: Vec<ExprError>) -> ExprError {
    errors
        .into_iter()
        .next()
        .unwrap_or_else(|| ExprError::new("L0001", "the rule cannot be compiled"))
}

fn describe(error: &ExprError) -> Value {
    let mut details: Map = Map::from_iter([
        ("code", Value::from(error.code)),
        ("message", Value::from(error.message.as_str())),
        ("position", error.position.into()),
    ]);
    let known = [
        ("token", error.token.clone()),
        ("pointer", error.pointer.as_deref().map(str::to_owned)),
        ("hint", error.hint()),
    ];
    for (key, text) in known {
        if let Some(text) = text {
            details.insert(key, text);
        }
    }
    Map::from_iter([("error", details)]).into()
}

fn read_json(path: &Path) -> anyhow::Result<Value> {
    let name = path.display();
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        Value::from_json(&text).map_err(|error| anyhow::anyhow!("stdin is not JSON: {error}"))
    } else {
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
        Value::from_json(&text).map_err(|error| anyhow::anyhow!("`{name}` is not JSON: {error}"))
    }
}

fn now_millis() -> i64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
