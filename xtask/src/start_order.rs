//! `cargo xtask start-order`: finds the functions that a start and a few calls go through.
//!
//! The list is read by `crates/mcpgraph/build.rs`, which says what it is for. It need not be made
//! anew with every change; it is worth it when `cargo xtask bench` shows that memory has grown.

use std::collections::BTreeSet;
use std::{fs, path::Path};

use anyhow::{Context as _, ensure};
use serde_json::json;

use crate::bench::write_graph;
use crate::client::Client;
use crate::command::run_visibly;
use crate::workspace::{Workspace, cargo};

const LIST: &str = "crates/mcpgraph/start-order.txt";

const HEADER: &str = "\
# The functions that a start and a few calls go through, as patterns of their symbols.
# Written by `cargo xtask start-order`; build.rs says what it is for.
";

/// Fewer functions than this cannot be all.
const FEWEST: usize = 500;

/// Builds a program whose functions have names, watches it and writes the list.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let folder = workspace.target.join("start-order");
    fs::create_dir_all(&folder)?;
    run_visibly(
        cargo()
            .args(["rustc", "--release", "--package", "mcpgraph", "--bin", "mcpgraph"])
            .args(["--", "-C", "strip=none"])
            .env("MCPGRAPH_START_ORDER", "none")
            .current_dir(&workspace.root),
    )?;
    let product = workspace.target.join("release/mcpgraph");
    let graph = write_graph(workspace, &folder, &product)?;
    let profile = folder.join("callgrind.out");
    watch(&product, &graph, &profile)?;
    let profile = fs::read_to_string(&profile)
        .with_context(|| format!("could not read {}", profile.display()))?;
    let patterns: BTreeSet<String> = profile.lines().filter_map(function).map(pattern).collect();
    ensure!(patterns.len() >= FEWEST, "only {} functions were seen", patterns.len());
    let list = patterns.iter().fold(HEADER.to_owned(), |list, pattern| list + pattern + "\n");
    fs::write(workspace.root.join(LIST), list)?;
    eprintln!("{LIST}: {} functions", patterns.len());
    Ok(())
}

/// Serves a session as clients have them, and notes every function on the way.
fn watch(product: &Path, graph: &Path, profile: &Path) -> anyhow::Result<()> {
    let arguments = [
        "--tool=callgrind".to_owned(),
        "--demangle=no".to_owned(),
        format!("--callgrind-out-file={}", profile.display()),
        product.display().to_string(),
        "-g".to_owned(),
        graph.display().to_string(),
    ];
    let mut client = Client::start(Path::new("valgrind"), &arguments)?;
    client.request("tools/list", json!({}))?;
    for n in [1, 10] {
        client.call("decide", json!({ "n": n }))?;
    }
    client.call("sum_to_n", json!({ "n": 3 }))?;
    client.call("upstream_echo", json!({ "value": r#"{"value":"x"}"# }))?;
    client.close()
}

/// The symbol of a Rust function that a line of the profile names.
fn function(line: &str) -> Option<&str> {
    let named = line.strip_prefix("fn=").or_else(|| line.strip_prefix("cfn="))?;
    let (_, symbol) = named.split_once(") ")?;
    // What follows a quote counts recursions.
    let symbol = symbol.split('\'').next()?;
    (symbol.starts_with("_ZN") || symbol.starts_with("_R")).then_some(symbol)
}

/// The symbol without what differs from one build to another: the hashes of functions and crates.
fn pattern(symbol: &str) -> String {
    const HASH: usize = 16;
    if let Some((name, hash)) = symbol.rsplit_once("17h").filter(|(_, hash)| hash.len() > HASH)
        && hash.bytes().take(HASH).all(|byte| byte.is_ascii_hexdigit())
    {
        return format!("{name}17h*");
    }
    let symbol = symbol.split('.').next().unwrap_or_default();
    let mut parts = symbol.split("Cs");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |pattern, part| {
        let is_hash = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        match part.split_once('_').filter(|(hash, _)| is_hash(hash)) {
            Some((_, rest)) => pattern + "Cs*_" + rest,
            None => pattern + "Cs" + part,
        }
    }) + "*"
}

#[cfg(test)]
mod tests {
    use super::{function, pattern};

    #[test]
    fn functions_are_found_in_a_profile() {
        assert_eq!(function("fn=(12) _ZN1a1b17h0E"), Some("_ZN1a1b17h0E"));
        assert_eq!(function("cfn=(12) _RNv1a'2"), Some("_RNv1a"));
        for line in ["fn=(12)", "fn=(3) malloc", "fl=(1) a.c", "+3 * 5", "calls=5 +61"] {
            assert_eq!(function(line), None, "{line}");
        }
    }

    #[test]
    fn hashes_are_left_out_of_patterns() {
        for (symbol, expected) in [
            ("_ZN4core6result3map17h29e55bace702ae41E", "_ZN4core6result3map17h*"),
            ("_ZN4core6result3map17h29e55bace702ae41E.llvm.7", "_ZN4core6result3map17h*"),
            ("_RNvNtCsgEmfK2I1SDS_4core3fmtB5_.llvm.12", "_RNvNtCs*_4core3fmtB5_*"),
            ("_RNvNtCs1_4coreNtCs2b_3std1x", "_RNvNtCs*_4coreNtCs*_3std1x*"),
        ] {
            assert_eq!(pattern(symbol), expected);
        }
    }
}
