use super::{Exit, output};

/// Prints the JSON Schema of graph files.
pub(super) fn schema() -> anyhow::Result<Exit> {
    output::data(&format!("{}\n", mcpgraph_config::json_schema().to_json_pretty()))?;
    Ok(Exit::Success)
}
