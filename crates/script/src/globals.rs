//! What a script finds besides the language.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rquickjs::function::{Opt, Rest};
use rquickjs::{
    CaughtError, Coerced, Ctx, Error, Exception, Function, IntoJs as _, Object, Promise, Result,
    Type, Value,
};

use crate::console::Console;
use crate::operations::Operations;
use crate::worker::Task;
use crate::{ConsoleLevel, FetchRequest, FetchResponse};

/// How many headers a request may have.
const MAX_HEADERS: usize = 64;

/// Puts everything in its place.
pub(crate) fn install<'js>(
    ctx: &Ctx<'js>,
    task: &Task,
    operations: &Rc<Operations<'js>>,
    console: &Rc<RefCell<Console>>,
) -> Result<()> {
    let globals = ctx.globals();
    globals.set("console", console_object(ctx, console)?)?;

    let started = Rc::clone(operations);
    let sleep = move |ctx: Ctx<'js>, ms: Opt<Coerced<f64>>| -> Result<Promise<'js>> {
        let ms = ms.0.map_or(0.0, |ms| ms.0);
        // Longer than any time limit is as good as any longer.
        let ms = if ms.is_nan() { 0.0 } else { ms.clamp(0.0, 86_400_000.0) };
        started.sleep(&ctx, Duration::from_secs_f64(ms / 1000.0))
    };
    globals.set("sleep", Function::new(ctx.clone(), sleep)?.with_name("sleep")?)?;

    let started = Rc::clone(operations);
    let fetch = move |ctx: Ctx<'js>, url: Coerced<String>, options: Opt<Value<'js>>| {
        let request = fetch_request(&ctx, url.0, options.0)?;
        started.fetch(&ctx, request)
    };
    globals.set("fetch", Function::new(ctx.clone(), fetch)?.with_name("fetch")?)?;

    let host = Arc::clone(&task.host);
    let server_info = move |ctx: Ctx<'js>, name: Coerced<String>| -> Result<Value<'js>> {
        match host.server_info(&name.0) {
            Some(info) => ctx.json_parse(info.to_json()),
            None => Ok(Value::new_null(ctx)),
        }
    };
    let server_info = Function::new(ctx.clone(), server_info)?.with_name("getServerInfo")?;
    globals.set("getServerInfo", server_info)
}

fn console_object<'js>(ctx: &Ctx<'js>, console: &Rc<RefCell<Console>>) -> Result<Object<'js>> {
    let object = Object::new(ctx.clone())?;
    for (name, level) in [
        ("debug", ConsoleLevel::Debug),
        ("log", ConsoleLevel::Info),
        ("info", ConsoleLevel::Info),
        ("warn", ConsoleLevel::Warn),
        ("error", ConsoleLevel::Error),
    ] {
        let console = Rc::clone(console);
        let write = move |ctx: Ctx<'js>, values: Rest<Value<'js>>| {
            if !console.borrow().is_open() {
                return;
            }
            let words: Vec<String> = values.0.iter().map(|value| word(&ctx, value)).collect();
            console.borrow_mut().write(level, words.join(" "));
        };
        object.set(name, Function::new(ctx.clone(), write)?.with_name(name)?)?;
    }
    Ok(object)
}

/// A value as the console shows it. Whatever a value does when it is looked at, a word comes of
/// it: what is only said for the record fails nothing.
fn word<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> String {
    shown(ctx, value)
        // Large integers are no JSON, nor are halves of characters text.
        .or_else(|_| with_large_integers(ctx, value))
        .unwrap_or_else(|error| format!("[{}{}]", value.type_name(), reason(ctx, error)))
}

/// Text as it is, errors with their message, data as JSON.
fn shown<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    if let Some(text) = value.as_string() {
        return text.to_string();
    }
    if value.is_undefined() {
        return Ok(String::from("undefined"));
    }
    if value.is_error() {
        return Ok(value.get::<Coerced<String>>()?.0);
    }
    if value.type_of() == Type::BigInt {
        return Ok(value.get::<Coerced<String>>()?.0 + "n");
    }
    match ctx.json_stringify(value.clone())? {
        Some(json) => json.to_string(),
        None => Ok(format!("[{}]", value.type_name())),
    }
}

/// Data as JSON in which large integers are texts.
fn with_large_integers<'js>(ctx: &Ctx<'js>, value: &Value<'js>) -> Result<String> {
    // Nothing looks at what was thrown before.
    drop(ctx.catch());
    let replace = |ctx: Ctx<'js>, _key: Value<'js>, value: Value<'js>| -> Result<Value<'js>> {
        match value.type_of() {
            Type::BigInt => format!("{}n", value.get::<Coerced<String>>()?.0).into_js(&ctx),
            _ => Ok(value),
        }
    };
    let replace = Function::new(ctx.clone(), replace)?;
    let json = ctx.json_stringify_replacer(value.clone(), replace)?;
    json.map_or(Ok(String::new()), |json| json.to_string())
}

/// Why a value cannot be shown.
fn reason(ctx: &Ctx<'_>, error: Error) -> String {
    let message = match CaughtError::from_error(ctx, error) {
        CaughtError::Exception(exception) => exception.message(),
        CaughtError::Value(_) | CaughtError::Error(_) => None,
    };
    // The message of an error can throw, too.
    drop(ctx.catch());
    message.map(|message| format!(": {message}")).unwrap_or_default()
}

/// Reads the arguments of `fetch`.
fn fetch_request<'js>(
    ctx: &Ctx<'js>,
    url: String,
    options: Option<Value<'js>>,
) -> Result<FetchRequest> {
    let mut request =
        FetchRequest { url, method: String::from("GET"), headers: Vec::new(), body: None };
    let Some(options) = options.as_ref().and_then(Value::as_object) else { return Ok(request) };
    if let Some(method) = options.get::<_, Option<Coerced<String>>>("method")? {
        request.method = method.0.to_ascii_uppercase();
    }
    if let Some(body) = options.get::<_, Option<Coerced<String>>>("body")? {
        request.body = Some(body.0);
    }
    if let Some(headers) = options.get::<_, Option<Object<'js>>>("headers")? {
        for header in headers.props::<String, Coerced<String>>() {
            let (name, value) = header?;
            if request.headers.len() == MAX_HEADERS {
                let message = format!("a request has at most {MAX_HEADERS} headers");
                return Err(Exception::throw_message(ctx, &message));
            }
            request.headers.push((name, value.0));
        }
    }
    Ok(request)
}

/// The answer to a request as a script sees it.
pub(crate) fn response<'js>(ctx: &Ctx<'js>, response: FetchResponse) -> Result<Object<'js>> {
    let FetchResponse { status, status_text, headers, body } = response;
    let object = Object::new(ctx.clone())?;
    object.set("ok", (200..300).contains(&status))?;
    object.set("status", status)?;
    object.set("statusText", status_text)?;
    let all = Object::new(ctx.clone())?;
    for (name, value) in headers {
        all.set(name, value)?;
    }
    object.set("headers", all)?;
    let body: Rc<str> = body.into();
    let text = Rc::clone(&body);
    let as_text = move |ctx: Ctx<'js>| settled(&ctx, |_| Ok(&*text));
    object.set("text", Function::new(ctx.clone(), as_text)?)?;
    let as_json = move |ctx: Ctx<'js>| settled(&ctx, |ctx| ctx.json_parse(&*body));
    object.set("json", Function::new(ctx.clone(), as_json)?)?;
    Ok(object)
}

/// A promise for something that is there already.
fn settled<'js, T: rquickjs::IntoJs<'js>>(
    ctx: &Ctx<'js>,
    value: impl FnOnce(&Ctx<'js>) -> Result<T>,
) -> Result<Promise<'js>> {
    let (promise, resolve, reject) = ctx.promise()?;
    match value(ctx) {
        Ok(value) => resolve.call::<_, ()>((value,))?,
        Err(Error::Exception) => reject.call::<_, ()>((ctx.catch(),))?,
        Err(error) => return Err(error),
    }
    Ok(promise)
}
