//! A short run of every fuzz target, on seeds from the repository and damaged copies of them.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests report by panicking and printing"
)]

use std::path::Path;

use mcpgraph_fuzz::Mutations;

/// How many damaged inputs each target gets.
const INPUTS: usize = 400;

#[track_caller]
fn run(name: &str, target: fn(&[u8]), seeds: Vec<Vec<u8>>) {
    assert!(!seeds.is_empty());
    // An ordinary thread's stack: what overflows it would take a server down.
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let worker = thread.spawn(move || {
        for seed in &seeds {
            target(seed);
        }
        let mut mutations = Mutations::new(0x5eed);
        for _ in 0..INPUTS {
            target(&mutations.next(&seeds));
        }
    });
    assert!(worker.unwrap().join().is_ok(), "{name} failed");
    println!("{name}: {INPUTS} inputs");
}

fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.extension().is_some_and(|found| found == ending))
        .map(|path| std::fs::read(path).unwrap())
        .collect()
}

fn texts(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn graph_files() {
    let mut seeds = files("examples", "yaml");
    seeds.extend(files("crates/config/tests/cases", "yaml"));
    run("graph_file", mcpgraph_fuzz::graph_file, seeds);
}

#[test]
fn mcp_json() {
    let seeds = texts(&[
        r#"{"mcpServers": {"a": {"command": "x", "args": ["${HOME}", "${A:-b}"], "env": {"K": "v"}}}}"#,
        r#"{"mcpServers": {"b": {"url": "https://x/mcp", "type": "sse", "headers": {"A": "${T}"}}}}"#,
    ]);
    run("mcp_json", mcpgraph_fuzz::mcp_json, seeds);
}

#[test]
fn test_files() {
    let seeds = files("crates/config/tests/test_files", "yaml");
    run("test_file", mcpgraph_fuzz::test_file, seeds);
}

#[test]
fn procedures() {
    let mut seeds = files("crates/sop/tests/procedures", "md");
    seeds.extend(files("crates/sop/tests/broken", "md"));
    run("procedure", mcpgraph_fuzz::procedure, seeds);
}

fn jsonata_seeds() -> Vec<Vec<u8>> {
    texts(&[
        "$.entry.n * 2 + items[price > 1].price ~> $sum()",
        "items^(>price){name: $sum(price)}",
        "($f := function($n) { $n <= 1 ? 1 : $n * $f($n - 1) }; $f(20))",
        r#"$map(entry.list, function($v, $i) { $string($v) & "-" & $i })"#,
        r##"entry.text.$replace(/(\w+) (\w+)/, "$2 $1") & $pad("x", -10, "#")"##,
        r#"$ ~> |items|{"total": price * 2}, ["name"]|"#,
        r##"$now() & $fromMillis(1510067557121, "[Y0001]-[M01]-[D01]") & $formatNumber(12345.6, "#,##0.00")"##,
        "items@$i#$n.{ 'n': $n, 'p': %.entry.n, 'all': **.a }",
        r#"$eval("[1..5]") ?? $lookup($, "0") ?: "none""#,
    ])
}

#[test]
fn jsonata_syntax() {
    let mut seeds = jsonata_seeds();
    seeds.extend(texts(&["[1, +] & (2 *) & {\"a\" 3}", "a@$b#$c.%.**[`x y`]^(<z, >w){d: e}"]));
    run("jsonata_syntax", mcpgraph_fuzz::jsonata_syntax, seeds);
}

#[test]
fn jsonata() {
    let mut seeds = jsonata_seeds();
    seeds.extend(texts(&[
        "$sort($, function($a, $b) { $a > $b })\0[3, 1.5, -2, 1e300]",
        "**.$type($)\0{\"a\": [{\"b\": [[1], {}]}, null, \"\"]}",
    ]));
    run("jsonata", mcpgraph_fuzz::jsonata, seeds);
}

#[test]
fn jsonlogic() {
    let seeds = texts(&[
        r#"{"and": [{">": [{"var": "entry.n"}, 2]}, {"==": [{"var": ["nope", 7]}, 7]}]}"#,
        r#"{"reduce": [{"var": "items"}, {"+": [{"var": "current.price"}, {"var": "accumulator"}]}, 0]}"#,
        r#"{"if": [{"some": [{"var": "items"}, {">": [{"var": "price"}, 5]}]}, {"cat": ["a", 1]}, null]}"#,
        r#"{"filter": [{"merge": [[1, 2], {"var": "entry.list"}]}, {"in": [{"var": ""}, [1, "x"]]}]}"#,
    ]);
    run("jsonlogic", mcpgraph_fuzz::jsonlogic, seeds);
}

#[test]
fn jsonpath() {
    let seeds = texts(&[
        "$..name",
        "$.items[?@.price > 10 && match(@.name, 'a.*')].name",
        "$['entry']['list'][-1:0:-1,*]..b[?count(@.*) == 1]",
    ]);
    run("jsonpath", mcpgraph_fuzz::jsonpath, seeds);
}

#[test]
fn json_rpc() {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"name":"t","arguments":{"a":[1,2.50]},"_meta":{"progressToken":1}}}"#;
    let modern = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#;
    let seeds = vec![
        format!("{initialize}\n{call}\n{cancel}\n").into_bytes(),
        format!("{modern}\n{modern}\n").into_bytes(),
        format!("{call}\n[{call},{cancel}]\nnot json\n").into_bytes(),
        call.as_bytes().to_vec(),
    ];
    run("json_rpc", mcpgraph_fuzz::json_rpc, seeds);
}
