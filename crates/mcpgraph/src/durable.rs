//! Where durable runs are executed that another process began.

use std::sync::Arc;

use mcpgraph_config::model::{GraphFile, ServerDef};
use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_engine::{Given, Run};
use mcpgraph_graph::{Graph, Target, Tool};
use mcpgraph_runtime::{Definition, Home, Runtime};

use crate::load::Files;

/// What names what is served, so that who serves something else leaves its runs alone.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The name of the server, which replicas on different machines have in common.
    pub(crate) name: String,
    /// The name and the file, for processes that share a folder; none if there is no file.
    pub(crate) name_and_file: Option<Arc<str>>,
}

impl Identity {
    pub(crate) fn new(name: &str, files: Option<&Files>) -> Self {
        let name = name.to_owned();
        let path = files.and_then(|files| files.graph.canonicalize().ok());
        let name_and_file = path.map(|path| format!("{name} of {}", path.display()).into());
        Self { name, name_and_file }
    }
}

/// Executes runs with what is served now, on the version they began with.
pub(crate) struct AtHome<F> {
    /// What is served now; none once nothing is.
    pub(crate) served: F,
    /// The files it comes from, for what a version that is served no more is completed with.
    pub(crate) files: Files,
}

impl<F> Home for AtHome<F>
where
    F: Fn() -> Option<(Runtime, Arc<Graph>)> + Send + Sync + 'static,
{
    fn place(
        &self,
        definition: &Definition<'_>,
    ) -> Result<(Runtime, Arc<Graph>, Arc<Tool>), String> {
        let (runtime, served) = (self.served)().ok_or("the process ends")?;
        let tool = served.tool(definition.tool);
        if definition.is_known
            && let Some(tool) = tool.filter(|tool| tool.digest == definition.digest).cloned()
        {
            return Ok((runtime, served, tool));
        }
        let loaded = self.files.load_with(&Source::new("recorded.yaml", &**definition.text));
        let (Some(file), Some(graph)) = (loaded.file, loaded.graph) else {
            let report = to_terminal(&loaded.diagnostics, Colour::Plain);
            return Err(format!("the version it began with cannot be used any more\n{report}"));
        };
        let tool = graph.tool(definition.tool).cloned();
        let tool = tool.ok_or_else(|| format!("there is no tool `{}`", definition.tool))?;
        let now = self.files.load_with(&Source::new("served.yaml", &*served.text)).file;
        for server in called(&graph, &tool, definition) {
            let now = now.as_ref().and_then(|now| server_of(now, &server));
            let now = now.ok_or_else(|| format!("there is no server `{server}` any more"))?;
            let then = server_of(&file, &server);
            if !definition.is_known && then.is_none_or(|then| text_of(then) != text_of(now)) {
                return Err(format!(
                    "it does not say what it is of, and its server `{server}` is another one"
                ));
            }
        }
        Ok((runtime, graph, tool))
    }
}

/// The servers that a run may call.
fn called(graph: &Arc<Graph>, tool: &Arc<Tool>, definition: &Definition<'_>) -> Vec<Arc<str>> {
    let arguments = definition.arguments.clone();
    let run = Run::start(Arc::clone(graph), tool, arguments, Given::default());
    let servers = run.effects_ahead().into_iter().filter_map(|target| match target {
        Target::Tool { server, .. } => Some(server),
        _ => None,
    });
    servers.collect()
}

fn server_of<'f>(file: &'f GraphFile, name: &str) -> Option<&'f ServerDef> {
    file.servers.iter().find(|server| server.name.as_str() == name)
}

/// How a server is defined.
fn text_of(server: &ServerDef) -> &str {
    server.source.slice(server.span)
}

#[cfg(test)]
mod tests {
    use mcpgraph_graph::Digest;
    use mcpgraph_runtime::Instruments;
    use mcpgraph_value::{Map, Value};

    use super::*;
    use crate::McpGraph;

    /// A file with a tool that calls `s`.
    fn file(servers: &str) -> String {
        format!(
            "server: {{ name: example, version: '1' }}\n\
             mcpServers: {{ {servers} }}\n\
             tools:\n\
             \x20 - name: call\n\
             \x20   inputSchema: {{ type: object }}\n\
             \x20   nodes:\n\
             \x20     - {{ id: entry, type: entry, next: work }}\n\
             \x20     - {{ id: work, type: mcp, server: s, tool: t, next: exit }}\n\
             \x20     - {{ id: exit, type: exit }}\n"
        )
    }

    /// Whether what serves one file executes a run of another.
    fn places(served: &str, recorded: &str, is_known: bool) -> Result<(), String> {
        let files = Files { graph: "/nowhere/graph.yaml".into(), ..Files::default() };
        let loaded = files.load_with(&Source::new("graph.yaml", served));
        let product =
            McpGraph::new(loaded.file.unwrap(), loaded.graph.unwrap(), Instruments::default());
        let (runtime, graph) = (product.runtime().clone(), Arc::clone(product.graph()));
        let served = move || Some((runtime.clone(), Arc::clone(&graph)));
        let definition = Definition {
            text: &recorded.into(),
            tool: "call",
            digest: Digest::of(recorded),
            arguments: &Value::object(Map::new()),
            is_known,
        };
        AtHome { served, files }.place(&definition).map(drop)
    }

    #[tokio::test]
    async fn a_run_is_executed_where_its_servers_are() {
        let (one, other) = ("s: { command: one }", "s: { command: other }");
        let spare = "s: { command: one }, more: { command: spare }";
        let renamed = file("r: { command: one }").replace("server: s", "server: r");
        assert_eq!(places(&file(one), &file(one), false), Ok(()));
        assert_eq!(places(&file(spare), &file(one), false), Ok(()));
        assert_eq!(places(&file(other), &file(one), true), Ok(()));
        let another = places(&file(other), &file(one), false).unwrap_err();
        assert!(another.contains("its server `s` is another one"), "{another}");
        for is_known in [true, false] {
            let missing = places(&renamed, &file(one), is_known).unwrap_err();
            assert!(missing.contains("there is no server `s` any more"), "{missing}");
        }
    }
}
