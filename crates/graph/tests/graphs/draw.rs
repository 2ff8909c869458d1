//! The pictures of a graph that has every kind of node, and texts that need escaping.

use mcpgraph_graph::{dot, mermaid};

use crate::support;

#[test]
fn every_drawing_is_as_recorded() {
    for (name, source) in support::files("drawings") {
        let graph = support::compile(&source).0.expect("a graph");
        for tool in &graph.tools {
            insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
                insta::assert_snapshot!(format!("{name}-mermaid"), mermaid(tool));
                insta::assert_snapshot!(format!("{name}-dot"), dot(tool));
            });
        }
    }
}
