//! `cargo xtask start-order`: finds the functions that a start and a few calls go through.
//!
//! Those of calls come first, next to each other: the others are let go of when the start is over
//! (`mcpgraph_memory::let_go_of_code`), and what stands beside code that is run stays with it.
//!
//! The list is read by `crates/mcpgraph/build.rs`, which says what it is for. It need not be made
//! anew with every change; it is worth it when `cargo xtask bench` shows that memory has grown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use crate::bench::write_graph;
use crate::client::Client;
use crate::command::run_visibly;
use crate::workspace::{Workspace, cargo, remove};

const LIST: &str = "crates/mcpgraph/start-order.txt";

const HEADER: &str = "\
# The functions that a start and a few calls go through, as patterns of their symbols.
# Written by `cargo xtask start-order`; build.rs says what it is for.
";

/// The function that lets go of what only a start needs.
const START_IS_OVER: &str = "*mcpgraph_memory*let_go_of_code*";

/// The folder of the runs that are recorded meanwhile.
const RUNS: &str = "runs";

/// How many calls more are made, and how many at once.
const LOAD: usize = 256;
const AT_ONCE: usize = 64;

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
    let decide = [("decide", json!({ "n": 1 })), ("decide", json!({ "n": 10 }))];
    let more = [
        ("sum_to_n", json!({ "n": 3 })),
        ("upstream_echo", json!({ "value": r#"{"value":"x"}"# })),
    ];
    // A first start makes the store.
    remove(&folder.join(RUNS))?;
    let all = watch(&product, &graph, &folder, decide.iter().chain(&more))?;
    // This time there is a record of runs already, as there mostly is.
    let usual = watch(&product, &graph, &folder, decide.iter())?;
    ensure!(usual.serving.len() >= FEWEST, "only {} functions were seen", usual.serving.len());
    // What every server runs comes first; what only some run would part it.
    let mut listed = BTreeSet::new();
    let ways = [&usual.serving, &all.serving, &usual.starting, &all.starting];
    let patterns = ways.into_iter().flatten().filter(|pattern| listed.insert(*pattern));
    let list = patterns.fold(HEADER.to_owned(), |list, pattern| list + pattern + "\n");
    fs::write(workspace.root.join(LIST), list)?;
    eprintln!("{LIST}: {} functions, {} of every call", listed.len(), usual.serving.len());
    Ok(())
}

/// The functions that a session goes through, as patterns.
struct Ways {
    starting: BTreeSet<String>,
    /// From the first request on.
    serving: BTreeSet<String>,
}

/// Serves a session as clients have them, and tells every function on the way.
fn watch<'a>(
    product: &Path,
    graph: &Path,
    folder: &Path,
    calls: impl Iterator<Item = &'a (&'a str, Value)>,
) -> anyhow::Result<Ways> {
    let profiles = folder.join("profiles");
    remove(&profiles)?;
    fs::create_dir_all(&profiles)?;
    let arguments = [
        "--tool=callgrind".to_owned(),
        "--demangle=no".to_owned(),
        // What was seen until then is written, and watching begins again.
        format!("--dump-before={START_IS_OVER}"),
        format!("--callgrind-out-file={}", profiles.join("callgrind.out").display()),
        product.display().to_string(),
        "-g".to_owned(),
        graph.display().to_string(),
    ];
    let mut client = Client::start(Path::new("valgrind"), &arguments, &folder.join(RUNS))?;
    client.request("tools/list", json!({}))?;
    for (tool, arguments) in calls {
        client.call(tool, arguments.clone())?;
    }
    // Some of what is done to the store is done every now and then only.
    client.load("decide", &|index| json!({ "n": index % 20 }), LOAD, AT_ONCE)?;
    client.close()?;
    // The last profile of a process has no number.
    let [starting, serving] = ["callgrind.out.1", "callgrind.out"].map(|name| profiles.join(name));
    ensure!(starting.exists(), "the end of the start was not seen: {START_IS_OVER}");
    Ok(Ways { starting: patterns(&starting, product)?, serving: patterns(&serving, product)? })
}

/// The functions that a profile names.
fn patterns(profile: &Path, product: &Path) -> anyhow::Result<BTreeSet<String>> {
    let profile = fs::read_to_string(profile)
        .with_context(|| format!("could not read {}", profile.display()))?;
    Ok(functions(&profile, &product.display().to_string()).map(pattern).collect())
}

/// The symbols of the functions of a program that a profile names.
///
/// A profile says of which file the functions are that follow, and numbers both: the name stands
/// only where a number is used first, be it for a function (`ob=`, `fn=`) or for one that is
/// called (`cob=`, `cfn=`).
fn functions<'a>(profile: &'a str, program: &str) -> impl Iterator<Item = &'a str> {
    let number = |text: &'a str| text.split_once(')').map_or(text, |(number, _)| number);
    let named = profile.lines().filter_map(|line| {
        line.strip_prefix("ob=").or_else(|| line.strip_prefix("cob="))?.split_once(") ")
    });
    let program = named.filter(|(_, path)| *path == program).map(|(file, _)| file).next();
    let (mut caller, mut callee) = (None, None);
    profile.lines().filter_map(move |line| {
        let (key, value) = line.split_once('=')?;
        let file = match key {
            "ob" => {
                caller = Some(number(value));
                return None;
            }
            "cob" => {
                callee = Some(number(value));
                return None;
            }
            "fn" => caller,
            // A file is said only if it is another than the caller's.
            "cfn" => callee.take().or(caller),
            _ => return None,
        };
        let (_, symbol) = value.split_once(") ").filter(|_| file.is_some() && file == program)?;
        // What follows a quote counts recursions.
        symbol.split('\'').next().filter(|symbol| is_symbol(symbol))
    })
}

/// Whether this is a symbol, and not an address or a description of what has none.
fn is_symbol(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"_.$".contains(&byte);
    !text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(is_part)
}

/// The symbol without what differs from one build to another: the hashes of functions and crates.
fn pattern(symbol: &str) -> String {
    const HASH: usize = 16;
    if let Some((name, hash)) = symbol.rsplit_once("17h").filter(|(_, hash)| hash.len() > HASH)
        && hash.bytes().take(HASH).all(|byte| byte.is_ascii_hexdigit())
    {
        return format!("{name}17h*");
    }
    if !symbol.starts_with("_R") {
        return symbol.to_owned();
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
    use super::{functions, pattern};

    #[test]
    fn functions_of_the_program_are_found_in_a_profile() {
        let profile = "\
ob=(1) /lib/libc.so\nfl=(1) a.c\nfn=(1) malloc\n0x1 2 3\ncob=(2) /bin/p\ncfn=(2) _ZN1a17h0E\n\
calls=1 2\n+3 * 5\ncfn=(3) free\nob=(2)\nfn=(2)\nfn=(4) _RNv1a'2\ncob=(1)\ncfn=(1)\ncfn=(5) c\n\
cob=(1)\ncfn=(6) abort\nfn=(7) 0x12\nfn=(8) (below main)";
        let found: Vec<&str> = functions(profile, "/bin/p").collect();
        assert_eq!(found, ["_ZN1a17h0E", "_RNv1a", "c"]);
        assert_eq!(functions(profile, "/bin/q").count(), 0);
    }

    #[test]
    fn hashes_are_left_out_of_patterns() {
        for (symbol, expected) in [
            ("_ZN4core6result3map17h29e55bace702ae41E", "_ZN4core6result3map17h*"),
            ("_ZN4core6result3map17h29e55bace702ae41E.llvm.7", "_ZN4core6result3map17h*"),
            ("_RNvNtCsgEmfK2I1SDS_4core3fmtB5_.llvm.12", "_RNvNtCs*_4core3fmtB5_*"),
            ("sqlite3_step", "sqlite3_step"),
            ("_RNvNtCs1_4coreNtCs2b_3std1x", "_RNvNtCs*_4coreNtCs*_3std1x*"),
        ] {
            assert_eq!(pattern(symbol), expected);
        }
    }
}
