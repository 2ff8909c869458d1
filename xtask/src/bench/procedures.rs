//! What walking a procedure costs, and that it does not matter how large the procedure is.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;
use std::{fs, iter};

use serde_json::json;

use super::report::{Report, median};
use super::{CALLS, Contender};

/// How many nodes a usual procedure has.
const USUAL: usize = 40;

/// How many a very large one has.
const LARGE: usize = 5_000;

/// How often a file is loaded.
const LOADS: usize = 200;

/// Measures `load_graph` of a usual procedure, and `goto_node` in it and in a very large one, in
/// turns.
pub(super) fn measure(ours: &Contender, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("procedures");
    let mut clients = Vec::new();
    for nodes in [USUAL, LARGE] {
        let path = folder.join(format!("procedure-{nodes}.md"));
        fs::write(&path, procedure(nodes))?;
        let file = path.display().to_string();
        let root = folder.display().to_string();
        let arguments = ["sop", &file, "--root", &root, "--no-history"].map(str::to_owned).to_vec();
        let mut client = Contender { arguments, ..ours.clone() }.start()?;
        client.call("load_graph", json!({ "sop_file": file }))?;
        clients.push((client, file));
    }
    let mut loads = Vec::new();
    for _ in 0..LOADS {
        let (client, file) = &mut clients[0];
        let began = Instant::now();
        client.call("load_graph", json!({ "sop_file": file }))?;
        loads.push(began.elapsed().as_secs_f64() * 1e6);
    }
    let mut moves: [Vec<f64>; 2] = Default::default();
    for round in 0..CALLS {
        // The same short path in both: what is measured is the move, not what was walked.
        let node = ["N0", "N1", "N2", "N3"][round % 4];
        for ((client, _), times) in iter::zip(&mut clients, &mut moves) {
            let began = Instant::now();
            client.call("goto_node", json!({ "node_id": node }))?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [usual, large] = moves.map(median);
    report.ours("load_graph, 40 nodes", "µs", median(loads));
    report.within("goto_node, 5,000 nodes against 40", "µs", large, usual, 2.0);
    Ok(())
}

/// A procedure in which each node leads to the next and has a prompt.
fn procedure(nodes: usize) -> String {
    let mut text = String::from(
        "---\nagent: bench\nentry_node: N0\n---\n\n## Role\n\nYou walk.\n\n```mermaid\nflowchart TD\n",
    );
    for node in 1..nodes {
        // Writing to a text does not fail.
        writeln!(text, "    N{} -->|go on| N{node}[\"Step {node}\"]", node - 1).unwrap_or_default();
    }
    text.push_str("```\n\n## Node Prompts\n");
    for node in 0..nodes {
        writeln!(text, "\n### N{node}\n\nDo what step {node} says.").unwrap_or_default();
    }
    text
}
