//! Workflows of the store, checked and compiled by those who check and compile graph files: each
//! becomes a graph file of its own, with the modules it uses.

use std::sync::Arc;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_graph::Graph;
use mcpgraph_journal::KeptModule;
use mcpgraph_value::{Map, Value};

use crate::Workflow;

/// A workflow, read and checked.
#[derive(Debug)]
pub struct Checked {
    /// The graph file that has this workflow and nothing else; none if it cannot be read.
    pub file: Option<GraphFile>,
    /// What can be used; none if there are errors.
    pub graph: Option<Arc<Graph>>,
    /// Everything that is wrong or doubtful, with places and pointers in the file.
    pub diagnostics: Diagnostics,
}

/// Checks a workflow.
pub(crate) fn check(workflow: &Workflow, modules: &[KeptModule]) -> Checked {
    let (text, begin) = document(workflow, modules);
    let source = Source::new(format!("workflow {}", workflow.id), text);
    let placed = |mut diagnostics: Diagnostics| {
        if let Some(written) = &workflow.written {
            written.place(&source, begin, &mut diagnostics);
        }
        diagnostics
    };
    // Nothing in it is replaced by the environment.
    let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    let Some(file) = file else {
        return Checked { file: None, graph: None, diagnostics: placed(diagnostics) };
    };
    let (graph, found) = mcpgraph_graph::compile(&file);
    diagnostics.extend(found);
    diagnostics.sort();
    file.fill_pointers(&mut diagnostics);
    let graph = graph.filter(|_| !diagnostics.has_errors()).map(Arc::new);
    Checked { file: Some(file), graph, diagnostics: placed(diagnostics) }
}

/// Checks a workflow; it can be used if there is a graph.
pub(crate) fn compile(
    workflow: &Workflow,
    modules: &[KeptModule],
) -> (Option<Arc<Graph>>, Diagnostics) {
    let Checked { graph, diagnostics, .. } = check(workflow, modules);
    (graph, diagnostics)
}

/// The text of a graph file that has this workflow and nothing else. It is what the records of its
/// runs keep. Where the workflow stands in a file it is taken over to the letter; the number says
/// where it begins.
fn document(workflow: &Workflow, modules: &[KeptModule]) -> (String, usize) {
    let used = workflow.modules().into_iter().filter_map(|name| {
        let module = modules.iter().find(|module| module.id == name || module.name == name)?;
        Some((Arc::from(name), Value::from(module.script.as_str())))
    });
    let used: Map = used.collect();
    let server = Map::from_iter([("name", "workflows"), ("version", "1")]);
    let mut file = Map::new();
    file.insert("version", "2");
    file.insert("server", server);
    if !used.is_empty() {
        file.insert("hookModules", used);
    }
    let Some(written) = &workflow.written else {
        file.insert("workflows", vec![workflow.definition.clone()]);
        return (Value::object(file).to_json_pretty(), 0);
    };
    let mut text = Value::object(file).to_json();
    text.truncate(text.len() - 1);
    text.push_str(",\"workflows\":[");
    let begin = text.len();
    text.push_str(written.text());
    text.push_str("]}");
    (text, begin)
}
