//! Edits of graph files in `edits/`: a text, what is to be done, and the text afterwards.
//!
//! A case is a heading, a `yaml` block (before), a `json` block with `add`, `update` and `delete`,
//! and a `yaml` block (after) or a `text` block (why it is refused). `⏎` stands for a carriage
//! return, `∅` at the end of a text for a missing last line break.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use mcpgraph_config::edit::{EditError, add_tool, delete_tool, update_tool};
use mcpgraph_diagnostics::Source;
use mcpgraph_value::Value;

struct Case {
    title: String,
    blocks: Vec<(String, String)>,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/edits");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a case").path())
        .collect();
    paths.sort();
    paths.iter().flat_map(|path| parse(&std::fs::read_to_string(path).expect("a case"))).collect()
}

fn parse(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(title) = line.strip_prefix("## ") {
            cases.push(Case { title: title.to_owned(), blocks: Vec::new() });
        } else if let (Some(kind), Some(case)) = (line.strip_prefix("```"), cases.last_mut()) {
            let lines = lines.by_ref().take_while(|line| *line != "```");
            let body: String = lines.flat_map(|line| [line, "\n"]).collect();
            let body = body.replace("⏎\n", "\r\n");
            let body = body.strip_suffix("∅\n").map_or(body.clone(), str::to_owned);
            case.blocks.push((kind.to_owned(), body));
        }
    }
    cases
}

fn apply(source: &Arc<Source>, edit: &Value) -> Result<String, EditError> {
    let part = |name: &str| edit.pointer(&format!("/{name}")).cloned();
    let name = |name: &str| part(name).and_then(|name| name.as_str().map(str::to_owned));
    match (part("add"), name("update"), name("delete")) {
        (Some(tool), ..) => add_tool(source, &tool),
        (_, Some(name), _) => update_tool(source, &name, &part("with").expect("a definition")),
        (_, _, Some(name)) => delete_tool(source, &name),
        _ => panic!("an edit is one of add, update, delete"),
    }
}

#[test]
fn every_edit_gives_what_is_recorded() {
    let cases = cases();
    assert!(cases.len() >= 15, "too few cases: {}", cases.len());
    let mut wrong = String::new();
    for Case { title, blocks } in cases {
        let [(_, before), (_, edit), (kind, after)] = blocks.as_slice() else {
            panic!("{title}: a case has three blocks")
        };
        let edit = Value::from_json(edit).unwrap_or_else(|error| panic!("{title}: {error}"));
        let got = match apply(&Source::new("graph.yaml", before.as_str()), &edit) {
            Ok(text) => ("yaml", text),
            Err(error) => {
                let mut shown = String::new();
                for diagnostic in &error.diagnostics() {
                    writeln!(shown, "{} {}", diagnostic.code, diagnostic.message).expect("text");
                }
                ("text", shown)
            }
        };
        if (kind.as_str(), after.as_str()) != (got.0, got.1.as_str()) {
            writeln!(wrong, "## {title}\n```{}\n{}```\n", got.0, got.1).expect("text");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
