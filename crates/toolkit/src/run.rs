//! Running: a tool of the file, a proposed one, or one upstream call.

use std::sync::Arc;
use std::time::Instant;

use mcpgraph_engine::Effect;
use mcpgraph_expr::{Env, Jsonata, Scope};
use mcpgraph_gateway::attend;
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{Execution, Finished};
use mcpgraph_upstream::CallContext;
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::definition::{broken, definitions, propose};
use crate::expressions::{self, TriedScope, failed};
use crate::steps::Steps;
use crate::toolkit::Toolkit;
use crate::{check, discover};

/// A tool that can be run, and the definitions of its file, its own first.
pub(crate) struct Runnable {
    pub(crate) graph: Arc<Graph>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) definitions: Vec<Value>,
}

/// `runGraphTool`.
pub(crate) async fn graph_tool(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let runnable = match (arguments.text("toolName"), arguments.get("toolDefinition")) {
        (Some(name), None) => saved(toolkit, name).await?,
        (None, Some(tool)) => inline(toolkit, tool.clone()).await?,
        _ => return Err(Failure::new("give either `toolName` or `toolDefinition`")),
    };
    let steps = Steps::default();
    let (graph, tool) = (Arc::clone(&runnable.graph), Arc::clone(&runnable.tool));
    let execution = Execution::new(graph, tool, arguments.object("arguments"));
    let runtime = &toolkit.runtime;
    let run = |execution| runtime.execute(execution);
    let finished = attend(call, execution, Some(steps.watch()), run).await;
    told(&finished, &steps, &runnable.definitions, arguments.flag("logging"))
}

/// The tool of the file with this name.
pub(crate) async fn saved(toolkit: &Toolkit, name: &str) -> Result<Runnable, Failure> {
    let loaded = toolkit.load().await?;
    let (Some(file), Some(graph)) = (loaded.file, loaded.graph) else {
        return Err(broken(&loaded.diagnostics));
    };
    let tool = graph.tool(name).cloned().ok_or_else(|| {
        Failure::unknown("tool", name, graph.tools.iter().map(|tool| &*tool.name))
    })?;
    Ok(Runnable { definitions: own_first(definitions(&file), name), graph, tool })
}

/// A proposed tool, which is checked first.
async fn inline(toolkit: &Toolkit, tool: Value) -> Result<Runnable, Failure> {
    let file = toolkit.file().await?;
    let proposed =
        toolkit.off_thread(move |documents| propose(documents, &file, None, &tool)).await?;
    let found = check::all_problems(toolkit, &proposed).await;
    let graph = proposed.loaded.graph.filter(|_| !check::has_errors(&found));
    let (Some(graph), Some(file)) = (graph, proposed.loaded.file) else {
        return Err(check::refused(found));
    };
    let Some(tool) = graph.tool(&proposed.name).cloned() else {
        return Err(check::refused(found));
    };
    Ok(Runnable { definitions: own_first(definitions(&file), &proposed.name), graph, tool })
}

fn own_first(mut definitions: Vec<Value>, name: &str) -> Vec<Value> {
    definitions.sort_by_key(|tool| crate::definition::name_of(tool) != Some(name));
    definitions
}

/// How a run went. What failed is told with everything that led there.
pub(crate) fn told(
    finished: &Finished,
    steps: &Steps,
    definitions: &[Value],
    logs: bool,
) -> Answer {
    let run = finished.run.to_string();
    match &finished.outcome {
        Ok(result) => {
            let mut answer = json!({ "run": run, "result": result });
            if logs {
                answer["steps"] = steps.to_json(definitions).into();
                answer["stepsLeftOut"] = steps.left_out().into();
            }
            Ok(answer)
        }
        Err(error) => {
            let details = serde_json::Value::from(&error.to_value());
            let mut failure = Failure::new(error.message.as_str()).with("run", run);
            for (key, value) in details.as_object().into_iter().flatten() {
                failure = failure.with(key, value.clone());
            }
            if let Some(failing) = steps.failing() {
                failure = failure.with("failedAt", failing);
            }
            Err(failure
                .with("steps", steps.to_json(definitions))
                .with("stepsLeftOut", steps.left_out()))
        }
    }
}

/// `testMcpTool`.
pub(crate) async fn mcp_tool(toolkit: &Toolkit, arguments: Arguments, call: &Call) -> Answer {
    let file = toolkit.file().await?;
    let server = discover::usable(&file, arguments.required("serverName"))?.name.to_string();
    let tool = arguments.required("toolName").to_owned();
    let tools = discover::tools_of(&toolkit.upstreams, &server).await.map_err(Failure::new)?;
    discover::find(&tools, &tool, &server)?;
    let args = expressions::off_thread(move |env| {
        let scope = TriedScope::of(&arguments);
        evaluated(&arguments.object("args"), &scope, &env).map(Option::unwrap_or_default)
    })
    .await?;
    let context = CallContext { cancel: call.cancel.clone(), ..CallContext::default() };
    let began = Instant::now();
    let answer = toolkit.upstreams.call_tool(&server, &tool, args.clone(), context).await;
    let took = began.elapsed().as_micros() as f64 / 1000.0;
    match answer.and_then(mcpgraph_upstream::CallResult::into_output) {
        Ok(output) => Ok(json!({ "args": args, "output": output, "durationMs": took })),
        Err(error) => Err(Failure::new(error.to_string())
            .with("kind", error.kind())
            .with("suggestion", error.hint())
            .with("args", json!(args))
            .with("durationMs", took)),
    }
}

/// Arguments as a node of the first version of files has them: a text that starts with `$` is an
/// expression, and so is `{expr: …}`. What has no result is left out.
fn evaluated(args: &Value, scope: &Arc<dyn Scope>, env: &Env) -> Result<Option<Value>, Failure> {
    let compute = |text: &str| {
        let expression = Jsonata::compile(text).map_err(|error| failed(vec![error]))?;
        expression.eval(scope, env).map_err(|error| failed(vec![error]))
    };
    match args {
        Value::String(text) if text.starts_with('$') => compute(text),
        Value::Object(members) => {
            if let (1, Some(Value::String(text))) = (members.len(), members.get("expr")) {
                return compute(text);
            }
            let mut map = Map::new();
            for (key, member) in members.iter() {
                if let Some(value) = evaluated(member, scope, env)? {
                    map.insert(Arc::clone(key), value);
                }
            }
            Ok(Some(map.into()))
        }
        Value::Array(items) => {
            let items =
                items.iter().map(|item| Ok(evaluated(item, scope, env)?.unwrap_or_default()));
            Ok(Some(items.collect::<Result<Vec<_>, Failure>>()?.into()))
        }
        other => Ok(Some(other.clone())),
    }
}

/// Upstream tools as an answer names them.
pub(crate) fn effects<'e>(all: impl IntoIterator<Item = &'e Effect>) -> Vec<serde_json::Value> {
    let effect = |effect: &Effect| json!({ "serverName": effect.server, "toolName": effect.tool });
    all.into_iter().map(effect).collect()
}
