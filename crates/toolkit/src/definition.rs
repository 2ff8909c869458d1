//! Tools as JSON: those of the file, and one that is only proposed.

use std::sync::Arc;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Label, codes};
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::answer::Failure;
use crate::documents::{Documents, Loaded};

/// A proposed definition in its file.
pub(crate) struct Proposed {
    /// The file with it.
    pub(crate) loaded: Loaded,
    /// Its position among the tools.
    pub(crate) index: usize,
    /// Its name.
    pub(crate) name: String,
}

/// The definitions of a file's tools, as they are written.
pub fn definitions(file: &GraphFile) -> Vec<Value> {
    let tools = file.tree.get("tools").map(|tools| tools.value.to_value());
    let tools = tools.as_ref().and_then(Value::as_array);
    tools.map(|tools| tools.as_slice().to_vec()).unwrap_or_default()
}

/// The definition of a tool, as it is written.
pub(crate) fn definition(file: &GraphFile, name: &str) -> Result<Value, Failure> {
    let found = definitions(file).into_iter().find(|tool| name_of(tool) == Some(name));
    found.ok_or_else(|| Failure::unknown("tool", name, file.tools.iter().map(|tool| &*tool.name)))
}

/// The nodes of definitions, inside other nodes too.
pub fn nodes(definitions: &[Value]) -> Vec<&Value> {
    fn collect<'v>(within: &'v Value, found: &mut Vec<&'v Value>) {
        for node in within.as_array().into_iter().flat_map(|nodes| nodes.iter()) {
            found.push(node);
            if let Some(body) = node.get("body") {
                collect(body, found);
            }
            let branches = node.get("branches").and_then(Value::as_object);
            for branch in branches.into_iter().flat_map(|branches| branches.values()) {
                collect(branch, found);
            }
        }
    }
    let mut found = Vec::new();
    definitions
        .iter()
        .filter_map(|tool| tool.get("nodes"))
        .for_each(|nodes| collect(nodes, &mut found));
    found
}

/// The id of a node.
pub(crate) fn id_of(node: &Value) -> Option<&str> {
    node.get("id").and_then(Value::as_str)
}

pub(crate) fn name_of(tool: &Value) -> Option<&str> {
    tool.get("name").and_then(Value::as_str)
}

/// The file with a definition in the place of the one with its name, or behind the others. It is
/// composed as JSON, which is YAML: only its meaning is of interest.
pub(crate) fn propose(documents: &dyn Documents, file: &GraphFile, tool: &Value) -> Proposed {
    let mut tools = definitions(file);
    let name = name_of(tool);
    let index = tools.iter().position(|known| name.is_some() && name_of(known) == name);
    let index = index.unwrap_or(tools.len());
    if index < tools.len() {
        tools[index] = tool.clone();
    } else {
        tools.push(tool.clone());
    }
    let whole = file.tree.to_value();
    let mut members = whole.as_object().map_or_else(Map::new, |members| (**members).clone());
    members.insert("tools", tools);
    let loaded = documents.with_text(&Value::from(members).to_json());
    Proposed { loaded, index, name: name.unwrap_or_default().to_owned() }
}

/// Problems as an agent needs them: a pointer, a message, a suggestion. Those of the tool at
/// `index` have pointers into its definition; the others are those of a file and say so, with the
/// line and the column. Nobody has the text of a file that is only `proposed`, so that these would
/// say nothing there.
pub(crate) fn problems(
    diagnostics: &Diagnostics,
    proposed: Option<&GraphFile>,
    index: Option<usize>,
) -> Vec<serde_json::Value> {
    let prefix = index.map(|index| format!("/tools/{index}"));
    let inside = |pointer: &str| {
        let rest = pointer.strip_prefix(prefix.as_deref()?)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let problem = |diagnostic: &Diagnostic| {
        let mut problem = json!({
            "code": diagnostic.code.id(),
            "severity": diagnostic.severity.as_str(),
            "message": diagnostic.message,
        });
        let pointer = diagnostic.pointer.as_deref();
        match pointer.map(|pointer| (inside(pointer), pointer)) {
            Some((Some(inside), _)) => problem["pointer"] = inside.into(),
            Some((None, whole)) => {
                problem["pointer"] = whole.into();
                problem["in"] = "file".into();
            }
            None => problem["in"] = "file".into(),
        }
        let place = diagnostic.primary.as_ref();
        let is_proposed =
            |label: &&Label| proposed.is_some_and(|file| Arc::ptr_eq(&file.source, &label.source));
        if let Some(label) = place.filter(|label| !is_proposed(label)) {
            let start = label.start();
            problem["file"] = label.source.name().into();
            problem["line"] = start.line.into();
            problem["column"] = start.column.into();
        }
        if let Some(hint) = &diagnostic.hint {
            problem["suggestion"] = hint.as_str().into();
        }
        problem
    };
    diagnostics.iter().map(problem).collect()
}

/// The error of files that cannot be worked with; it names the one with the first error.
pub(crate) fn broken(diagnostics: &Diagnostics) -> Failure {
    let first = diagnostics.iter().find(|problem| problem.is_error());
    let place = first.and_then(|problem| problem.primary.as_ref());
    let what = match (first, place) {
        (Some(problem), Some(place)) => {
            format!("`{}` has errors: {}", place.source.name(), problem.message)
        }
        // Such a message names the file.
        (Some(problem), None) => problem.message.clone(),
        (None, _) => "the graph file cannot be read".to_owned(),
    };
    Failure::new(codes::TOOLKIT_FILE, what).with("diagnostics", problems(diagnostics, None, None))
}

/// Whether a file beside the graph file, which was read, has errors: an `mcp.json`.
pub(crate) fn has_errors_elsewhere(file: &GraphFile, diagnostics: &Diagnostics) -> bool {
    let is_elsewhere = |problem: &Diagnostic| match &problem.primary {
        Some(label) => !Arc::ptr_eq(&label.source, &file.source),
        None => [codes::FILE_UNREADABLE, codes::FILE_TOO_LARGE].contains(&problem.code),
    };
    diagnostics.iter().any(|problem| problem.is_error() && is_elsewhere(problem))
}
