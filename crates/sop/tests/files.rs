//! Procedures as files: what is read of good ones, and everything that is said of broken ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::fs;
use std::path::{Path, PathBuf};

use mcpgraph_diagnostics::{Colour, Source, to_terminal};
use mcpgraph_sop::{Procedure, read};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(name)
}

fn good(name: &str) -> (Procedure, String) {
    let text = fs::read_to_string(folder("procedures").join(name)).unwrap();
    let (procedure, diagnostics) = read(&Source::new(name, text));
    let said = to_terminal(&diagnostics, Colour::Plain);
    (procedure.unwrap_or_else(|| panic!("{said}")), said)
}

/// Everything that is known of a procedure, a line for each node and edge.
fn outline(procedure: &Procedure) -> String {
    let mut lines = vec![format!(
        "{} {:?}, sections {:?}",
        procedure.agent(),
        procedure.version(),
        procedure.sections
    )];
    for (number, node) in procedure.chart.nodes.iter().enumerate() {
        let terminal = if node.is_terminal(number) { ", terminal" } else { "" };
        lines.push(format!("{} ({}{terminal}): {:?}", node.id, node.shape, node.description));
        if node.has_prompt {
            let examples = node.examples.as_ref().map(ToString::to_string).unwrap_or_default();
            lines.push(format!("    {:?} {:?} {examples}", node.prompt, node.tools));
        }
        for edge in &node.edges {
            let to = &procedure.chart.nodes[edge.to].id;
            lines.push(format!("  -> {to} {:?}", edge.condition));
        }
    }
    lines.join("\n")
}

#[test]
fn both_shapes_of_prompts_say_the_same() {
    let (a, said) = good("retail_a.md");
    assert_eq!(said, "");
    let (b, said) = good("retail_b.md");
    assert_eq!(said, "");
    assert_eq!(outline(&a), outline(&b));
    assert!(a.chart.nodes.len() >= 30, "{}", a.chart.nodes.len());
    insta::assert_snapshot!("retail", outline(&a));
}

#[test]
fn the_system_prompt_is_all_but_the_prompts() {
    let (a, _) = good("retail_a.md");
    let text = a.source.text();
    let start = text.find("# Retail support").unwrap();
    let end = text.find("## Node Prompts").unwrap();
    assert_eq!(*a.system_prompt, *text[start..end].trim());
    assert!(!a.system_prompt.contains("RETAIL_API_KEY"));
    let (b, _) = good("retail_b.md");
    assert!(b.system_prompt.ends_with("Text may stand between the sections."));
}

#[test]
fn every_construct_of_mermaid_is_read() {
    let (procedure, said) = good("constructs.md");
    insta::assert_snapshot!("constructs", format!("{}\n\n{said}", outline(&procedure)));
    assert_eq!(procedure.hub, None);
}

#[test]
fn sections_of_prompts_end_where_they_should() {
    let text = "---\nagent: x\n---\n```mermaid\nflowchart TD\nSTART --> A --> B\n```\n\
        ## Node Prompts (one)\n\n### START\n\nHello.\n\n## A heading of the prompt\n\nMore.\n\n\
        ### A\n\nAsk.\n\n## Global Rules\n\nBe kind.\n\n## Node prompts: the rest\n\n### `B`\n\nBye.\n";
    let (procedure, diagnostics) = read(&Source::new("x.md", text));
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let procedure = procedure.unwrap();
    let prompts: Vec<_> =
        procedure.chart.nodes.iter().map(|node| node.prompt.as_deref().unwrap()).collect();
    assert_eq!(prompts, ["Hello.\n\n## A heading of the prompt\n\nMore.", "Ask.", "Bye."]);
    assert_eq!(procedure.sections, ["Global Rules".into()]);
    assert!(procedure.system_prompt.ends_with("```\n\n## Global Rules\n\nBe kind."));
}

#[test]
fn broken_files_are_told_all_that_is_wrong() {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder("broken")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(paths.len() >= 20);
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let (procedure, diagnostics) = read(&Source::new(name, fs::read_to_string(&path).unwrap()));
        assert!(!diagnostics.is_empty(), "{name} has nothing wrong");
        assert_eq!(procedure.is_some(), !diagnostics.has_errors(), "{name}");
        let stem = path.file_stem().unwrap().to_str().unwrap();
        insta::assert_snapshot!(stem, to_terminal(&diagnostics, Colour::Plain));
    }
}

#[test]
fn a_file_that_is_too_large_is_not_read() {
    let text = " ".repeat(mcpgraph_sop::MAX_FILE_BYTES + 1);
    let (procedure, diagnostics) = read(&Source::new("x.md", text));
    let said = to_terminal(&diagnostics, Colour::Plain);
    assert!(procedure.is_none() && said.contains("the limit is 1048576 bytes (1 MiB)"), "{said}");
}

#[test]
fn lines_may_end_as_on_windows() {
    let text = fs::read_to_string(folder("procedures").join("retail_a.md")).unwrap();
    let (windows, diagnostics) = read(&Source::new("x.md", text.replace('\n', "\r\n")));
    assert!(diagnostics.is_empty(), "{}", to_terminal(&diagnostics, Colour::Plain));
    let (unix, _) = good("retail_a.md");
    assert_eq!(outline(&windows.unwrap()).replace("\\r\\n", "\\n"), outline(&unix));
}
