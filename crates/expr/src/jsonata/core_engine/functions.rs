//! The functions that expressions get from us: those of the history, and built-ins of the engine
//! that are wrong there or that build strings of any length.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use jsonata_core::ast::AstNode;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorError};
use jsonata_core::functions::string::string as stringify;
use jsonata_core::value::JValue;
use mcpgraph_value::Value;

use super::convert::to_engine;
use crate::budget::out_of_bytes;
use crate::{ExprError, Scope};

type Outcome = Result<JValue, EvaluatorError>;

/// The name under which `&` is called; no expression can spell it.
pub(super) const CONCATENATE: &str = "&";

/// The bytes of the strings that one evaluation has built.
pub(super) struct Spent {
    total: Cell<usize>,
    limit: usize,
}

impl Spent {
    pub(super) fn new(limit: usize) -> Self {
        Self { total: Cell::new(0), limit }
    }

    pub(super) fn total(&self) -> usize {
        self.total.get()
    }

    fn add(&self, bytes: usize) -> Result<(), EvaluatorError> {
        self.total.set(self.total.get().saturating_add(bytes));
        if self.total.get() > self.limit { Err(raise(out_of_bytes(self.limit))) } else { Ok(()) }
    }
}

/// Makes all of them known to an evaluator.
pub(super) fn register(
    evaluator: &mut Evaluator,
    scope: &Arc<dyn Scope>,
    now: i64,
    spent: &Rc<Spent>,
) -> Result<(), EvaluatorError> {
    register_history(evaluator, scope)?;

    evaluator.register_fn_override("millis", move |_: &[JValue]| Ok(JValue::Number(now as f64)))?;
    evaluator.register_fn_override("now", move |args: &[JValue]| {
        let mut all = vec![JValue::Number(now as f64)];
        all.extend_from_slice(args);
        builtin("fromMillis", &all)
    })?;
    evaluator.register_fn_override("encodeUrl", |args: &[JValue]| {
        encode("encodeUrl", args, "-_.!~*'();/?:@&=+$,#")
    })?;
    evaluator.register_fn_override("encodeUrlComponent", |args: &[JValue]| {
        encode("encodeUrlComponent", args, "-_.!~*'()")
    })?;
    let counted = Rc::clone(spent);
    evaluator.register_fn_override("pad", move |args: &[JValue]| {
        text("pad", args)?;
        if let Some(width) = args.get(1).and_then(JValue::as_f64) {
            counted.add(width.abs() as usize)?;
        }
        builtin("pad", args)
    })?;
    let counted = Rc::clone(spent);
    evaluator.register_fn_override("formatInteger", move |args: &[JValue]| {
        // Roman numerals have a letter for every thousand.
        let roman = |picture: &str| picture.contains(['i', 'I']);
        if let Some(number) = number("formatInteger", args, 0)?
            && args.get(1).and_then(JValue::as_str).is_some_and(roman)
        {
            counted.add((number.abs() / 1000.0) as usize)?;
        }
        builtin("formatInteger", args)
    })?;
    let counted = Rc::clone(spent);
    evaluator.register_fn(CONCATENATE, move |args: &[JValue]| concatenate(args, &counted))
}

fn register_history(
    evaluator: &mut Evaluator,
    scope: &Arc<dyn Scope>,
) -> Result<(), EvaluatorError> {
    let history = Arc::clone(scope);
    evaluator.register_fn("previousNode", move |args: &[JValue]| {
        let back = match args.first() {
            None => 1.0,
            Some(_) => number("previousNode", args, 0)?.unwrap_or(1.0),
        };
        let found = (back >= 1.0).then(|| history.previous(back as usize)).flatten();
        give(&found.unwrap_or_default())
    })?;
    let history = Arc::clone(scope);
    evaluator.register_fn("executionCount", move |args: &[JValue]| {
        let count = text("executionCount", args)?.map_or(0, |node| history.execution_count(node));
        Ok(JValue::Number(count as f64))
    })?;
    let history = Arc::clone(scope);
    evaluator.register_fn("nodeExecution", move |args: &[JValue]| {
        let index = number("nodeExecution", args, 1)?;
        let found = match (text("nodeExecution", args)?, index) {
            (Some(node), Some(index)) => history.execution(node, index.floor() as i64),
            _ => None,
        };
        give(&found.unwrap_or_default())
    })?;
    let history = Arc::clone(scope);
    evaluator.register_fn("nodeExecutions", move |args: &[JValue]| {
        let all = text("nodeExecutions", args)?.map(|node| history.executions(node));
        give(&Value::array(all.unwrap_or_default()))
    })
}

fn give(value: &Value) -> Outcome {
    to_engine(value, 0).map_err(raise)
}

fn raise(error: ExprError) -> EvaluatorError {
    EvaluatorError::EvaluationError(format!("{}: {}", error.code, error.message))
}

/// The first argument as a string; none where it is undefined.
fn text<'a>(function: &str, args: &'a [JValue]) -> Result<Option<&'a str>, EvaluatorError> {
    match args.first() {
        Some(JValue::String(text)) => Ok(Some(text)),
        Some(JValue::Undefined) => Ok(None),
        _ => Err(mismatch(function, 0)),
    }
}

/// An argument as a number; none where it is undefined.
fn number(function: &str, args: &[JValue], index: usize) -> Result<Option<f64>, EvaluatorError> {
    match args.get(index) {
        Some(JValue::Number(number)) => Ok(Some(*number)),
        Some(JValue::Undefined) => Ok(None),
        _ => Err(mismatch(function, index)),
    }
}

fn mismatch(function: &str, index: usize) -> EvaluatorError {
    EvaluatorError::TypeError(format!(
        "T0410: Argument {} of function \"{function}\" does not match function signature",
        index + 1
    ))
}

/// Calls a function of the engine's own, in an evaluator that knows no others.
fn builtin(name: &str, args: &[JValue]) -> Outcome {
    let mut context = Context::new();
    let mut arguments = Vec::with_capacity(args.len());
    for (index, arg) in args.iter().enumerate() {
        let variable = format!("a{index}");
        context.bind(variable.clone(), arg.clone());
        arguments.push(AstNode::Variable(variable));
    }
    let call = AstNode::Function { name: name.to_owned(), args: arguments, is_builtin: true };
    Evaluator::with_context(context).evaluate(&call, &JValue::Undefined)
}

/// `&`: both sides as strings, undefined as an empty one.
fn concatenate(args: &[JValue], spent: &Spent) -> Outcome {
    let mut text = String::new();
    for arg in args {
        let part = stringify(arg, None)?;
        let part = part.as_str().unwrap_or_default();
        spent.add(part.len())?;
        text.push_str(part);
    }
    Ok(JValue::string(text))
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

/// Percent-encodes what is neither a letter, a digit nor in `kept`.
fn encode(function: &str, args: &[JValue], kept: &str) -> Outcome {
    let Some(text) = text(function, args)? else {
        return Ok(JValue::Undefined);
    };
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push('%');
            encoded.extend([byte >> 4, byte & 15].map(|digit| char::from(HEX[usize::from(digit)])));
        }
    }
    Ok(JValue::string(encoded))
}
