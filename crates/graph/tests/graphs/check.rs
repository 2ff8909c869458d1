//! Graph files in `cases/`, each with everything that checking it reports.

use std::collections::BTreeSet;

use mcpgraph_diagnostics::{Colour, codes, to_terminal};

use crate::support;

#[test]
fn every_case_is_reported_as_recorded() {
    for (name, source) in support::files("cases") {
        let (_, diagnostics) = support::compile(&source);
        let shown = to_terminal(&diagnostics, Colour::Plain);
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, shown);
        });
    }
}

#[test]
fn there_is_a_graph_exactly_where_there_is_no_error() {
    for (name, source) in support::files("cases") {
        let (graph, diagnostics) = support::compile(&source);
        assert_eq!(graph.is_some(), !diagnostics.has_errors(), "{name}");
    }
}

#[test]
fn every_problem_has_a_place_and_a_pointer_into_the_file() {
    for (name, source) in support::files("cases") {
        let (_, diagnostics) = support::compile(&source);
        for diagnostic in &diagnostics {
            assert!(diagnostic.primary.is_some(), "{name}: {}", diagnostic.message);
            assert!(diagnostic.pointer.is_some(), "{name}: {}", diagnostic.message);
            assert!(!diagnostic.message.is_empty(), "{name}");
        }
    }
}

#[test]
fn there_is_a_case_for_every_code_of_graphs_and_expressions() {
    let mut seen = BTreeSet::new();
    for (_, source) in support::files("cases") {
        let (_, diagnostics) = support::compile(&source);
        seen.extend(diagnostics.iter().map(|diagnostic| diagnostic.code.id()));
    }
    let wanted = codes::ALL
        .iter()
        .map(|code| code.id())
        .filter(|id| ["MG02", "MG03", "MG055"].iter().any(|begin| id.starts_with(begin)));
    let missing: Vec<&str> = wanted.filter(|id| !seen.contains(id)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}
