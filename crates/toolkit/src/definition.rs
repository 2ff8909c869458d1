//! Tools as JSON: those of the file, and one that is only proposed.

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostics, codes};
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

/// The file with a definition in the place of the tool `replaced`, or of the one with its name, or
/// behind the others. It is composed as JSON, which is YAML: only its meaning is of interest.
pub(crate) fn propose(
    documents: &dyn Documents,
    file: &GraphFile,
    replaced: Option<&str>,
    tool: &Value,
) -> Result<Proposed, Failure> {
    let Some(name) = name_of(tool).filter(|name| !name.is_empty()) else {
        let hint = "give the tool a name; `getGraphSchema` tells what else it needs";
        return Err(Failure::new(codes::TOOLKIT_REFUSED, "the definition has no `name`")
            .with("pointer", "/name")
            .with("suggestion", hint));
    };
    let mut tools = definitions(file);
    let wanted = replaced.unwrap_or(name);
    let index = tools.iter().position(|known| name_of(known) == Some(wanted));
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
    Ok(Proposed { loaded, index, name: name.to_owned() })
}

/// Problems as an agent needs them: a pointer, a message, a suggestion. Those of the tool at
/// `index` have pointers into its definition; the others are those of the file and say so.
pub(crate) fn problems(diagnostics: &Diagnostics, index: Option<usize>) -> Vec<serde_json::Value> {
    let prefix = index.map(|index| format!("/tools/{index}"));
    let inside = |pointer: &str| {
        let rest = pointer.strip_prefix(prefix.as_deref()?)?;
        (rest.is_empty() || rest.starts_with('/')).then(|| rest.to_owned())
    };
    let problem = |diagnostic: &mcpgraph_diagnostics::Diagnostic| {
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
        if let Some(hint) = &diagnostic.hint {
            problem["suggestion"] = hint.as_str().into();
        }
        problem
    };
    diagnostics.iter().map(problem).collect()
}

/// The error of a file that cannot be worked with.
pub(crate) fn broken(diagnostics: &Diagnostics) -> Failure {
    let first = diagnostics.iter().find(|problem| problem.is_error());
    let why = first.map_or("it cannot be read", |problem| &problem.message);
    Failure::new(codes::TOOLKIT_FILE, format!("the graph file has errors: {why}"))
        .with("diagnostics", problems(diagnostics, None))
}
