use super::args::SchemaArgs;
use super::{Exit, output};

/// Prints the JSON Schema of graph files or test files.
pub(super) fn schema(args: &SchemaArgs) -> anyhow::Result<Exit> {
    let schema =
        if args.tests { mcpgraph_config::test_schema() } else { mcpgraph_config::json_schema() };
    output::data(&format!("{}\n", schema.to_json_pretty()))?;
    Ok(Exit::Success)
}
