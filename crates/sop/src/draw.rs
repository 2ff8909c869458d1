use std::fmt::Write as _;

use crate::Procedure;

/// The flowchart of a procedure as a Graphviz digraph.
pub fn dot(procedure: &Procedure) -> String {
    let mut text = format!("digraph {} {{\n", quoted(procedure.agent()));
    for (number, node) in procedure.chart.nodes.iter().enumerate() {
        let shape = match node.shape {
            "rhombus" => "diamond",
            "stadium" | "rounded" => "oval",
            "circle" => "circle",
            "hexagon" => "hexagon",
            "cylinder" => "cylinder",
            _ => "box",
        };
        let label = quoted(&format!("{}\n{}", node.id, node.description));
        // Writing to a text does not fail.
        writeln!(text, "  n{number} [label={label}, shape={shape}]").unwrap_or_default();
        for edge in &node.edges {
            let label =
                edge.condition.as_deref().map(|label| format!(" [label={}]", quoted(label)));
            let label = label.unwrap_or_default();
            writeln!(text, "  n{number} -> n{}{label}", edge.to).unwrap_or_default();
        }
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
