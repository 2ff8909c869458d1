//! Whether a text is the body of a function.

use std::time::Duration;

use rquickjs::context::EvalOptions;
use rquickjs::{Context, Ctx, Function, Runtime};

use crate::error::Place;
use crate::execute::{Intrinsics, explain};
use crate::limits::MAX_SCRIPT_BYTES;
use crate::{Limits, ScriptError};

/// What is wrong with the text of a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxError {
    /// What is wrong.
    pub message: String,
    /// Where, if that is known.
    pub place: Option<Place>,
}

/// The name under which the engine knows the text, to find its places again.
pub(crate) const FILE: &str = "hook";

/// Parsing has no interrupts; what it may use is bounded by the size of the text and this.
const MEMORY: usize = 64 << 20;

/// Checks that a script is the body of an `async` function. Nothing of it is executed.
pub fn check(script: &str) -> Result<(), SyntaxError> {
    if script.len() > MAX_SCRIPT_BYTES {
        return Err(SyntaxError {
            message: format!(
                "the script is larger than the limit ({} of {MAX_SCRIPT_BYTES} bytes)",
                script.len()
            ),
            place: None,
        });
    }
    let engine = |error: rquickjs::Error| SyntaxError { message: error.to_string(), place: None };
    let limits = Limits { memory: MEMORY, time: Duration::MAX, ..Limits::default() };
    let runtime = Runtime::new().map_err(engine)?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let context = Context::custom::<Intrinsics>(&runtime).map_err(engine)?;
    context.with(|ctx| {
        // A text that closes the function it is put into fits one of these, never both.
        let parsed = function(&ctx, script)
            .and_then(|_| evaluate::<rquickjs::Value<'_>>(&ctx, &as_method(script)).map(drop));
        parsed.map_err(|error| match explain(&ctx, error, &limits).of_parser(script) {
            ScriptError::Syntax { message, place } => SyntaxError { message, place },
            other => SyntaxError { message: other.to_string(), place: None },
        })
    })
}

/// The script as a function of `context`. Its first line is the second of what is parsed.
pub(crate) fn function<'js>(ctx: &Ctx<'js>, script: &str) -> rquickjs::Result<Function<'js>> {
    evaluate(ctx, &format!("(async function (context) {{\n{script}\n}})"))
}

fn as_method(script: &str) -> String {
    format!("(class {{ async hook(context) {{\n{script}\n}} }})")
}

fn evaluate<'js, V: rquickjs::FromJs<'js>>(ctx: &Ctx<'js>, text: &str) -> rquickjs::Result<V> {
    let mut options = EvalOptions::default();
    options.filename = Some(FILE.to_owned());
    options.strict = true;
    ctx.eval_with_options(text, options)
}

/// The place an engine's stack trace begins with, in lines of the script.
pub(crate) fn place_in(stack: &str) -> Option<Place> {
    stack.lines().find_map(|frame| {
        let (_, rest) = frame.split_once(&format!("{FILE}:"))?;
        let mut numbers = rest.split(|c: char| !c.is_ascii_digit());
        let line: u32 = numbers.next()?.parse().ok()?;
        let column: u32 = numbers.next()?.parse().ok()?;
        Some(Place { line: line.saturating_sub(1).max(1), column })
    })
}
