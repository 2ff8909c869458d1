//! Nothing invalid is ever saved, and whoever is refused is told what to do.

use std::fs;

use serde_json::{Value, json};

use super::{Agent, GRAPH, computing, count_files, demo_server, files, toolkit};

fn broken(change: impl FnOnce(&mut Value)) -> Value {
    let mut tool = count_files();
    change(&mut tool);
    tool
}

#[test]
fn every_mistake_has_a_place_a_code_and_a_suggestion() {
    let mut agent = Agent::new();
    let cases = [
        (broken(|tool| tool["nodes"][0]["next"] = "nowhere".into()), "/nodes/0/next", "MG0207"),
        (
            broken(|tool| tool["nodes"][1]["server"] = "filesystm".into()),
            "/nodes/1/server",
            "MG0212",
        ),
        (
            broken(|tool| tool["nodes"][1]["tool"] = "list_directry".into()),
            "/nodes/1/tool",
            "MG0160",
        ),
        (broken(|tool| tool["nodes"][1]["args"] = json!({})), "/nodes/1/args", "MG0162"),
        (
            broken(|tool| tool["nodes"][2]["transform"]["expr"] = "{ 1 +".into()),
            "/nodes/2/transform/expr",
            "MG0301",
        ),
        (
            broken(|tool| {
                let lost = json!({ "id": "lost", "type": "transform", "transform": { "expr": "1" }, "next": "exit" });
                tool["nodes"].as_array_mut().unwrap().push(lost);
                tool["nodes"][0]["next"] = "nowhere".into();
            }),
            "/nodes/0/next",
            "MG0207",
        ),
    ];
    for (tool, pointer, code) in cases {
        for (name, problems) in [
            ("validateGraphTool", agent.get("validateGraphTool", &json!({ "tool": tool }))),
            ("addGraphTool", agent.refuse("addGraphTool", &json!({ "tool": tool }))),
            ("runGraphTool", agent.refuse("runGraphTool", &json!({ "toolDefinition": tool }))),
        ] {
            let found = problems["diagnostics"].as_array().unwrap();
            let told = found.iter().find(|problem| problem["pointer"] == pointer);
            let told = told.unwrap_or_else(|| panic!("{name} {pointer}: {problems:#}"));
            assert_eq!((&told["code"], &told["severity"]), (&code.into(), &"error".into()));
            assert!(told["message"].is_string(), "{told}");
            if name != "validateGraphTool" {
                assert_eq!(problems["code"], "MG0443");
            }
        }
        assert_eq!(agent.file(), GRAPH);
    }
    let near = broken(|tool| tool["nodes"][1]["tool"] = "list_directry".into());
    let error = agent.refuse("addGraphTool", &json!({ "tool": near }));
    let suggestion = error["diagnostics"][0]["suggestion"].as_str().unwrap();
    assert!(suggestion.contains("list_directory"), "{error}");
    let valid = agent.get("validateGraphTool", &json!({ "tool": computing("right", "$.entry.n") }));
    assert_eq!(valid, json!({ "valid": true, "diagnostics": [] }));
}

/// A server that is started with the graph file alone would refuse it.
#[test]
fn a_server_that_the_graph_file_does_not_have_is_told_of() {
    let mut agent = Agent::new();
    let tool = json!({ "tool": count_files() });
    for name in ["validateGraphTool", "addGraphTool"] {
        let told = agent.get(name, &tool)["diagnostics"][0].clone();
        assert_eq!((&told["code"], &told["severity"]), (&"MG0164".into(), &"warning".into()));
        assert_eq!(told["pointer"], "/nodes/1/server", "{told}");
        let suggestion = told["suggestion"].as_str().unwrap();
        assert!(suggestion.contains("-m mcp.json"), "{told}");
    }
    agent.get("deleteGraphTool", &json!({ "toolName": "count_files" }));
    let own = json!({ "filesystem": demo_server(&agent.folder.path().join("files")) });
    fs::write(agent.path(), format!("{GRAPH}mcpServers: {own}\n")).unwrap();
    assert_eq!(agent.get("validateGraphTool", &tool)["diagnostics"], json!([]));
}

/// Everything else that is wrong is told too, and as of the definition.
#[test]
fn a_definition_without_a_name_is_checked_like_any_other() {
    let mut agent = Agent::new();
    let unnamed = broken(|tool| {
        tool.as_object_mut().unwrap().remove("name");
        tool["nodes"][0]["next"] = "nowhere".into();
    });
    let checked = agent.get("validateGraphTool", &json!({ "tool": unnamed }));
    assert_eq!(checked["valid"], false, "{checked:#}");
    let found = checked["diagnostics"].as_array().unwrap();
    assert!(found.iter().all(|problem| problem["in"].is_null()), "{checked:#}");
    for pointer in ["", "/nodes/0/next"] {
        assert!(found.iter().any(|problem| problem["pointer"] == pointer), "{checked:#}");
    }
    for (name, key) in [("addGraphTool", "tool"), ("runGraphTool", "toolDefinition")] {
        let error = agent.refuse(name, &json!({ key: unnamed }));
        assert_eq!(
            (&error["code"], &error["diagnostics"]),
            (&"MG0443".into(), &checked["diagnostics"])
        );
    }
}

/// What the upstream's schema lets pass is for the agent to decide.
#[test]
fn an_argument_that_may_be_meant_is_only_doubted() {
    let mut agent = Agent::new();
    let doubtful = broken(|tool| tool["nodes"][1]["args"]["paths"] = "x".into());
    let checked = agent.get("validateGraphTool", &json!({ "tool": doubtful }));
    assert_eq!(checked["valid"], true, "{checked}");
    assert_eq!(checked["diagnostics"][0]["code"], "MG0161");
    assert_eq!(checked["diagnostics"][0]["pointer"], "/nodes/1/args/paths");
    let added = agent.get("addGraphTool", &json!({ "tool": doubtful }));
    assert_eq!(added["diagnostics"], checked["diagnostics"]);
}

#[test]
fn names_are_taken_unknown_or_changed() {
    let mut agent = Agent::new();
    let taken = agent.refuse("addGraphTool", &json!({ "tool": computing("double", "1") }));
    assert_eq!(taken["diagnostics"][0]["code"], "MG0201", "{taken}");
    agent.refuse("addGraphTool", &json!({ "tool": { "nodes": [] } }));
    agent.get("addGraphTool", &json!({ "tool": computing("other", "1") }));
    let onto = json!({ "toolName": "other", "tool": computing("double", "1") });
    assert_eq!(agent.refuse("updateGraphTool", &onto)["diagnostics"][0]["code"], "MG0201");
    for tool in ["updateGraphTool", "diffGraphTool"] {
        let unknown = json!({ "toolName": "othr", "tool": computing("other", "1") });
        let error = agent.refuse(tool, &unknown);
        assert_eq!((&error["code"], &error["nearest"]), (&"MG0441".into(), &"other".into()));
        assert_eq!(error["known"], json!(["double", "other"]));
    }
    let before = agent.file();
    let renamed = json!({ "toolName": "other", "tool": computing("another", "1") });
    agent.get("updateGraphTool", &renamed);
    assert_eq!(agent.file(), before.replace("name: other", "name: another"));
    agent.get("deleteGraphTool", &json!({ "toolName": "another" }));
    assert_eq!(agent.file(), GRAPH);
    // Again it is an error, and changes nothing.
    assert_eq!(
        agent.refuse("deleteGraphTool", &json!({ "toolName": "another" }))["code"],
        "MG0441"
    );
    assert_eq!(agent.file(), GRAPH);
}

/// A rename must not leave others without the tool they call.
#[test]
fn the_whole_file_is_checked_not_only_the_tool() {
    let mut agent = Agent::new();
    let caller = json!({
        "name": "caller",
        "inputSchema": { "type": "object" },
        "nodes": [
            { "id": "entry", "type": "entry", "next": "call" },
            { "id": "call", "type": "graph", "tool": "double", "args": { "n": 4 }, "next": "exit" },
            { "id": "exit", "type": "exit" }
        ]
    });
    agent.get("addGraphTool", &json!({ "tool": caller }));
    let before = agent.file();
    for (tool, arguments) in [
        ("deleteGraphTool", json!({ "toolName": "double" })),
        ("updateGraphTool", json!({ "toolName": "double", "tool": computing("twice", "1") })),
    ] {
        let error = agent.refuse(tool, &arguments);
        let told = &error["diagnostics"][0];
        assert_eq!((&told["code"], &told["in"]), (&"MG0213".into(), &"file".into()), "{error}");
        // Where it would stand in the file that was refused.
        let index = usize::from(tool == "updateGraphTool");
        assert_eq!(told["pointer"], format!("/tools/{index}/nodes/1/tool"));
        assert_eq!(agent.file(), before);
    }
}

#[test]
fn arguments_are_checked_before_anything_is_done() {
    let mut agent = Agent::new();
    let cases = [
        ("getGraphTool", json!({})),
        ("getGraphTool", json!({ "toolName": 7 })),
        ("getGraphTool", json!({ "toolName": "double", "extra": 1 })),
        ("runGraphTool", json!({})),
        ("runGraphTool", json!({ "toolName": "double", "toolDefinition": count_files() })),
        ("testJSONata", json!({ "expression": "1", "history": [{ "output": 1 }] })),
        ("listRuns", json!({ "limit": 0 })),
        ("getGraphSchema", json!({ "nodeType": "loop" })),
        ("debugGraphTool", json!({ "toolName": "double", "breakpoints": [{}] })),
        ("controlRun", json!({ "runId": "x", "action": "fly" })),
    ];
    for (tool, arguments) in cases {
        let error = agent.refuse(tool, &arguments);
        assert_eq!(error["code"], "MG0440", "{tool} {arguments}: {error}");
    }
    let answer = agent.client.request("tools/call", &json!({ "name": "nothing", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

/// What the user writes by hand counts at once, and a broken file can be mended with the toolkit.
#[test]
fn the_file_is_the_users() {
    let folder = files(GRAPH, &json!({}));
    let mut agent = Agent::at(folder, toolkit());
    let edited = GRAPH.replace("name: double", "name: twice") + "# The last line.\n";
    fs::write(agent.path(), &edited).unwrap();
    assert_eq!(agent.get("listGraphTools", &json!({}))["items"][0]["name"], "twice");
    agent.get("addGraphTool", &json!({ "tool": computing("more", "1") }));
    agent.get("deleteGraphTool", &json!({ "toolName": "more" }));
    assert_eq!(agent.file(), edited);

    fs::write(agent.path(), GRAPH.replace("next: compute", "next: compte")).unwrap();
    let error = agent.refuse("addGraphTool", &json!({ "tool": computing("more", "1") }));
    assert_eq!(error["diagnostics"][0]["in"], "file", "{error}");
    assert_eq!(agent.refuse("runGraphTool", &json!({ "toolName": "double" }))["code"], "MG0442");
    agent
        .get("updateGraphTool", &json!({ "toolName": "double", "tool": computing("double", "2") }));
    assert_eq!(agent.get("runGraphTool", &json!({ "toolName": "double" }))["result"], 2);

    fs::write(agent.path(), format!("{GRAPH}  bad: [\n")).unwrap();
    let error = agent.refuse("listGraphTools", &json!({}));
    assert_eq!(error["code"], "MG0442");
    let told = &error["diagnostics"][0];
    assert_eq!(told["file"], "graph.yaml", "{error:#}");
    assert!(told["line"].as_u64() > Some(GRAPH.lines().count() as u64), "{error:#}");
    assert!(told["column"].is_number(), "{error:#}");
}
