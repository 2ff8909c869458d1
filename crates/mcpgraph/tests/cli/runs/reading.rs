use serde_json::{Value, json};

use super::{Store, empty, graph, step_of};
use crate::product::{beside, command};

#[test]
fn runs_are_found_by_what_they_are() {
    let store = Store::new();
    let everything = store.record(&graph(), "everything", &empty());
    let double = store.record(&graph(), "double", &json!({"n": 123_454}));
    let failed = store.record(&beside("graphs/failures.yaml"), "fail", &empty());
    let slow = store.record(&beside("graphs/calls.yaml"), "wait", &json!({"ms": 400}));

    let all = [&slow, &failed, &double, &everything];
    assert_eq!(store.listed(&[]), all.map(String::clone), "the newest first");
    assert_eq!(store.listed(&["--tool", "double"]), [&*double]);
    assert_eq!(store.listed(&["--tool", "nope"]), [""; 0]);
    assert_eq!(store.listed(&["--status", "failed"]), [&*failed]);
    assert_eq!(store.listed(&["--status", "interrupted"]), [""; 0]);
    assert_eq!(store.listed(&["--since", "1h"]).len(), 4);
    assert_eq!(store.listed(&["--since", "2999-01-01"]), [""; 0]);
    assert_eq!(store.listed(&["--text", "DISK IS FULL"]), [&*failed]);
    assert_eq!(store.listed(&["--text", "246908"]), [&*double], "in an output");
    assert_eq!(store.listed(&["--slower-than", "1h"]), [""; 0]);
    assert!(store.listed(&["--slower-than", "300ms"]).contains(&slow));
    assert_eq!(store.listed(&["--limit", "2"]), [slow, failed.clone()]);

    let listing = store.json(&["ls", "--status", "failed"]);
    assert_eq!(listing["next"], Value::Null);
    let run = &listing["runs"][0];
    assert_eq!(run["tool"], "fail");
    assert_eq!(run["origin"], json!({"face": "cli"}));
    assert!(run["error"].as_str().unwrap().contains("the disk is full"), "{run}");

    let text = store.runs(&["ls"]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[2].starts_with(&failed) && lines[2].contains("failed"), "{text}");
    assert!(lines[2].ends_with("node `try_it`: the disk is full"), "{text}");
    let column = lines[0].find("STATUS").unwrap();
    assert!(lines[1..].iter().all(|line| &line[column - 2..column] == "  "), "{text}");
}

#[test]
fn times_that_cannot_be_read_are_mistakes() {
    let store = Store::new();
    for arguments in
        [["ls", "--since", "yesterday"], ["ls", "--slower-than", "2"], ["ls", "--status", "odd"]]
    {
        let (code, said) = store.failing(&arguments);
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(arguments[1]) && said.contains(arguments[2]), "{said}");
    }
}

#[test]
fn a_run_is_shown_with_its_steps() {
    let store = Store::new();
    let id = store.record(&graph(), "everything", &empty());
    let shown = store.json(&["show", &id[..30]]);
    assert_eq!(shown["run"]["id"], *id);
    assert_eq!(shown["input"], json!({"n": 3}));
    assert_eq!(shown["result"], json!({"sum": 14, "twice": 28, "error": "out of order"}));
    let steps = shown["steps"].as_array().unwrap();
    assert_eq!(steps.len() as u64, shown["run"]["steps"].as_u64().unwrap());
    for (number, step) in steps.iter().enumerate() {
        assert_eq!(step["step"], number);
    }
    let risky = &steps[usize::try_from(step_of(&shown, "risky")).unwrap()];
    assert_eq!(risky["retries"], 2);
    assert_eq!(risky["error"]["message"], "out of order");
    assert_eq!(risky["edge"], "result");
    let counts = steps.iter().filter(|step| step["node"] == "count");
    assert_eq!(counts.map(|step| step["output"].clone()).collect::<Vec<_>>(), [1, 2, 3]);

    let text = store.runs(&["show", &id]);
    for part in ["tool     everything, version ", "status   succeeded", "called   from cli"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let line = text.lines().find(|line| line.contains(" risky ")).unwrap();
    assert!(line.ends_with("failed: out of order [MG0402] → result (retried 2 times)"), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains(" ask ")).count(), 3);
}

#[test]
fn a_step_is_shown_with_what_it_saw() {
    let store = Store::new();
    let id = store.record(&graph(), "everything", &empty());
    let shown = store.json(&["show", &id]);
    let square = shown["steps"].as_array().unwrap();
    let square = square.iter().rfind(|step| step["node"] == "square").unwrap();
    let number = square["step"].to_string();
    let step = store.json(&["show", &id, "--step", &number, "--context"]);
    assert_eq!(step["step"]["output"], square["output"]);
    let context = &step["context"];
    let item = context["number"].as_u64().unwrap();
    assert_eq!(square["output"], item * item);
    assert_eq!(context["index"], item - 1);
    assert_eq!(context["count"], 3);
    assert_eq!(context["ask"], item);
    assert_eq!(context.get("both"), None, "it comes later");

    let without = store.json(&["show", &id, "--step", &number]);
    assert_eq!(without.get("context"), None);

    let risky = step_of(&shown, "risky").to_string();
    let text = store.runs(&["show", &id, "--step", &risky, "--context"]);
    for part in [
        "node   risky (mcp)",
        "next   result",
        "\ninput\n  {\n    \"message\": \"out of order\"",
        "retry 1 in 1.00 ms: out of order",
        "retry 2 in ",
        "\nerror\n  out of order [MG0402, tool_error]",
        "\ncontext\n  {\n    \"entry\": {",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = store.json(&["show", &id, "--step", &risky]);
    let between = json["between"].as_array().unwrap();
    assert!(between.iter().all(|event| event["type"] == "retrying") && between.len() == 2);
}

#[test]
fn what_is_not_there_is_said_helpfully() {
    let store = Store::new();
    let (code, said) = store.failing(&["ls"]);
    assert_eq!(code, 3);
    assert!(said.contains(store.path().to_str().unwrap()) && said.contains("--data"), "{said}");

    let id = store.record(&graph(), "double", &json!({"n": 1}));
    let other = store.record(&graph(), "double", &json!({"n": 2}));
    for unknown in ["ffff", "01234567-89ab-7def-8123-456789abcdef"] {
        let (code, said) = store.failing(&["show", unknown]);
        assert_eq!(code, 1);
        assert!(said.contains(unknown) && said.contains("runs ls"), "{said}");
        assert!(said.contains(store.path().to_str().unwrap()), "{said}");
    }
    let (code, said) = store.failing(&["show", "hello"]);
    assert_eq!(code, 2, "{said}");
    let (code, said) = store.failing(&["show", &id[..1]]);
    assert!(code == 2 && said.contains(&id) && said.contains(&other), "{said}");
    let (code, said) = store.failing(&["show", &id, "--step", "3"]);
    assert!(code == 1 && said.contains("only 0 to 2"), "{said}");
    let latest = store.json(&["show", &id, "--context"]);
    assert_eq!(latest["step"]["step"], 2, "the latest step, where none is named");
}

#[test]
fn nodes_are_counted_the_slowest_first() {
    let store = Store::new();
    store.record(&graph(), "everything", &empty());
    store.record(&graph(), "everything", &json!({"n": 1}));
    store.record(&graph(), "double", &json!({"n": 1}));
    let nodes = store.json(&["stats", "--tool", "everything"])["nodes"].take();
    let nodes = nodes.as_array().unwrap();
    // What a `graph` node calls stands under its own name.
    let of = |tool: &str| nodes.iter().filter(|node| node["tool"] == tool).count();
    assert_eq!((of("double"), of("everything") + of("double")), (3, nodes.len()), "{nodes:?}");
    let node = |name: &str| nodes.iter().find(|node| node["node"] == name).unwrap();
    assert_eq!((&node("count")["count"], &node("count")["errors"]), (&json!(4), &json!(0)));
    assert_eq!((&node("risky")["count"], &node("risky")["errors"]), (&json!(2), &json!(2)));
    assert_eq!(node("ask")["count"], 4);
    let times: Vec<f64> = nodes.iter().map(|node| node["p95Ms"].as_f64().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
    for node in nodes {
        assert!(node["p50Ms"].as_f64() <= node["p95Ms"].as_f64(), "{node}");
        assert!(node["p95Ms"].as_f64() <= node["maxMs"].as_f64(), "{node}");
    }
    assert_eq!(store.json(&["stats", "--since", "2999-01-01"]), json!({"nodes": []}));
    let text = store.runs(&["stats"]);
    let is_told = |line: &str| line.starts_with("double ") && line.contains(" twice ");
    assert!(text.starts_with("TOOL") && text.lines().any(is_told), "{text}");
}

#[test]
fn a_payload_over_the_limit_is_shown_as_far_as_it_was_kept() {
    let store = Store::new();
    let options = ["--max-payload-bytes", "1000"];
    let id = store.record_with(&graph(), "large", &json!({"n": 2000}), &options, &[]);
    let step = store.json(&["show", &id, "--step", "1"])["step"].take();
    assert_eq!(step.get("output"), None);
    let left = &step["outputTruncated"];
    assert_eq!(left["size"], 8894);
    assert!(left["preview"].as_str().unwrap().starts_with("\"1,2,3,"), "{left}");
    let text = store.runs(&["show", &id, "--step", "1"]);
    let digest = left["digest"].as_str().unwrap();
    for part in ["8894 bytes", "--max-payload-bytes", digest, "  \"1,2,3,4"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let context = store.json(&["show", &id, "--step", "2", "--context"])["context"].take();
    assert_eq!(context["much"]["$truncated"]["size"], 8894);

    let (code, said) = store.failing(&["replay", &id]);
    assert_eq!(code, 1);
    for part in ["output of step 1 (node `much`)", "8894 bytes", "--max-payload-bytes 8894"] {
        assert!(said.contains(part), "{part}: {said}");
    }

    let much = json!({"n": 2000, "more": "x".repeat(1000)});
    let id = store.record_with(&graph(), "large", &much, &options, &[]);
    let file = graph();
    let (code, said) = store.failing(&["rerun", &id, "-g", file.to_str().unwrap()]);
    assert!(code == 1 && said.contains("the input was not kept"), "{said}");
}

#[test]
fn what_would_do_nothing_is_refused() {
    let store = Store::new();
    store.record(&graph(), "everything", &json!({"n": 1}));
    let (code, said) = store.failing(&["rm"]);
    assert!(code == 2 && said.contains("--older-than 7d"), "{code}: {said}");
    let (code, said) = store.failing(&["ls", "--limit", "0"]);
    assert!(code == 2 && said.contains("--limit 0"), "{code}: {said}");
}

/// A variable that is set to nothing names nothing.
#[test]
fn an_empty_variable_counts_as_not_set() {
    let folder = tempfile::tempdir().unwrap();
    let output = command()
        .args(["runs", "ls"])
        .env("XDG_DATA_HOME", folder.path())
        .env("MCPGRAPH_DATA", "")
        .env("MCPGRAPH_STORE", "")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(2), "{said}");
    assert!(!said.contains("--store") && !said.contains("--data <DIR>"), "{said}");
}

/// Whoever looks at the list sees which records cannot be trusted to be whole.
#[test]
fn a_run_that_lost_events_is_marked() {
    let store = Store::new();
    let whole = store.record(&graph(), "double", &json!({"n": 1}));
    let lost = store.record(&graph(), "double", &json!({"n": 2}));
    let file = rusqlite::Connection::open(store.path().join("runs.db")).unwrap();
    let sql = "UPDATE runs SET lost = 3 WHERE lower(hex(id)) = ?1";
    assert_eq!(file.execute(sql, [lost.replace('-', "")]).unwrap(), 1);
    let listed = store.runs(&["ls"]);
    let line = |id: &str| listed.lines().find(|line| line.starts_with(id)).unwrap().to_owned();
    assert!(line(&lost).ends_with("incomplete: 3 events lost"), "{listed}");
    assert!(!line(&whole).contains("lost"), "{listed}");
    let runs = store.json(&["ls"])["runs"].clone();
    assert_eq!((&runs[0]["lostEvents"], &runs[1]["lostEvents"]), (&json!(3), &Value::Null));
}

/// What one run is asked about is not cut; what may be long says where the rest is.
#[test]
fn why_a_run_failed_is_shown_to_its_end() {
    let store = Store::new();
    let text = "\
server: { name: failing, version: '1' }
mcpServers:
  demo: { command: '${MCPGRAPH_BIN}', args: [demo-server] }
tools:
  - name: fail
    inputSchema: { type: object }
    nodes:
      - { id: in, type: entry, next: call }
      - { id: call, type: mcp, server: demo, tool: fail, args: { message: $.in.why }, next: out }
      - { id: out, type: exit }
";
    let graph = store.graph("failing.yaml", text);
    let why = format!("{}the end of it", "a long story, ".repeat(40));
    let id = store.record(&graph, "fail", &json!({ "why": why }));
    let shown = store.runs(&["show", &id]);
    let line = |word: &str| shown.lines().find(|line| line.starts_with(word)).unwrap();
    assert!(line("error").contains(&why), "{shown}");
    assert!(line("input").ends_with("… (--json shows all of it)"), "{shown}");
    // A list keeps to its lines.
    assert!(!store.runs(&["ls"]).contains("the end of it"));
}

/// What is not known is not shown as nothing.
#[test]
fn a_run_whose_end_nobody_saw_has_no_time_it_took() {
    let store = Store::new();
    let id = store.record(&graph(), "double", &json!({"n": 1}));
    let file = rusqlite::Connection::open(store.path().join("runs.db")).unwrap();
    let sql = "UPDATE runs SET status = 'running', writer = NULL, duration = 0";
    assert_eq!(file.execute(sql, []).unwrap(), 1);
    let (listed, shown) = (store.runs(&["ls"]), store.runs(&["show", &id]));
    assert!(listed.contains("interrupted") && !listed.contains("0 µs"), "{listed}");
    assert!(shown.contains("took     -\n"), "{shown}");
}
