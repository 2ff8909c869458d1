//! One execution: an engine is made, the script is called, its jobs are pumped until its promise
//! is settled, and everything is thrown away.
//!
//! The pump is our own because the engine's would never come back from a script that makes two new
//! jobs in each of its jobs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use mcpgraph_value::Value;
use rquickjs::context::intrinsic;
use rquickjs::promise::PromiseState;
use rquickjs::{CaughtError, Coerced, Context, Ctx, Error, Promise, Runtime};

use crate::check::{function, place_in};
use crate::console::Console;
use crate::operations::{Message, Operations};
use crate::watch::{Clock, Watch};
use crate::worker::Task;
use crate::{Limits, Report, ScriptError, globals};

/// What of the language there is. Left out is what measures or observes: `performance`, `WeakRef`.
pub(crate) type Intrinsics = (
    intrinsic::Date,
    intrinsic::Eval,
    intrinsic::RegExpCompiler,
    intrinsic::RegExp,
    intrinsic::Json,
    intrinsic::Proxy,
    intrinsic::MapSet,
    intrinsic::TypedArrays,
    intrinsic::Promise,
);

/// Executes a task on this thread.
pub(crate) fn execute(task: &Task, inbox: Receiver<Message>, watch: &Arc<Watch>) -> Report {
    let console = Rc::new(RefCell::new(Console::new(task.limits.console)));
    let outcome = in_engine(task, inbox, watch, &console);
    let lines = console.borrow_mut().take();
    Report { outcome, console: lines }
}

fn in_engine(
    task: &Task,
    inbox: Receiver<Message>,
    watch: &Arc<Watch>,
    console: &Rc<RefCell<Console>>,
) -> Result<Option<Value>, ScriptError> {
    let engine = |error: Error| ScriptError::Engine(error.to_string());
    let limits = task.limits;
    let clock = Clock::start(limits, watch);
    let runtime = Runtime::new().map_err(engine)?;
    runtime.set_memory_limit(limits.memory);
    runtime.set_max_stack_size(limits.stack);
    let (deadline, watched) = (clock.deadline, Arc::clone(watch));
    runtime.set_interrupt_handler(Some(Box::new(move || watched.is_over(deadline))));
    let context = Context::custom::<Intrinsics>(&runtime).map_err(engine)?;
    context.with(|ctx| {
        let operations = Rc::new(Operations::new(task, inbox));
        let outcome = call(&ctx, task, &operations, console, &clock);
        // What the engine holds of the operations and they of the engine would keep both alive.
        operations.clear();
        outcome
    })
}

/// Calls the script and waits for what it gives.
fn call<'js>(
    ctx: &Ctx<'js>,
    task: &Task,
    operations: &Rc<Operations<'js>>,
    console: &Rc<RefCell<Console>>,
    clock: &Clock<'_>,
) -> Result<Option<Value>, ScriptError> {
    let limits = &task.limits;
    // An interrupted script fails in many ways; that it was interrupted is what matters.
    let failed = |error| clock.stop().unwrap_or_else(|| explain(ctx, error, limits));
    globals::install(ctx, task, operations, console).map_err(failed)?;
    let script =
        function(ctx, &task.script).map_err(|error| failed(error).of_parser(&task.script))?;
    let argument = ctx.json_parse(&*task.context).map_err(failed)?;
    let promise: Promise<'js> = script.call((argument,)).map_err(failed)?;
    while promise.state() == PromiseState::Pending {
        if let Some(stop) = clock.stop() {
            return Err(stop);
        }
        if !ctx.execute_pending_job() {
            operations.wait(ctx, clock)?.map_err(failed)?;
        }
    }
    let result: rquickjs::Value<'js> =
        promise.result().unwrap_or(Err(Error::Unknown)).map_err(failed)?;
    if result.is_undefined() {
        return Ok(None);
    }
    let text = ctx.json_stringify(result).map_err(failed)?;
    let text = text.map(|text| text.to_string()).transpose().map_err(failed)?;
    read_result(text, limits)
}

fn read_result(text: Option<String>, limits: &Limits) -> Result<Option<Value>, ScriptError> {
    let Some(text) = text else {
        return Err(ScriptError::NotJson(String::from("it is a function or a symbol")));
    };
    if text.len() > limits.result {
        return Err(ScriptError::ResultTooLarge { bytes: text.len(), limit: limits.result });
    }
    Value::from_json(&text).map(Some).map_err(|error| ScriptError::NotJson(error.to_string()))
}

/// What an error of the engine means.
pub(crate) fn explain(ctx: &Ctx<'_>, error: Error, limits: &Limits) -> ScriptError {
    let memory = ScriptError::Memory { limit: limits.memory };
    match CaughtError::from_error(ctx, error) {
        CaughtError::Error(Error::Allocation) => memory,
        CaughtError::Error(error) => ScriptError::Engine(error.to_string()),
        CaughtError::Exception(exception) => {
            let message = exception.message().unwrap_or_default();
            let name: String = exception
                .get::<_, Coerced<String>>("name")
                .map_or_else(|_| String::from("Error"), |name| name.0);
            let place = exception.stack().as_deref().and_then(place_in);
            match &*name {
                "InternalError" if message == "out of memory" => memory,
                _ if message.is_empty() => ScriptError::Threw { message: short(name), place },
                "Error" => ScriptError::Threw { message: short(message), place },
                _ => ScriptError::Threw { message: short(format!("{name}: {message}")), place },
            }
        }
        // Memory may be too scarce for an exception that says so.
        CaughtError::Value(value) if value.is_null() => memory,
        CaughtError::Value(value) => {
            let text = ctx.json_stringify(value).ok().flatten();
            let text = text.and_then(|text| text.to_string().ok()).unwrap_or_default();
            ScriptError::Threw { message: short(format!("the script threw {text}")), place: None }
        }
    }
}

/// A message that anybody can read to its end.
fn short(mut message: String) -> String {
    const LONGEST: usize = 2000;
    if message.len() > LONGEST {
        message.truncate(message.floor_char_boundary(LONGEST));
        message.push('…');
    }
    message
}
