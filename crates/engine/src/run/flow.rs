//! What flows through a workflow: the request, the response, and what its nodes keep for those that
//! follow. Expressions read them by these names, scripts as members of `context`.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::Scope as _;
use mcpgraph_graph::{Hook, Kind, Target};
use mcpgraph_value::{Map, Value};

use super::Run;
use super::checks::check_payload;
use crate::{ErrorKind, RunError, ScopeView, TaskId};

const REQUEST: &str = "request";
const RESPONSE: &str = "response";
const METADATA: &str = "metadata";
const VARIABLES: &str = "variables";

/// What a hook, or a transform in its place, may give.
const ANSWERS: [&str; 5] = ["continue", "error", REQUEST, RESPONSE, "context"];

impl Run {
    /// A workflow begins with the request and what is known of it.
    pub(super) fn start_flow(&mut self, id: TaskId, now: Duration) {
        let Some(scope) = self.scope_of(id) else { return };
        let input = scope.input.clone();
        begin(&mut scope.view, &input);
        self.announce(id, None, now);
        self.succeed(id, input, now);
    }

    /// It ends with the response.
    pub(super) fn end_flow(&mut self, id: TaskId, now: Duration) {
        let Some(scope) = self.scope_of(id) else { return };
        let response = scope.view.output(RESPONSE);
        self.announce(id, None, now);
        match response {
            Some(response) => self.succeed(id, response, now),
            None => {
                let error = RunError::new(
                    ErrorKind::NoResponse,
                    "the workflow came to its end without a response; lead every way through the \
                     mcp-call, or let a hook return a response",
                );
                self.fail(id, error, now);
            }
        }
    }

    /// Makes the call the workflow is put around. A response that is there already is the answer.
    pub(super) fn call_wrapped(&mut self, id: TaskId, now: Duration) {
        let Some(scope) = self.scope_of(id) else { return };
        let request = scope.view.output(REQUEST).unwrap_or_default();
        match scope.view.output(RESPONSE) {
            Some(response) => {
                self.announce(id, None, now);
                self.succeed(id, response, now);
            }
            None => self.with_input(id, request, now),
        }
    }

    /// Has a script run. What it is given is not told: it is what the steps before it gave.
    pub(super) fn call_hook(&mut self, id: TaskId, hook: &Arc<Hook>, now: Duration) {
        let number = self.announce(id, None, now);
        let Some(step) = self.steps.get(&id) else { return };
        let Some(scope) = self.scopes.get(&step.scope) else { return };
        let context = context(&scope.view, &scope.body.nodes[step.node].id);
        self.call(id, number, Target::Hook(Arc::clone(hook)), context, now);
        if !hook.blocking {
            self.detach(id, number, now);
        }
    }

    /// A call has its answer, which may change what flows.
    pub(super) fn called(&mut self, id: TaskId, output: Value, now: Duration) {
        let Some(step) = self.steps.get(&id) else { return };
        match &self.node(step).kind {
            Kind::Hook(_) => self.computed(id, output, now),
            Kind::Wrapped => {
                if let Some(scope) = self.scope_of(id) {
                    scope.view.set(RESPONSE.into(), output.clone());
                }
                self.succeed(id, output, now);
            }
            _ => self.succeed(id, output, now),
        }
    }

    /// A script or an expression gave its value, which in a workflow may change what flows.
    pub(super) fn computed(&mut self, id: TaskId, output: Value, now: Duration) {
        let limit = self.limits.payload_bytes;
        let Some(scope) = self.scope_of(id) else { return };
        let is_flow = matches!(scope.body.nodes[scope.body.start].kind, Kind::Start);
        if is_flow {
            // What is refused changes nothing: the flow may go on without it.
            let bytes = scope.view.added_bytes(&output);
            let too_large = check_payload("output", &output, bytes, limit);
            let mut view = scope.view.clone();
            match too_large.map_or_else(|| take(&mut view, &output), Err) {
                Ok(()) => scope.view = view,
                Err(error) => {
                    self.fail(id, error, now);
                    return;
                }
            }
        }
        self.succeed(id, output, now);
    }

    fn scope_of(&mut self, id: TaskId) -> Option<&mut super::LiveScope> {
        let scope = self.steps.get(&id)?.scope;
        self.scopes.get_mut(&scope).map(AsMut::as_mut)
    }
}

/// What flows through a workflow, put together from what its steps gave, for those who have nothing
/// but its record.
#[derive(Clone, Default)]
pub struct Flow(ScopeView);

impl Flow {
    /// What a workflow that was given this input begins with.
    pub fn new(input: &Value) -> Self {
        let mut view = ScopeView::default();
        begin(&mut view, input);
        Self(view)
    }

    /// Takes what a step that others follow gave; `kind` is the type of its node.
    pub fn take(&mut self, kind: &str, output: &Value) {
        match kind {
            "mcp-call" => self.0.set(RESPONSE.into(), output.clone()),
            // One that was refused has no step that follows.
            "hook" | "transform" => take(&mut self.0, output).unwrap_or_default(),
            _ => {}
        }
    }

    /// What it comes to, by name; the response is there once there is one.
    pub fn members(&self) -> impl Iterator<Item = (&'static str, Value)> {
        let names = [REQUEST, RESPONSE, METADATA, VARIABLES];
        names.into_iter().filter_map(|name| Some((name, self.0.output(name)?)))
    }
}

fn begin(view: &mut ScopeView, input: &Value) {
    for name in [REQUEST, METADATA] {
        view.set(name.into(), input.get(name).cloned().unwrap_or_default());
    }
    view.set(VARIABLES.into(), Map::new().into());
}

/// What a script finds as `context`.
fn context(view: &ScopeView, node: &Arc<str>) -> Value {
    let mut map = Map::new();
    map.insert(REQUEST, view.output(REQUEST).unwrap_or_default());
    if let Some(response) = view.output(RESPONSE) {
        map.insert(RESPONSE, response);
    }
    let mut metadata = match view.output(METADATA) {
        Some(Value::Object(known)) => (*known).clone(),
        _ => Map::new(),
    };
    metadata.insert("nodeId", Arc::clone(node));
    map.insert(METADATA, metadata);
    map.insert(VARIABLES, view.output(VARIABLES).unwrap_or_default());
    map.into()
}

/// Takes what a hook gave: nothing, a reason to stop, another request or response, variables.
///
/// Whatever else it gives is an error, because a typo in what guards a call must not open it.
fn take(view: &mut ScopeView, answer: &Value) -> Result<(), RunError> {
    let members = match answer {
        Value::Null => return Ok(()),
        Value::Object(members) => members,
        other => return Err(refused(&format!("{} where an object belongs", other.type_name()))),
    };
    if let Some(stranger) = members.keys().find(|key| !ANSWERS.contains(&&***key)) {
        return Err(refused(&format!("an object with the key `{stranger}`")));
    }
    match members.get("continue") {
        None | Some(Value::Bool(true)) => {}
        Some(Value::Bool(false)) => return Err(blocked(members.get("error"))),
        Some(_) => return Err(refused("a `continue` that is not true or false")),
    }
    for name in [REQUEST, RESPONSE] {
        match members.get(name) {
            None => {}
            Some(value @ Value::Object(_)) => view.set(name.into(), value.clone()),
            Some(_) => return Err(refused(&format!("a `{name}` that is not an object"))),
        }
    }
    match members.get("context") {
        None => Ok(()),
        Some(Value::Object(added)) => {
            let mut all = match view.output(VARIABLES) {
                Some(Value::Object(known)) => (*known).clone(),
                _ => Map::new(),
            };
            for (name, value) in added.iter() {
                all.insert(Arc::clone(name), value.clone());
            }
            view.set(VARIABLES.into(), all.into());
            Ok(())
        }
        Some(_) => Err(refused("a `context` that is not an object")),
    }
}

fn refused(what: &str) -> RunError {
    RunError::new(
        ErrorKind::HookFailed,
        format!(
            "it gave {what}; it may give nothing, or an object with `continue` and `error`, \
             `request`, `response` or `context`"
        ),
    )
}

/// The caller gets the text that the hook gives.
fn blocked(error: Option<&Value>) -> RunError {
    let message = error.and_then(|error| match error {
        Value::String(text) => Some(&**text),
        other => other.get("message").and_then(Value::as_str),
    });
    let message = message.unwrap_or("the call was stopped by a workflow");
    let stopped = RunError::new(ErrorKind::HookBlocked, message);
    match error {
        Some(error) => stopped.with_data(error.clone()),
        None => stopped,
    }
}
