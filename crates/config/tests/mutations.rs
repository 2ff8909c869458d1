//! Damaged files are read without a panic, and every problem still points into them.

use std::path::Path;
use std::sync::Arc;

use mcpgraph_config::edit::{add_tool, delete_tool, update_tool};
use mcpgraph_config::{read_graph, read_mcp_json, read_tests};
use mcpgraph_diagnostics::{Colour, Source, to_json, to_terminal};
use mcpgraph_value::Value;
use proptest::prelude::*;

/// Every file at hand: the cases and the examples of the repository.
fn files() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/cases", "tests/test_files", "../../examples"].map(|name| root.join(name));
    let mut files = Vec::new();
    for folder in folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()) {
        for path in folder.map(|entry| entry.expect("an entry").path()) {
            if path.extension().is_some_and(|extension| extension == "yaml") {
                files.push(std::fs::read_to_string(path).expect("a file"));
            }
        }
    }
    files
}

fn check(text: String) {
    let source = Source::new("damaged.yaml", text);
    let (graph, from_graph) = read_graph(&source, &|_| None);
    let (_, from_json) = read_mcp_json(&source, &|_| None);
    let (_, from_tests) = read_tests(&source);
    for diagnostic in from_graph.iter().chain(&from_json).chain(&from_tests) {
        let label = diagnostic.primary.as_ref().expect("a place");
        assert!(label.span.end <= source.text().len(), "{diagnostic:?}");
    }
    edit(&source);
    assert!(graph.is_some() || from_graph.has_errors(), "nothing was read and nothing said");
    let shown = to_terminal(&from_graph, Colour::Plain);
    assert!(shown.chars().all(|c| c == '\n' || !c.is_control()));
    assert!(to_json(&from_graph)["diagnostics"].is_array());
}

/// Changes of a damaged file are made or refused; what is added can be found, and be deleted.
fn edit(source: &Arc<Source>) {
    let tool = |name: &str| {
        let text = r#"{"description": "a\nb", "nodes": [{"id": "x", "args": {"a": []}}]}"#;
        let mut tool = Value::from_json(text).expect("JSON").as_object().expect("it").clone();
        tool.make_mut().insert("name", name);
        Value::Object(tool)
    };
    if let Ok(text) = add_tool(source, &tool("added")) {
        let added = Source::new("damaged.yaml", text);
        delete_tool(&added, "added").expect("what was added can be deleted");
        update_tool(&added, "added", &tool("renamed")).expect("and changed");
    }
    let (graph, _) = read_graph(source, &|_| None);
    for old in graph.iter().flat_map(|graph| &graph.tools).take(2) {
        for result in [update_tool(source, &old.name, &tool("new")), delete_tool(source, &old.name)]
        {
            if let Err(error) = result {
                assert!(error.diagnostics().has_errors(), "{error}");
            }
        }
    }
}

/// One damage: where, how much is cut, and what is put there.
fn damage() -> impl Strategy<Value = (prop::sample::Index, usize, String)> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "", " ", "\n", "\n  ", "\t", ":", ": ", "- ", "[", "]", "{", "}", ",", "'", "\"", "\\",
            "|", ">", "&a ", "*a", "<<: ", "!!int ", "#", "null", "5", "true", "${", "$${",
            "expr: ", "---\n", "\r", "\u{feff}", "\u{0}", "日",
        ])
        .prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ];
    (any::<prop::sample::Index>(), 0..12_usize, piece)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn damaged_files_do_no_harm(
        file in any::<prop::sample::Index>(),
        damages in prop::collection::vec(damage(), 1..6),
    ) {
        let files = files();
        let mut text: Vec<char> = file.get(&files).chars().collect();
        for (at, cut, piece) in damages {
            let at = at.index(text.len() + 1);
            let end = (at + cut).min(text.len());
            text.splice(at..end, piece.chars());
        }
        check(text.into_iter().collect());
    }

    /// The lines of a file in another order, or some of them twice.
    #[test]
    fn shuffled_lines_do_no_harm(
        file in any::<prop::sample::Index>(),
        order in prop::collection::vec(any::<prop::sample::Index>(), 1..60),
    ) {
        let files = files();
        let lines: Vec<&str> = file.get(&files).lines().collect();
        let text: Vec<&str> = order.iter().map(|index| *index.get(&lines)).collect();
        check(text.join("\n"));
    }
}
