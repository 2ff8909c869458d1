//! The MCP server: its tools are listed, their arguments checked, their answers put into words.

use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::codes;
use mcpgraph_graph::Schema;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::{Call, Client, Description, Service};
use mcpgraph_runtime::{Instruments, Runtime, World};
use mcpgraph_upstream::{UpstreamOptions, Upstreams, specs};
use mcpgraph_value::{Map, Value};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::answer::{Answer, Failure, result};
use crate::arguments::Arguments;
use crate::attended::AttendedRuns;
use crate::documents::{Documents, Loaded};
use crate::{asking, change, check, debug, definition, discover, expressions, records, run, tools};

/// What models are told.
const INSTRUCTIONS: &str = "\
Build tools as graphs of nodes: discover servers and their tools (listMcpServers, \
listMcpServerTools, getMcpServerTool), try expressions (testJSONata, testJSONLogic) and calls \
(testMcpTool), learn the form of a definition (getGraphSchema), check and run a definition before \
it is saved (validateGraphTool, runGraphTool with toolDefinition), then addGraphTool. A run that \
asks a person gives a question: put it to the user, then answerQuestion. A run that surprises is \
looked at with getRun, or step by step with debugGraphTool and controlRun.";

/// The toolkit of a graph file.
pub struct Toolkit {
    info: Arc<RawValue>,
    documents: Arc<dyn Documents>,
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) instruments: Instruments,
    pub(crate) attended: AttendedRuns,
    /// What the arguments of each tool must look like.
    inputs: Vec<(&'static str, Schema)>,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    #[serde(default)]
    arguments: Value,
}

impl Toolkit {
    /// A toolkit. Servers are started when they are first needed. It must be called inside a tokio
    /// runtime.
    pub fn new(
        documents: Arc<dyn Documents>,
        upstream: UpstreamOptions,
        mut instruments: Instruments,
    ) -> Arc<Self> {
        // Its own clients are those who may join its runs.
        instruments.live.get_or_insert_default();
        let info = json!({ "name": "mcpgraph-toolkit", "version": env!("CARGO_PKG_VERSION") });
        let upstreams = Arc::new(Upstreams::new(specs(&[]), upstream));
        let world = World::new(Arc::clone(&upstreams));
        let runtime = Runtime::new(Arc::new(world)).with(instruments.clone());
        let (runtime, attended) = (Arc::new(runtime), AttendedRuns::new());
        let compiled = |tool: &tools::Tool| {
            // Our own schemas compile, which a test holds; one that did not would hide its tool.
            Some((tool.name, Schema::compile(&Value::from(tool.input.clone())).ok()?))
        };
        let inputs = tools::all().iter().filter_map(compiled).collect();
        let info = raw(&info).into();
        Arc::new(Self { info, documents, upstreams, runtime, instruments, attended, inputs })
    }

    /// The tools, as `tools/list` shows them.
    pub fn tools(&self) -> Vec<serde_json::Value> {
        let can_be_called =
            |tool: &&tools::Tool| self.inputs.iter().any(|(name, _)| *name == tool.name);
        tools::all().iter().filter(can_be_called).map(tools::Tool::listed).collect()
    }

    /// Lets debugged runs go on by themselves, for a while, and ends the servers that were started.
    pub async fn close(&self) {
        self.attended.close().await;
        self.upstreams.shutdown().await;
    }

    /// The files as they are now; their servers are those that are called from now on.
    pub(crate) async fn load(&self) -> Result<Loaded, Failure> {
        let loaded = self.off_thread(|documents| Ok(documents.read())).await?;
        self.serve(&loaded);
        Ok(loaded)
    }

    /// The servers of these files are those that are called from now on.
    pub(crate) fn serve(&self, loaded: &Loaded) {
        if let Some(file) = &loaded.file {
            self.upstreams.replace(specs(&file.servers));
        }
    }

    /// The graph file as it is now, as far as it can be understood.
    pub(crate) async fn file(&self) -> Result<GraphFile, Failure> {
        let loaded = self.load().await?;
        loaded.file.ok_or_else(|| definition::broken(&loaded.diagnostics))
    }

    /// The same, where the servers of an `mcp.json` must not be missing unseen.
    pub(crate) async fn with_servers(&self) -> Result<GraphFile, Failure> {
        let Loaded { file, diagnostics, .. } = self.load().await?;
        file.filter(|file| !definition::has_errors_elsewhere(file, &diagnostics))
            .ok_or_else(|| definition::broken(&diagnostics))
    }

    /// Does something with the files where blocking is no harm.
    pub(crate) async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&dyn Documents) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let documents = Arc::clone(&self.documents);
        expressions::off_thread(move |_| work(&*documents)).await
    }

    async fn call_tool(&self, params: CallParams, call: &Call) -> Result<Answer, RpcError> {
        let Some((name, schema)) = self.inputs.iter().find(|(name, _)| *name == params.name) else {
            return Err(RpcError::invalid_params(format!("Unknown tool: {}", params.name)));
        };
        let arguments = match params.arguments {
            Value::Null => Value::object(Map::new()),
            given => given,
        };
        let violations = schema.violations(&arguments);
        if !violations.is_empty() {
            let problems: Vec<_> = violations
                .iter()
                .map(|found| json!({ "pointer": found.pointer, "message": found.message }))
                .collect();
            let first = &violations[0];
            let what = match tools::choices(name, &first.pointer) {
                // The schema's own words leave most of a long list out.
                Some(choices) => {
                    let argument = first.pointer.trim_start_matches('/');
                    format!("`{argument}` is one of {}", choices.join(", "))
                }
                None => first.to_string(),
            };
            let message = format!("the arguments do not fit `{name}`: {what}");
            return Ok(Err(Failure::new(codes::TOOLKIT_ARGUMENTS, message)
                .with("suggestion", "`tools/list` gives the tool's schema")
                .with("problems", problems)));
        }
        let arguments = Arguments(arguments);
        Ok(match *name {
            "getGraphServer" => discover::graph_server(self).await,
            "listGraphTools" => discover::graph_tools(self).await,
            "getGraphTool" => discover::graph_tool(self, &arguments).await,
            "listMcpServers" => discover::servers(self).await,
            "listMcpServerTools" => discover::server_tools(self, &arguments).await,
            "getMcpServerTool" => discover::server_tool(self, &arguments).await,
            "getGraphSchema" => discover::schema(&arguments),
            "testJSONata" => expressions::jsonata(arguments).await,
            "testJSONLogic" => expressions::logic(arguments).await,
            "validateGraphTool" => check::validate(self, &arguments).await,
            "runGraphTool" => run::graph_tool(self, &arguments, call).await,
            "answerQuestion" => asking::answer(self, &arguments, call).await,
            "testMcpTool" => run::mcp_tool(self, arguments, call).await,
            "debugGraphTool" => debug::start(self, &arguments, call).await,
            "controlRun" => debug::control(self, &arguments, call).await,
            "listRuns" => records::list(self, &arguments).await,
            "getRun" => records::get(self, &arguments).await,
            "rerunGraphTool" => records::rerun(self, &arguments, call).await,
            "addGraphTool" => change::add(self, &arguments).await,
            "updateGraphTool" => change::update(self, &arguments).await,
            "deleteGraphTool" => change::delete(self, &arguments).await,
            "diffGraphTool" => change::diff(self, &arguments).await,
            other => return Err(RpcError::invalid_params(format!("Unknown tool: {other}"))),
        })
    }
}

#[async_trait]
impl Service for Toolkit {
    async fn call(&self, call: Call) -> Result<Raw, RpcError> {
        match call.method.as_str() {
            "tools/list" => Ok(raw(&json!({ "tools": self.tools() }))),
            "tools/call" => {
                let params = call.params.as_deref().map_or("{}", RawValue::get);
                let params: CallParams = serde_json::from_str(params)
                    .map_err(|error| RpcError::invalid_params(error.to_string()))?;
                Ok(raw(&result(self.call_tool(params, &call).await?)))
            }
            other => Err(RpcError::method_not_found(other)),
        }
    }

    fn info(&self) -> Arc<RawValue> {
        Arc::clone(&self.info)
    }

    async fn describe(&self, _: &Client) -> Description {
        Description {
            capabilities: raw(&json!({ "tools": {} })),
            instructions: Some(INSTRUCTIONS.to_owned()),
        }
    }
}
