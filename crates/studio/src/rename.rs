//! Nodes that get another name.

use http::StatusCode;
use mcpgraph_config::model::Version;
use mcpgraph_graph::rename_node;
use mcpgraph_toolkit::nodes;
use mcpgraph_value::Value;

use crate::problem::Problem;

/// The definition of a tool or a workflow in which the node `from` is called `to`. A name that
/// another node has is refused: nothing could tell the two apart afterwards.
pub(crate) fn renamed(
    definition: &Value,
    version: Version,
    from: &str,
    to: &str,
) -> Result<Value, Problem> {
    let all = nodes(std::slice::from_ref(definition));
    let is_taken = all.iter().any(|node| node.get("id").and_then(Value::as_str) == Some(to));
    if is_taken && from != to {
        let message = format!("there is a node `{to}` already; `{from}` needs another name");
        return Err(Problem::new(StatusCode::CONFLICT, "name_taken", message));
    }
    Ok(rename_node(definition, version, from, to))
}
