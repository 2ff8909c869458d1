use mcpgraph_journal::{Filter, NodeStats};
use mcpgraph_value::{Map, Value};

use super::super::args::runs::{StatsArgs, When};
use super::text::{Side, duration, table};
use super::{Exit, Runs, output, print};

/// Shows how nodes went, the slowest first.
pub(super) fn stats(args: &StatsArgs, runs: &Runs, json: bool) -> anyhow::Result<Exit> {
    let filter = Filter {
        tool: args.tool.clone(),
        since: args.since.map(When::moment),
        limit: usize::MAX,
        ..Filter::default()
    };
    let nodes = runs.journal.stats(&filter)?;
    if json {
        let nodes: Vec<Value> = nodes.iter().map(NodeStats::to_value).collect();
        print(&Map::from_iter([("nodes", nodes)]).into())?;
        return Ok(Exit::Success);
    }
    if nodes.is_empty() {
        output::say(&format!("no such runs in {}\n", runs.journal.place()));
        return Ok(Exit::Success);
    }
    let heading = [
        ("TOOL", Side::Left),
        ("NODE", Side::Left),
        ("COUNT", Side::Right),
        ("P50", Side::Right),
        ("P95", Side::Right),
        ("MAX", Side::Right),
        ("ERRORS", Side::Right),
    ];
    let rows: Vec<[String; 7]> = nodes.iter().map(row).collect();
    output::data(&table(heading, &rows))?;
    Ok(Exit::Success)
}

fn row(node: &NodeStats) -> [String; 7] {
    [
        node.tool.to_string(),
        node.node.to_string(),
        node.count.to_string(),
        duration(node.p50),
        duration(node.p95),
        duration(node.max),
        node.errors.to_string(),
    ]
}
