use std::path::Path;
use std::sync::Arc;

use mcpgraph_diagnostics::{printable, suggest};
use mcpgraph_graph::{Graph, Tool, dot, mermaid};

use super::args::DrawArgs;
use super::{Exit, output, usage};
use crate::sops;

/// Draws one tool or all.
pub(super) fn draw(args: &DrawArgs) -> anyhow::Result<Exit> {
    if let Some(path) = args.tool.as_deref().map(Path::new).filter(|p| sops::is_procedure(p)) {
        return draw_procedure(path, args.dot);
    }
    let loaded = args.files.files()?.load();
    output::diagnostics(&loaded.diagnostics);
    let Some(graph) = loaded.graph else { return Ok(Exit::of(&loaded.diagnostics)) };
    let tools = match &args.tool {
        Some(name) => vec![find(&graph, name)?],
        None => graph.tools.clone(),
    };
    let pictures: Vec<String> = match &*tools {
        tools if args.dot => tools.iter().map(|tool| dot(tool)).collect(),
        [tool] => vec![mermaid(tool)],
        // A Mermaid document is one flowchart; several are a document of something else.
        tools => tools.iter().map(|tool| section(&tool.name, &mermaid(tool))).collect(),
    };
    let between = if args.dot { "" } else { "\n" };
    output::data(&pictures.join(between))?;
    Ok(Exit::Success)
}

/// A flowchart as a part of a markdown document.
fn section(name: &str, chart: &str) -> String {
    format!("## {name}\n\n```mermaid\n{chart}```\n")
}

/// Draws a procedure: its flowchart as it is written, or as a digraph.
fn draw_procedure(path: &Path, as_dot: bool) -> anyhow::Result<Exit> {
    let read = sops::read_all([path]);
    output::diagnostics(&read.diagnostics);
    for (_, procedure) in &read.procedures {
        let picture = if as_dot {
            mcpgraph_sop::dot(procedure)
        } else {
            procedure.source.slice(procedure.chart.span).to_owned()
        };
        output::data(&picture)?;
    }
    Ok(Exit::of(&read.diagnostics))
}

/// The tool with this name, or an error that helps to find it.
pub(super) fn find(graph: &Graph, name: &str) -> anyhow::Result<Arc<Tool>> {
    graph.runnable(name).cloned().ok_or_else(|| {
        // What servers have is called by clients, and is known only when they are asked.
        if graph.tools.is_empty() {
            return usage(format!(
                "there is no tool `{}`: the file has no tools of its own; tools of servers that it \
                 exposes are called by the clients of `mcpgraph serve`, not with `mcpgraph run`",
                printable(name)
            ));
        }
        let names: Vec<&str> = graph.tools.iter().map(|tool| &*tool.name).collect();
        let hint = suggest::did_you_mean(name, names.iter().copied())
            .unwrap_or_else(|| format!("the file has: {}", names.join(", ")));
        // The name may come from a record that somebody else wrote.
        usage(format!("there is no tool `{}`; {hint}", printable(name)))
    })
}
