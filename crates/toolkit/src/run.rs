//! Running: a tool of the file, a proposed one, or one upstream call.

use std::sync::Arc;
use std::time::Instant;

use mcpgraph_config::model::{ArgValue, NodeKind};
use mcpgraph_diagnostics::{Source, codes};
use mcpgraph_engine::RunError;
use mcpgraph_expr::{Env, ExprError, Jsonata, Scope};
use mcpgraph_graph::{Graph, Target, Template, Tool};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{Execution, Finished, failed_call};
use mcpgraph_upstream::CallContext;
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::asking::executed;
use crate::definition::{broken, definitions, problems, propose};
use crate::documents::Loaded;
use crate::expressions::{self, TriedScope, failed};
use crate::steps::Steps;
use crate::toolkit::Toolkit;
use crate::{calls, check, discover};

/// A tool that can be run, and the definitions of its file, its own first.
pub(crate) struct Runnable {
    pub(crate) graph: Arc<Graph>,
    pub(crate) tool: Arc<Tool>,
    pub(crate) definitions: Vec<Value>,
}

/// `runGraphTool`.
pub(crate) async fn graph_tool(toolkit: &Toolkit, arguments: &Arguments, call: &Call) -> Answer {
    let runnable = wanted(toolkit, arguments).await?;
    let execution = runnable.execution(arguments.object("arguments"));
    let logs = arguments.flag("logging");
    executed(toolkit, call, (&runnable, execution), logs, |runtime, execution| async move {
        runtime.execute(execution).await
    })
    .await
}

/// What a call names: a tool of the file, or a definition.
pub(crate) async fn wanted(toolkit: &Toolkit, arguments: &Arguments) -> Result<Runnable, Failure> {
    match (arguments.text("toolName"), arguments.get("toolDefinition")) {
        (Some(name), None) => saved(toolkit, name).await,
        (None, Some(tool)) => inline(toolkit, tool.clone()).await,
        _ => {
            let message = "give either `toolName` or `toolDefinition`";
            Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message))
        }
    }
}

impl Runnable {
    /// A run of it that nobody watches yet.
    pub(crate) fn execution(&self, input: Value) -> Execution {
        Execution::new(Arc::clone(&self.graph), Arc::clone(&self.tool), input)
    }
}

/// The tool of the file with this name.
pub(crate) async fn saved(toolkit: &Toolkit, name: &str) -> Result<Runnable, Failure> {
    runnable(toolkit.load().await?, name)
}

/// The tool with this name in files that were read.
pub(crate) fn runnable(loaded: Loaded, name: &str) -> Result<Runnable, Failure> {
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
        toolkit.off_thread(move |documents| Ok(propose(documents, &file, &tool))).await?;
    let found = check::all_problems(toolkit, &proposed).await;
    if check::has_errors(&found) {
        return Err(check::refused(found));
    }
    runnable(proposed.loaded, &proposed.name)
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
    let error = match &finished.outcome {
        Ok(result) => {
            let mut answer = json!({ "run": run, "result": result });
            if logs {
                answer["steps"] = steps.to_json(definitions).into();
                answer["stepsLeftOut"] = steps.left_out().into();
            }
            return Ok(answer);
        }
        Err(error) => error,
    };
    let mut failure = explained(error).with("run", run);
    if let Some(failed) = &finished.failed {
        failure = failure.with("failedAt", steps.failed(failed, error.node.as_deref()));
    }
    Err(failure.with("steps", steps.to_json(definitions)).with("stepsLeftOut", steps.left_out()))
}

/// The failure of a run or a call, as a node would see it.
fn explained(error: &RunError) -> Failure {
    let details = serde_json::Value::from(&error.to_value());
    let facts = details.as_object().into_iter().flatten();
    let failure = Failure::unnumbered(error.message.as_str());
    facts.fold(failure, |failure, (key, fact)| failure.with(key, fact.clone()))
}

/// `testMcpTool`.
pub(crate) async fn mcp_tool(toolkit: &Toolkit, arguments: Arguments, call: &Call) -> Answer {
    let file = toolkit.with_servers().await?;
    let server = discover::usable(&file, arguments.required("serverName"))?.name.to_string();
    let tool = arguments.required("toolName").to_owned();
    let tools = discover::tools_of(&toolkit.upstreams, &server).await;
    discover::find(&tools.map_err(discover::unanswered)?, &tool, &server)?;
    let version = file.tree.get("version").map(|version| version.value.to_value());
    let args = expressions::off_thread(move |env| {
        let template = template(version, &arguments.object("args"))?;
        evaluated(&template, &TriedScope::of(&arguments), &env).map_err(|error| failed(vec![error]))
    })
    .await?;
    let context = CallContext { cancel: call.cancel.clone(), ..CallContext::default() };
    let began = Instant::now();
    let answer = toolkit.upstreams.call_tool(&server, &tool, args.clone(), context).await;
    let took = began.elapsed().as_micros() as f64 / 1000.0;
    match answer.and_then(mcpgraph_upstream::CallResult::into_output) {
        Ok(output) => Ok(json!({ "args": args, "output": output, "durationMs": took })),
        Err(error) => Err(explained(&failed_call(&error))
            .with("suggestion", error.hint())
            .with("args", json!(args))
            .with("durationMs", took)),
    }
}

/// The `args` of an `mcp` node, read and compiled as in a file of this version.
fn template(version: Option<Value>, args: &Value) -> Result<Template, Failure> {
    let node = json!({ "id": "call", "type": "mcp", "server": "s", "tool": "t", "args": args });
    let tool = json!({ "name": "t", "inputSchema": { "type": "object" }, "nodes": [node] });
    let mut file = json!({ "server": { "name": "s", "version": "1" }, "tools": [tool] });
    if let Some(version) = version {
        file["version"] = json!(version);
    }
    let source = Source::new("args", file.to_string());
    let (file, mut found) = mcpgraph_config::read_graph(&source, &|_| None);
    let mut errors = Vec::new();
    let template = file.as_ref().and_then(|file| {
        file.fill_pointers(&mut found);
        let NodeKind::Mcp(mcp) = &file.tools.first()?.nodes.first()?.kind else { return None };
        compiled(&mcp.args.value, &mut errors)
    });
    match template {
        Some(template) if !found.has_errors() => Ok(template),
        _ if errors.is_empty() => Err(check::refused(problems(&found, file.as_ref(), Some(0)))),
        _ => Err(failed(errors)),
    }
}

/// Compiles every argument; each error says of which.
fn compiled(args: &ArgValue, errors: &mut Vec<ExprError>) -> Option<Template> {
    let mut part = |value: &ArgValue, name: Option<&str>| {
        Template::new(value, &mut |text| {
            Jsonata::compile(text).map_err(|error| errors.push(at_argument(error, name))).ok()
        })
    };
    let ArgValue::Object(members) = args else { return part(args, None) };
    let members: Vec<Option<_>> = members
        .iter()
        .map(|(name, member)| Some((name.to_arc(), part(&member.value, Some(name))?)))
        .collect();
    Some(Template::Object(members.into_iter().collect::<Option<_>>()?))
}

/// What the arguments come to, as [`Template::evaluate`] does it; an error says of which.
fn evaluated(template: &Template, scope: &Arc<dyn Scope>, env: &Env) -> Result<Value, ExprError> {
    let Template::Object(members) = template else {
        let value = template.evaluate(scope, env).map_err(|error| at_argument(error, None))?;
        return Ok(value.unwrap_or_default());
    };
    let mut args = Map::with_capacity(members.len());
    for (name, member) in members {
        let value = member.evaluate(scope, env);
        if let Some(value) = value.map_err(|error| at_argument(error, Some(name)))? {
            args.insert(Arc::clone(name), value);
        }
    }
    Ok(args.into())
}

/// Says which argument an error is of.
fn at_argument(mut error: ExprError, name: Option<&str>) -> ExprError {
    let name = name.map(|name| format!("/{}", calls::token(name))).unwrap_or_default();
    error.pointer = Some(format!("/args{name}").into());
    error
}

/// What runs call, as an answer names it.
pub(crate) fn effects<'e>(all: impl IntoIterator<Item = &'e Target>) -> Vec<serde_json::Value> {
    let effect = |target: &Target| match target {
        Target::Tool { server, tool } => json!({ "serverName": server, "toolName": tool }),
        Target::Command(command) => {
            json!({ "backend": command.backend.name, "command": command.label() })
        }
        Target::Hook(_) | Target::Wrapped | Target::Ask(_) | Target::Time { .. } => {
            json!({ "effect": target.to_string() })
        }
    };
    all.into_iter().map(effect).collect()
}
