//! What the documents say is true: commands work, files are files, links lead somewhere.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use mcpgraph::load::Files;
use mcpgraph_diagnostics::Diagnostics;
use serde_json::Value;

use crate::product::{repository, typed};

/// The Markdown files of the project.
fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![repository().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found.extend(
        ["README.md", "ARCHITECTURE.md", "CHANGELOG.md"].map(|name| repository().join(name)),
    );
    found
}

/// The blocks of a language in a text.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(fence.as_str()).skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut checked = 0;
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let path = link.split('#').next().unwrap();
            if path.is_empty() || path.contains("://") {
                continue;
            }
            let target = document.parent().unwrap().join(path);
            assert!(target.exists(), "{}: {link}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 5, "too few links were found: {checked}");
}

#[test]
fn what_the_readme_says_to_try_works() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let section = readme.split("## Try it").nth(1).unwrap().split("\n## ").next().unwrap();
    let lines: Vec<&str> = blocks(section, "sh").into_iter().flat_map(str::lines).collect();
    let (first, others) = lines.split_first().unwrap();

    // The first command builds and runs; here it is built already.
    let first = first.strip_prefix("cargo run --release --").expect("it begins with cargo run");
    let output = works(&format!("mcpgraph {first}"), &repository());
    let promised = section.split("It prints `").nth(1).unwrap().split('`').next().unwrap();
    assert_eq!(json(&output.stdout), json(promised.as_bytes()));

    let folder = tempfile::tempdir().unwrap();
    for line in others.iter().filter(|line| !line.starts_with("cargo install")) {
        let output = works(line, folder.path());
        // A comment after a run is its result.
        if line.contains(" run ") {
            let promised = line.split('#').nth(1).expect("a comment");
            assert_eq!(json(&output.stdout), json(promised.trim().as_bytes()), "{line}");
        }
    }
}

/// There are two programs, and `cargo run` without a name must mean the one the README means.
#[test]
fn cargo_run_means_the_product() {
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let metadata = json(&output.stdout);
    let packages = metadata["packages"].as_array().unwrap();
    let product = packages.iter().find(|package| package["name"] == "mcpgraph").unwrap();
    assert_eq!(product["default_run"], "mcpgraph");
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).unwrap()
}

/// Types a line that should work.
fn works(line: &str, folder: &Path) -> Output {
    let output = typed(line, folder);
    assert!(output.status.success(), "{line}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Problems that a part of a file has only because the rest of it is missing.
const OF_PARTS: [&str; 11] = [
    "MG0115", "MG0120", "MG0144", "MG0203", "MG0205", "MG0207", "MG0208", "MG0209", "MG0212",
    "MG0213", "MG0303",
];

#[test]
fn the_graph_file_is_described_with_files_that_are_right() {
    let text = fs::read_to_string(repository().join("docs/graph-file.md")).unwrap();
    let blocks = blocks(&text, "yaml");
    assert!(blocks.len() > 8, "too few blocks were found: {}", blocks.len());
    for block in blocks {
        let problems: Vec<String> = check(&whole(block))
            .iter()
            .filter(|problem| !OF_PARTS.contains(&problem.code.id()))
            .map(|problem| format!("{} {}", problem.code, problem.message))
            .collect();
        assert!(problems.is_empty(), "{block}\n{problems:#?}");
    }
}

/// The smallest file in which a block can stand.
fn whole(block: &str) -> String {
    let key = block.split(':').next().unwrap();
    let missing = |name: &str, text: &'static str| if key == name { "" } else { text };
    if key == "version" {
        return block.to_owned();
    }
    if !block.starts_with('-') {
        return format!(
            "version: \"1.0\"\nserver: {{ name: part, version: \"1\" }}\n{}{block}\n",
            missing("tools", "tools: []\n")
        );
    }
    let nodes = block.replace('\n', "\n      ");
    format!(
        "version: \"1.0\"\nserver: {{ name: part, version: \"1\" }}\ntools:\n  - name: part\n    \
         description: A part\n    inputSchema: {{ type: object }}\n    nodes:\n      {nodes}\n"
    )
}

fn check(text: &str) -> Diagnostics {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graph.yaml");
    fs::write(&path, text).unwrap();
    Files { graph: path, ..Files::default() }.load().diagnostics
}
