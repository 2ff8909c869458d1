//! Expressions tried on data, by the code that nodes use.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mcpgraph_diagnostics::codes;
use mcpgraph_expr::{Cancel, Env, ExprError, JsonLogic, Jsonata, Scope, truthy};
use mcpgraph_value::Value;
use serde_json::{Map, json};

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::predicate::StopOnDrop;

/// A flat `{node: output}` context, and the outputs before it in their order.
pub(crate) struct TriedScope {
    context: Value,
    history: Vec<(Arc<str>, Value)>,
}

impl TriedScope {
    /// What `context` and `history` of a call say.
    pub(crate) fn of(arguments: &Arguments) -> Arc<dyn Scope> {
        let history = arguments.get("history").and_then(Value::as_array);
        let history = history.map_or(&[][..], |entries| entries.as_slice());
        let entry = |entry: &Value| {
            let node: Arc<str> = entry.get("node")?.as_str()?.into();
            Some((node, entry.get("output").cloned().unwrap_or_default()))
        };
        Arc::new(Self {
            context: arguments.object("context"),
            history: history.iter().filter_map(entry).collect(),
        })
    }

    fn of_node<'a>(&'a self, node: &'a str) -> impl DoubleEndedIterator<Item = &'a Value> {
        self.history.iter().filter(move |(name, _)| **name == *node).map(|(_, output)| output)
    }
}

impl Scope for TriedScope {
    fn output(&self, node: &str) -> Option<Value> {
        // What the context says counts; the history fills in what it leaves out.
        self.context.get(node).or_else(|| self.of_node(node).next_back()).cloned()
    }

    fn names(&self) -> Vec<Arc<str>> {
        let members = self.context.as_object();
        let mut names: Vec<Arc<str>> =
            members.map(|members| members.keys().cloned().collect()).unwrap_or_default();
        for (name, _) in &self.history {
            if !names.contains(name) {
                names.push(Arc::clone(name));
            }
        }
        names
    }

    fn previous(&self, steps_back: usize) -> Option<Value> {
        let index = self.history.len().checked_sub(steps_back)?;
        self.history.get(index).map(|(_, output)| output.clone())
    }

    fn execution_count(&self, node: &str) -> usize {
        self.of_node(node).count()
    }

    fn execution(&self, node: &str, index: i64) -> Option<Value> {
        let from_end = usize::try_from(index.unsigned_abs()).ok()?;
        if index < 0 {
            self.of_node(node).rev().nth(from_end - 1).cloned()
        } else {
            self.of_node(node).nth(from_end).cloned()
        }
    }

    fn executions(&self, node: &str) -> Vec<Value> {
        self.of_node(node).cloned().collect()
    }
}

/// An expression that can be evaluated, or everything that is wrong with it.
pub(crate) fn compiled(expression: &str) -> Result<Jsonata, Failure> {
    Jsonata::compile(expression).map_err(|first| {
        let all = Jsonata::problems(expression);
        failed(if all.is_empty() { vec![first] } else { all })
    })
}

/// `testJSONata`.
pub(crate) async fn jsonata(arguments: Arguments) -> Answer {
    off_thread(move |env| {
        let expression = compiled(arguments.required("expression"))?;
        let result = expression.eval(&TriedScope::of(&arguments), &env);
        Ok(match result.map_err(|error| failed(vec![error]))? {
            Some(value) => json!({ "undefined": false, "result": value }),
            None => json!({ "undefined": true }),
        })
    })
    .await
}

/// `testJSONLogic`.
pub(crate) async fn logic(arguments: Arguments) -> Answer {
    off_thread(move |env| {
        let rule = arguments.get("expression").cloned().unwrap_or_default();
        let rule = JsonLogic::compile(&rule).map_err(failed)?;
        let result = rule.eval(&TriedScope::of(&arguments), &env);
        let result = result.map_err(|error| failed(vec![error]))?;
        Ok(json!({ "result": result, "holds": truthy(&result) }))
    })
    .await
}

/// Evaluates a JSONata expression as `testJSONata` does: `expression` on `context`, after
/// `history`. The answer and the error are those of that tool.
pub async fn try_jsonata(arguments: Value) -> Result<serde_json::Value, serde_json::Value> {
    jsonata(Arguments(arguments)).await.map_err(Failure::into_value)
}

/// Evaluates a JSON Logic rule as `testJSONLogic` does.
pub async fn try_logic(arguments: Value) -> Result<serde_json::Value, serde_json::Value> {
    logic(Arguments(arguments)).await.map_err(Failure::into_value)
}

/// Evaluates where blocking is no harm; the work stops when the call is dropped.
pub(crate) async fn off_thread<T: Send + 'static>(
    work: impl FnOnce(Env) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let cancel = Cancel::new();
    let _stop = StopOnDrop(cancel.clone());
    let env = Env { cancel, ..Env::at(i64::try_from(now.as_millis()).unwrap_or(i64::MAX)) };
    let done = tokio::task::spawn_blocking(move || work(env)).await;
    done.unwrap_or_else(|_| {
        Err(Failure::new(codes::RUN_INTERNAL, "the work failed by a fault of mcpgraph"))
    })
}

/// The errors of an expression; the first is the message.
pub(crate) fn failed(errors: Vec<ExprError>) -> Failure {
    let message = errors.first().map_or("the expression failed", |error| &error.message);
    let problems: Vec<_> = errors.iter().map(described).collect();
    let mut failure = Failure::unnumbered(message);
    if let Some(first) = problems.first() {
        for (key, value) in first.iter().filter(|(key, _)| *key != "message") {
            failure = failure.with(key, value.clone());
        }
    }
    failure.with("problems", json!(problems))
}

fn described(error: &ExprError) -> Map<String, serde_json::Value> {
    let facts = [
        ("code", Some(json!(error.code))),
        ("message", Some(json!(error.message))),
        ("position", error.position.map(|position| json!(position))),
        ("token", error.token.as_ref().map(|token| json!(token))),
        ("pointer", error.pointer.as_ref().map(|pointer| json!(pointer))),
        ("suggestion", error.hint().map(|hint| json!(hint))),
    ];
    let known = facts.into_iter().filter_map(|(key, fact)| Some((key.to_owned(), fact?)));
    known.collect()
}
