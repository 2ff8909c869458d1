//! A server over stdio whose tools take a while and write to a file when they begin and when they
//! end, so that a test can count what was really done.
//!
//! `effect` says nothing about itself, `repeatable` that it may be called twice, `lookup` that it
//! only reads. All take `{name, ms}` and answer `{name, times}`: how often a call of that name has
//! begun. Calls are carried out at the same time.
#![expect(clippy::unwrap_used, reason = "a broken pipe may end it")]

use std::{
    fs::{self, OpenOptions},
    io::{self, BufRead as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
    thread,
    time::Duration,
};

use clap::Parser;
use serde_json::{Value, json};

/// A server over stdio that counts
#[derive(Parser)]
struct Cli {
    /// Writes a line to this file when a call begins and when it ends
    file: PathBuf,
}

fn main() {
    let file = Arc::new(Cli::parse().file);
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let message: Value = serde_json::from_str(&line).unwrap();
        let id = message["id"].clone();
        if id.is_null() {
            continue;
        }
        let file = Arc::clone(&file);
        thread::spawn(move || match message["method"].as_str() {
            Some("tools/call") => answer(&id, "result", &call(&message["params"], &file)),
            Some("initialize") => answer(
                &id,
                "result",
                &json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "counting", "version": "1"},
                }),
            ),
            Some("tools/list") => answer(&id, "result", &json!({"tools": tools()})),
            Some("ping") => answer(&id, "result", &json!({})),
            _ => answer(&id, "error", &json!({"code": -32601, "message": "no such method"})),
        });
    }
}

fn tools() -> Vec<Value> {
    let tool = |name: &str, annotations: Value| {
        json!({
            "name": name,
            "description": "Counts",
            "inputSchema": {"type": "object"},
            "annotations": annotations,
        })
    };
    vec![
        tool("effect", json!({"destructiveHint": true})),
        tool("repeatable", json!({"idempotentHint": true})),
        tool("lookup", json!({"readOnlyHint": true})),
    ]
}

/// Carries out a call: it begins, takes its time and ends.
fn call(params: &Value, file: &Path) -> Value {
    let arguments = &params["arguments"];
    let name = arguments["name"].as_str().unwrap_or_default();
    let key = params["_meta"]["mcpgraph/idempotencyKey"].as_str().unwrap_or("-");
    append(file, &format!("begin {name} {key}"));
    let begun = fs::read_to_string(file).unwrap_or_default();
    let begin = format!("begin {name} ");
    let times = begun.lines().filter(|line| line.starts_with(&begin)).count();
    thread::sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or_default()));
    append(file, &format!("end {name} {key}"));
    let output = json!({"name": name, "times": times});
    json!({
        "content": [{"type": "text", "text": output.to_string()}],
        "structuredContent": output,
    })
}

fn answer(id: &Value, key: &str, value: &Value) {
    let line = json!({"jsonrpc": "2.0", "id": id, key: value}).to_string() + "\n";
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.flush().unwrap();
}

/// Writes a line in one go, whoever else writes.
fn append(file: &Path, line: &str) {
    let mut file = OpenOptions::new().append(true).create(true).open(file).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
