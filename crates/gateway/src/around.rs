//! Calls and lists on their way through workflows, which nest like middleware.
//!
//! Each workflow is a run of its own. What it is put around, the next workflow or the call itself,
//! is asked for by the run and done here, where the client's request is.

use std::sync::Arc;

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
use crate::gateway::{Gateway, unknown_tool};
use crate::listing::Kind;
use crate::relay::{self, Params};
use crate::requests::Tracking;
use crate::view::View;
use crate::workflows::Layer;
use crate::{aliases, call as graph_call, requests, result};

/// Where a request is in its workflows.
struct Way<'a> {
    view: &'a View,
    call: &'a Call,
    around: Around,
    /// What scripts are told about the call.
    metadata: Map,
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
        let client = name_of(call);
        let mut name = asked.clone();
        if let Some(own) = self.own_name(view, call, &asked).await {
            params.insert("name".to_owned(), raw(&own));
            name = own;
        }
        let found = match view.offer.graph().tool(&name) {
            Some(_) => None,
            None => self.find(view, Kind::Tools, &name).await,
        };
        // What is not there for a client goes through no workflow; what workflows add is the graph's.
        if found.is_none() && !view.sees_own(&name) {
            return Err(unknown_tool(view, &asked));
        }
        let subject = Subject {
            server: found.as_ref().map(|(server, _)| server.as_str()),
            tool: Some(&name),
            inner_tool: found.as_ref().map(|(_, inner)| inner.as_str()),
            client: &client,
        };
        let layers = self.workflows().around(Around::Call, &subject);
        if layers.is_empty() {
            return self.call_directly(view, call, params, None).await;
        }
        let way = Way { view, call, around: Around::Call, metadata: metadata(&subject) };
        let response = self.through(&way, &layers, request(Around::Call, &params)?, None).await?;
        Ok(raw(&response))
    }

    /// Lists the tools through the workflows that are put around the list.
    pub(crate) async fn list_around(&self, view: &View, call: &Call) -> Result<Raw, RpcError> {
        let client = name_of(call);
        let subject = Subject { client: &client, ..Subject::default() };
        let layers = self.workflows().around(Around::List, &subject);
        if layers.is_empty() {
            return Ok(self.list_tools(view, call).await);
        }
        let way = Way { view, call, around: Around::List, metadata: metadata(&subject) };
        let request = request(Around::List, &relay::params(call)?)?;
        let response = self.through(&way, &layers, request, None).await?;
        if response.get("tools").and_then(Value::as_array).is_none() {
            return Err(RpcError::internal(
                "a workflow around `tools/list` gave a response without the list `tools`",
            ));
        }
        let (list, names) = aliases::unmarked(&response, |added| view.sees_own(added));
        self.aliases().learn(&whose(call), names);
        Ok(raw(&list))
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

    /// Sends a request through layers, outermost first, to what they are put around; `outer` is the
    /// run of the layer before.
    fn through<'a>(
        &'a self,
        way: &'a Way<'a>,
        layers: &'a [Layer],
        request: Value,
        outer: Option<&'a Outer>,
    ) -> BoxFuture<'a, Result<Value, RpcError>> {
        async move {
            let Some((layer, inner)) = layers.split_first() else {
                return self.innermost(way, &request, outer).await;
            };
            let (asked, mut asks) = mpsc::channel(1);
            let stop = CancellationToken::new();
            let (run, ended) = start(way, layer, outer, request, asked, &stop);
            // Whoever goes away takes the run along.
            let _stops = stop.drop_guard();
            tokio::pin!(ended);
            let mut failed = None;
            let finished = loop {
                tokio::select! {
                    biased;
                    finished = &mut ended => break finished,
                    () = way.call.cancel.cancelled() => {
                        return Err(RpcError::internal("the call was cancelled"));
                    }
                    Some(ask) = asks.recv() => {
                        let Ask { request, trace, cancel, reply } = ask;
                        let outer = Outer { run, trace };
                        let answer = tokio::select! {
                            answer = self.through(way, inner, request, Some(&outer)) => answer,
                            () = cancel.cancelled() => continue,
                        };
                        let answer = answer.map_err(|error| {
                            let passed = as_run_error(&error);
                            failed = Some(error);
                            passed
                        });
                        drop(reply.send(answer));
                    }
                }
            };
            outcome(way, layer, &finished, failed)
        }
        .boxed()
    }

    async fn innermost(
        &self,
        way: &Way<'_>,
        request: &Value,
        outer: Option<&Outer>,
    ) -> Result<Value, RpcError> {
        let answer = match way.around {
            Around::List => self.list_tools(way.view, way.call).await,
            Around::Call => {
                let params = request.get("params").cloned().unwrap_or_default();
                let params: Params = serde_json::from_str(&params.to_json()).map_err(|error| {
                    RpcError::invalid_params(format!("the parameters a workflow gave: {error}"))
                })?;
                self.call_directly(way.view, way.call, params, outer).await?
            }
        };
        let answer = Value::from_json(answer.get())
            .map_err(|error| RpcError::internal(format!("the response is not JSON: {error}")))?;
        Ok(if way.around == Around::List { aliases::marked(&answer) } else { answer })
    }
}

/// Starts the run of a workflow inside that of another; the future waits for what it comes to.
fn start(
    way: &Way<'_>,
    layer: &Layer,
    outer: Option<&Outer>,
    request: Value,
    asked: mpsc::Sender<Ask>,
    stop: &CancellationToken,
) -> (RunId, impl Future<Output = Finished> + use<>) {
    let mut metadata = way.metadata.clone();
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

fn request(around: Around, params: &Params) -> Result<Value, RpcError> {
    let params = Value::from_json(raw(params).get())
        .map_err(|error| RpcError::invalid_params(format!("the parameters: {error}")))?;
    Ok(Map::from_iter([("method", Value::from(around.name())), ("params", params)]).into())
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
