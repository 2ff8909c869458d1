//! Calls and lists on their way through workflows, which nest like middleware.
//!
//! Each workflow is a run of its own. What it is put around, the next workflow or the call itself,
//! is asked for by the run and done here, where the client's request is.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_graph::{Around, Subject};
use mcpgraph_journal::{Origin, RunId, TraceContext};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{Execution, Finished, Wrapped};
use mcpgraph_value::{Map, Value};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::aliases::Whose;
use crate::carried::Carried;
use crate::gateway::{Gateway, unknown_tool};
use crate::listing::Kind;
use crate::relay::{self, Params};
use crate::requests::Tracking;
use crate::view::View;
use crate::workflows::{Layer, Workflows};
use crate::{aliases, call as graph_call, requests, result};

/// How long what is inside a workflow may take to end when nobody waits for it any more.
const ENDING: Duration = Duration::from_secs(5);

/// A request that goes through workflows.
struct Way<'a> {
    view: &'a View,
    call: &'a Call,
    around: Around,
    /// The name by which the client introduced itself.
    client: String,
    /// The workflows that were in use when it came.
    workflows: Arc<Workflows>,
}

/// What a request is about, and where it is in its workflows.
struct Course {
    /// The tool that is called; none of a list.
    tool: Option<String>,
    /// What scripts are told about the call.
    metadata: Map,
    /// The workflows that it has yet to go through, outermost first.
    ahead: Vec<Layer>,
    /// Those that it is inside of.
    passed: Vec<Layer>,
}

/// The run that something is inside of.
pub(crate) struct Outer {
    pub(crate) run: RunId,
    /// The trace of the node that asked for what is inside, where a span was opened for it.
    pub(crate) trace: Option<TraceContext>,
}

impl Gateway {
    /// Calls a tool through the workflows that are put around it.
    pub(crate) async fn call_around(
        &self,
        view: &View,
        call: &Call,
        mut params: Params,
    ) -> Result<Raw, RpcError> {
        let asked = relay::text(&params, "name")?;
        let mut name = asked.clone();
        if let Some(own) = self.own_name(view, call, &asked).await {
            params.insert("name".to_owned(), raw(&own));
            name = own;
        }
        let way = Way::new(self, view, call, Around::Call);
        let course = match self.course(&way, &name, Vec::new()).await {
            Some(course) if !course.ahead.is_empty() => course,
            Some(_) => return self.call_directly(view, call, params, None).await,
            None => return Err(unknown_tool(view, &asked)),
        };
        let request = request(Around::Call, &params);
        Ok(self.through(&way, course, request, None).await?.into_text())
    }

    /// Lists the tools through the workflows that are put around the list.
    pub(crate) async fn list_around(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let way = Way::new(self, view, call, Around::List);
        let subject = Subject { client: &way.client, ..Subject::default() };
        let ahead = way.workflows.around(Around::List, &subject);
        if ahead.is_empty() {
            return Ok(self.list_tools(view, call).await);
        }
        let metadata = metadata(&subject);
        let course = Course { tool: None, metadata, ahead, passed: Vec::new() };
        let request = request(Around::List, &relay::params(call)?);
        let response = self.through(&way, course, request, None).await?;
        if response.value.get("tools").and_then(Value::as_array).is_none() {
            return Err(RpcError::internal(
                "a workflow around `tools/list` gave a response without the list `tools`",
            ));
        }
        let (list, names) = aliases::unmarked(&response.value, |added| view.sees_own(added));
        self.aliases().learn(&whose(call), names);
        // What nothing replaced has the names of the tools themselves.
        Ok(response.text.unwrap_or_else(|| raw(&list)))
    }

    /// What a call of a tool goes through, but for the workflows that it is inside of; none if the
    /// tool is not there for the client. What workflows add to a list is the graph's.
    async fn course(&self, way: &Way<'_>, name: &str, passed: Vec<Layer>) -> Option<Course> {
        let found = match way.view.offer.graph().tool(name) {
            Some(_) => None,
            None => self.find(way.view, Kind::Tools, name).await,
        };
        if found.is_none() && !way.view.sees_own(name) {
            return None;
        }
        let subject = Subject {
            server: found.as_ref().map(|(server, _)| server.as_str()),
            tool: Some(name),
            inner_tool: found.as_ref().map(|(_, inner)| inner.as_str()),
            client: &way.client,
        };
        let mut ahead = way.workflows.around(Around::Call, &subject);
        ahead.retain(|layer| !passed.iter().any(|known| known.is_same(layer)));
        Some(Course { tool: Some(name.to_owned()), metadata: metadata(&subject), ahead, passed })
    }

    /// The tool's own name, where workflows show it under another. A client may know the name from
    /// elsewhere, so that what is not known otherwise is looked for in the list.
    async fn own_name(&self, view: &View, call: &Call, name: &str) -> Option<String> {
        if !self.workflows().has(Around::List) {
            return None;
        }
        let whose = whose(call);
        let known = self.aliases().find(&whose, name);
        if known.is_some()
            || view.offer.graph().tool(name).is_some()
            || self.find(view, Kind::Tools, name).await.is_some()
        {
            return known;
        }
        // What goes wrong with the list is not this call's affair.
        drop(self.list_around(view, call).await);
        self.aliases().find(&whose, name)
    }

    /// Sends a request through the workflows ahead of it to what they are put around; `outer` is the
    /// run of the one before.
    fn through<'a>(
        &'a self,
        way: &'a Way<'a>,
        mut course: Course,
        request: Carried,
        outer: Option<&'a Outer>,
    ) -> BoxFuture<'a, Result<Carried, RpcError>> {
        async move {
            if course.ahead.is_empty() {
                return self.innermost(way, &request, outer).await;
            }
            let layer = course.ahead.remove(0);
            course.passed.push(layer.clone());
            let (asked, mut asks) = mpsc::channel(1);
            let stop = CancellationToken::new();
            let given = request.value.clone();
            let (run, ended) = start(way, &course, &layer, outer, given, asked, &stop);
            // Whoever goes away takes the run along.
            let _stops = stop.drop_guard();
            tokio::pin!(ended);
            let (mut answered, mut failed) = (None, None);
            let stop_inside = way.call.cancel.child_token();
            let inner_call = way.call.inside(stop_inside.clone());
            let inner_way = way.with(&inner_call);
            let finished = loop {
                tokio::select! {
                    biased;
                    finished = &mut ended => break finished,
                    () = way.call.cancel.cancelled() => {
                        return Err(RpcError::internal("the call was cancelled"));
                    }
                    Some(ask) = asks.recv() => {
                        let Ask { request: wanted, trace, cancel, reply } = ask;
                        let outer = Outer { run, trace };
                        let wanted = request.or(wanted);
                        let answer = {
                            let inside = self.inside(&inner_way, &course, wanted, &outer);
                            tokio::pin!(inside);
                            tokio::select! {
                                answer = &mut inside => answer,
                                () = cancel.cancelled() => {
                                    // Runs in there are told, so that their records have an end.
                                    stop_inside.cancel();
                                    drop(tokio::time::timeout(ENDING, inside).await);
                                    continue;
                                }
                            }
                        };
                        drop(reply.send(match answer {
                            Ok(answer) => Ok(answered.insert(answer).value.clone()),
                            Err(error) => Err(as_run_error(failed.insert(error))),
                        }));
                    }
                }
            };
            let response = outcome(way, &layer, &finished, failed)?;
            Ok(answered.unwrap_or_default().or(response))
        }
        .boxed()
    }

    /// Sends a request on from inside a workflow. A call that became one of another tool goes through
    /// what is put around that one, or its guards could be gone around.
    async fn inside(
        &self,
        way: &Way<'_>,
        course: &Course,
        request: Carried,
        outer: &Outer,
    ) -> Result<Carried, RpcError> {
        let name = request.value.pointer("/params/name").and_then(Value::as_str);
        let next = match (&course.tool, name) {
            (Some(tool), Some(name)) if *name != **tool => {
                let next = self.course(way, name, course.passed.clone()).await;
                next.ok_or_else(|| unknown_tool(way.view, name))?
            }
            _ => Course {
                tool: course.tool.clone(),
                metadata: course.metadata.clone(),
                ahead: course.ahead.clone(),
                passed: course.passed.clone(),
            },
        };
        self.through(way, next, request, Some(outer)).await
    }

    async fn innermost(
        &self,
        way: &Way<'_>,
        request: &Carried,
        outer: Option<&Outer>,
    ) -> Result<Carried, RpcError> {
        Ok(match way.around {
            Around::List => {
                let list = Carried::read(self.list_tools(way.view, way.call).await);
                Carried { value: aliases::marked(&list.value), ..list }
            }
            Around::Call => {
                let params = match &request.text {
                    Some(text) => serde_json::from_str(text.get()),
                    None => {
                        let params = request.value.get("params").cloned().unwrap_or_default();
                        serde_json::from_str(&params.to_json())
                    }
                };
                let params: Params = params.map_err(|error| {
                    RpcError::invalid_params(format!("the parameters a workflow gave: {error}"))
                })?;
                Carried::read(self.call_directly(way.view, way.call, params, outer).await?)
            }
        })
    }
}

impl<'a> Way<'a> {
    fn new(gateway: &Gateway, view: &'a View, call: &'a Call, around: Around) -> Self {
        Self { view, call, around, client: name_of(call), workflows: gateway.workflows() }
    }

    /// The same way for what is inside a workflow. A list is no run, and needs its parameters.
    fn with<'b>(&'b self, inner: &'b Call) -> Way<'b> {
        let call = if self.around == Around::Call { inner } else { self.call };
        let (client, workflows) = (self.client.clone(), Arc::clone(&self.workflows));
        Way { view: self.view, call, around: self.around, client, workflows }
    }
}

/// Starts the run of a workflow inside that of another; the future waits for what it comes to.
fn start(
    way: &Way<'_>,
    course: &Course,
    layer: &Layer,
    outer: Option<&Outer>,
    request: Value,
    asked: mpsc::Sender<Ask>,
    stop: &CancellationToken,
) -> (RunId, impl Future<Output = Finished> + use<>) {
    let mut metadata = course.metadata.clone();
    metadata.insert("workflowId", Arc::clone(&layer.workflow.id));
    let input = Map::from_iter([("request", request), ("metadata", metadata.into())]);
    let (answer, answered) = oneshot::channel();
    let execution = Execution {
        origin: inside(graph_call::origin(way.call), outer),
        caller: Arc::new(Tracking(requests::trail(way.call).cloned())),
        cancel: stop.clone(),
        wrapped: Some(Arc::new(Inside(asked))),
        answer: Some(answer),
        ..Execution::new(Arc::clone(&layer.graph), Arc::clone(&layer.workflow.tool), input.into())
    };
    let run = execution.id;
    requests::becomes(way.call, run);
    let offer = Arc::clone(&way.view.offer);
    // Hooks that nothing waits for may take longer than the client does.
    let running = tokio::spawn(async move { offer.runtime().execute(execution).await });
    let ended = async move {
        match answered.await {
            Ok(finished) => finished,
            Err(_) => running.await.unwrap_or_else(|_| Finished {
                run,
                outcome: Err(RunError::new(ErrorKind::Internal, "the run of a workflow was lost")),
                failed: None,
                place: None,
            }),
        }
    };
    (run, ended)
}

/// Who asks for a run, if that is inside another one.
pub(crate) fn inside(origin: Origin, outer: Option<&Outer>) -> Origin {
    let Some(Outer { run, trace }) = outer else { return origin };
    Origin { around: Some(*run), trace: trace.clone().or(origin.trace), ..origin }
}

/// What the run of a workflow means for the request.
fn outcome(
    way: &Way<'_>,
    layer: &Layer,
    finished: &Finished,
    failed: Option<RpcError>,
) -> Result<Value, RpcError> {
    match (&finished.outcome, failed) {
        (Ok(response), _) => Ok(response.clone()),
        // What it is put around failed, and nothing in it took care of that.
        (Err(RunError { kind: ErrorKind::ProtocolError { .. }, .. }), Some(failed)) => Err(failed),
        (Err(error), _) => match way.around {
            Around::Call => Ok(result::stopped(error, &layer.workflow, finished)),
            Around::List => Err(RpcError::internal(format!(
                "workflow `{}`: {error} ({}, run {})",
                layer.workflow.name,
                error.kind.code(),
                finished.run
            ))),
        },
    }
}

/// The request as scripts see it, and its parameters as they came.
fn request(around: Around, params: &Params) -> Carried {
    let Carried { value: params, text } = Carried::read(raw(params));
    let value = Map::from_iter([("method", Value::from(around.name())), ("params", params)]).into();
    Carried { value, text }
}

/// What scripts are told about a call besides its request.
fn metadata(subject: &Subject<'_>) -> Map {
    let mut metadata = Map::new();
    metadata.insert("clientId", subject.client);
    for (key, value) in [("serverName", subject.server), ("toolName", subject.inner_tool)] {
        if let Some(value) = value {
            metadata.insert(key, value);
        }
    }
    metadata
}

/// To whom the names belong that a client is shown.
fn whose(call: &Call) -> Whose {
    Whose { principal: call.client.principal.clone(), client: name_of(call) }
}

/// The name by which a client introduced itself.
fn name_of(call: &Call) -> String {
    requests::client_name(&call.client).unwrap_or_else(|| "unknown".to_owned())
}

fn as_run_error(error: &RpcError) -> RunError {
    let kind = ErrorKind::ProtocolError { code: error.code };
    let data = error.data.as_ref().and_then(|data| Value::from_json(data.get()).ok());
    RunError { data, ..RunError::new(kind, error.message.clone()) }
}

/// The inside of a workflow, as its run sees it.
struct Inside(mpsc::Sender<Ask>);

/// A run asks for what its workflow is put around.
struct Ask {
    request: Value,
    trace: Option<TraceContext>,
    cancel: CancellationToken,
    reply: oneshot::Sender<Result<Value, RunError>>,
}

#[async_trait]
impl Wrapped for Inside {
    async fn call(
        &self,
        request: Value,
        trace: Option<TraceContext>,
        cancel: CancellationToken,
    ) -> Result<Value, RunError> {
        let gone = || RunError::new(ErrorKind::Cancelled, "the client of the workflow has gone");
        let (reply, answer) = oneshot::channel();
        self.0.send(Ask { request, trace, cancel, reply }).await.map_err(|_| gone())?;
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}
