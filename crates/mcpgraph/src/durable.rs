//! Where durable runs are executed that another process began.

use std::sync::Arc;

use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_runtime::{Definition, Home, Runtime};

use crate::load::Files;

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
        let (runtime, graph) = (self.served)().ok_or("the process ends")?;
        let tool = graph.tool(definition.tool);
        if let Some(tool) = tool.filter(|tool| tool.digest == definition.digest).cloned() {
            return Ok((runtime, graph, tool));
        }
        let source = Source::new("recorded.yaml", &**definition.text);
        let loaded = self.files.load_with(&source);
        let Some(graph) = loaded.graph else {
            let report = to_terminal(&loaded.diagnostics, Colour::Plain);
            return Err(format!("the version it began with cannot be used any more\n{report}"));
        };
        let tool = graph.tool(definition.tool).cloned();
        let tool = tool.ok_or_else(|| format!("there is no tool `{}`", definition.tool))?;
        Ok((runtime, graph, tool))
    }
}
