//! The walk of the specification, call by call, and what else the three tools answer.

use std::fs;

use serde_json::{Value, json};

use super::agent::{Server, Way, procedure, sop};
use crate::product::{Era, command, repository};

/// The three things that the customer of the specification wants.
fn todos(statuses: [&str; 3], note: bool) -> Value {
    let mut todos = json!([
        {"content": "Change shipping address on pending order", "status": statuses[0], "completion_node": "END_MOD"},
        {"content": "Update default user address", "status": statuses[1], "completion_node": "END_UADDR"},
        {"content": "Exchange tablet for cheapest option", "status": statuses[2], "completion_node": "END_EXCH"}
    ]);
    if note {
        todos[1]["note"] = json!("Use 456 Elm Ave from luggage order #W9834521");
    }
    todos
}

fn reminder(node: &str) -> String {
    format!("Reached completion node {node}. Update todos and proceed to next task.")
}

/// Walks as the specification's example does and compares every answer.
fn three_intents(way: Way, file: &str) {
    let file = &procedure(file);
    let mut server = Server::start(sop(&[file, "--no-history"]), way);
    let mut agent = server.agent();

    let loaded = server.load(&mut agent, file);
    assert_eq!(loaded["conversation"].is_string(), way == Way::Http(Era::Modern), "{way:?}");
    assert_eq!(loaded["agent"], "retail_customer_support");
    assert_eq!(loaded["version"], "1.0");
    assert_eq!(loaded["entry_node"], "START");
    assert_eq!(
        loaded["model"],
        json!({"provider": "anthropic", "name": "claude-sonnet-4-5-20250929", "temperature": 0.2, "max_tokens": 1024})
    );
    assert_eq!(
        loaded["mcp_servers"],
        json!([{"name": "retail-tools", "url": "https://mcp.retailco.example/sse"}])
    );
    let graph = &loaded["graph"];
    assert_eq!(graph["node_count"], 39);
    assert_eq!(
        graph["decision_nodes"],
        json!([
            "ROUTE",
            "IS_PENDING_C",
            "IS_PENDING_M",
            "MOD_TYPE",
            "IS_GC_OK",
            "IS_DELIVERED_R",
            "IS_DELIVERED_E"
        ])
    );
    assert_eq!(graph["terminal_nodes"].as_array().unwrap().len(), 12);
    assert_eq!(graph["nodes_with_prompts"].as_array().unwrap().len(), 19);
    assert_eq!(
        loaded["system_prompt_sections"],
        json!(["Role", "Global Rules", "Domain Reference", "SOP Flowchart"])
    );
    let text = fs::read_to_string(repository().join(file)).unwrap();
    let chart = &text[text.find("```mermaid").unwrap()..text.find("\nFollow the arrows").unwrap()];
    assert!(loaded["system_prompt"].as_str().unwrap().contains(chart));
    assert!(!loaded.to_string().contains("RETAIL_API_KEY"));
    assert_eq!(loaded["warnings"], json!([]));

    // Phase 1: planning.
    let open = todos(["pending", "pending", "pending"], false);
    assert_eq!(
        server.ask(&mut agent, "todo", json!({ "todos": open })),
        json!({"todos": open, "summary": {"pending": 3, "in_progress": 0, "completed": 0}})
    );

    // Phase 2: authentication.
    assert_eq!(
        server.go(&mut agent, "START"),
        json!({
            "node": {"id": "START", "type": "stadium", "description": "User contacts Agent"},
            "edges": [{"to": "AUTH", "condition": null}],
            "path": ["START"],
            "valid": true
        })
    );
    assert_eq!(
        server.go(&mut agent, "AUTH"),
        json!({
            "node": {
                "id": "AUTH",
                "type": "rectangle",
                "description": "Authenticate via email or name + zip",
                "prompt": "Authenticate the user via email OR name + zip code. Must verify even if user provides user_id directly.",
                "tools": ["find_user_id_by_email", "find_user_id_by_name_zip"]
            },
            "edges": [{"to": "ROUTE", "condition": null}],
            "path": ["START", "AUTH"],
            "valid": true
        })
    );

    // Phase 3: the order's address.
    let route = server.go(&mut agent, "ROUTE");
    assert_eq!(route["node"]["type"], "rhombus");
    assert_eq!(route["edges"].as_array().unwrap().len(), 7);
    assert_eq!(route["edges"][2], json!({"to": "CHK_MOD", "condition": "modify an order"}));
    assert_eq!(
        server.go(&mut agent, "CHK_MOD"),
        json!({
            "node": {
                "id": "CHK_MOD",
                "type": "rectangle",
                "description": "Check order status",
                "tools": ["get_order_details"]
            },
            "edges": [{"to": "IS_PENDING_M", "condition": null}],
            "path": ["START", "AUTH", "ROUTE", "CHK_MOD"],
            "valid": true
        })
    );
    let noted = todos(["in_progress", "pending", "pending"], true);
    assert_eq!(
        server.ask(&mut agent, "todo", json!({ "todos": noted })),
        json!({"todos": noted, "summary": {"pending": 2, "in_progress": 1, "completed": 0}})
    );
    assert_eq!(
        server.go(&mut agent, "IS_PENDING_M"),
        json!({
            "node": {"id": "IS_PENDING_M", "type": "rhombus", "description": "status == pending?"},
            "edges": [
                {"to": "DENY_MOD", "condition": "no"},
                {"to": "COLLECT_MOD_ADDR", "condition": "yes, the address"},
                {"to": "MOD_TYPE", "condition": "yes, something else"}
            ],
            "path": ["START", "AUTH", "ROUTE", "CHK_MOD", "IS_PENDING_M"],
            "valid": true
        })
    );
    for node in ["COLLECT_MOD_ADDR", "DO_MOD_ADDR"] {
        assert_eq!(server.go(&mut agent, node)["valid"], true);
    }
    let first = [
        "START",
        "AUTH",
        "ROUTE",
        "CHK_MOD",
        "IS_PENDING_M",
        "COLLECT_MOD_ADDR",
        "DO_MOD_ADDR",
        "END_MOD",
    ];
    assert_eq!(
        server.go(&mut agent, "END_MOD"),
        json!({
            "node": {"id": "END_MOD", "type": "stadium", "description": "End / Restart"},
            "edges": [],
            "path": first,
            "valid": true,
            "todo_reminder": reminder("END_MOD")
        })
    );
    let one_done = todos(["completed", "in_progress", "pending"], true);
    assert_eq!(
        server.ask(&mut agent, "todo", json!({ "todos": one_done }))["summary"],
        json!({"pending": 1, "in_progress": 1, "completed": 1})
    );

    // Phase 4: the default address.
    assert_eq!(server.go(&mut agent, "ROUTE")["valid"], true);
    let collect = server.go(&mut agent, "COLLECT_USER_ADDR");
    assert_eq!(
        collect["node"],
        json!({
            "id": "COLLECT_USER_ADDR",
            "type": "rectangle",
            "description": "Collect: user_id, new address",
            "prompt": "Collect:\n1. **user_id**\n2. **new default address**"
        })
    );
    assert_eq!(collect["edges"], json!([{"to": "DO_USER_ADDR", "condition": null}]));
    assert_eq!(server.go(&mut agent, "DO_USER_ADDR")["valid"], true);
    assert_eq!(server.go(&mut agent, "END_UADDR")["todo_reminder"], reminder("END_UADDR"));
    let two_done = todos(["completed", "completed", "in_progress"], false);
    assert_eq!(
        server.ask(&mut agent, "todo", json!({ "todos": two_done }))["summary"],
        json!({"pending": 0, "in_progress": 1, "completed": 2})
    );

    // Phase 5: the tablet.
    assert_eq!(server.go(&mut agent, "ROUTE")["valid"], true);
    let check = server.go(&mut agent, "CHK_EXCH");
    assert_eq!(check["node"]["tools"], json!(["get_order_details"]));
    assert_eq!(check["edges"], json!([{"to": "IS_DELIVERED_E", "condition": null}]));
    assert_eq!(server.go(&mut agent, "IS_DELIVERED_E")["valid"], true);
    let collect = server.go(&mut agent, "COLLECT_EXCH");
    assert_eq!(
        collect["node"],
        json!({
            "id": "COLLECT_EXCH",
            "type": "rectangle",
            "description": "Collect: order_id, all item exchanges",
            "prompt": "Collect ALL items to exchange at once:\n1. **order_id**\n2. **list of item_id → new_item_id**\n\n- Remind user to confirm ALL items\n- No new order needed",
            "tools": ["calculate", "exchange_delivered_order_items"],
            "examples": [{
                "user": "I want to swap my tablet for a different one",
                "agent": "Sure! Which variant would you like instead?"
            }]
        })
    );
    assert_eq!(collect["edges"], json!([{"to": "DO_EXCH", "condition": null}]));
    assert_eq!(server.go(&mut agent, "DO_EXCH")["valid"], true);
    let end = server.go(&mut agent, "END_EXCH");
    assert_eq!(end["todo_reminder"], reminder("END_EXCH"));
    assert_eq!(end["path"].as_array().unwrap().len(), 18);
    assert!(end["receipt"].is_null());
    let done = todos(["completed", "completed", "completed"], false);
    assert_eq!(
        server.ask(&mut agent, "todo", json!({ "todos": done }))["summary"],
        json!({"pending": 0, "in_progress": 0, "completed": 3})
    );
    server.end();
}

#[test]
fn three_intents_over_stdio() {
    three_intents(Way::Stdio(Era::Legacy), "retail_a.md");
    three_intents(Way::Stdio(Era::Modern), "retail_b.md");
}

#[test]
fn three_intents_over_http() {
    three_intents(Way::Http(Era::Legacy), "retail_b.md");
    three_intents(Way::Http(Era::Modern), "retail_a.md");
}

#[test]
fn illegal_moves_are_answers() {
    let file = &procedure("retail_a.md");
    for way in Way::ALL {
        let mut server = Server::start(sop(&[file, "--no-history"]), way);
        let mut agent = server.agent();
        let lost = server.refuse(&mut agent, "goto_node", json!({ "node_id": "START" }));
        match way {
            Way::Http(Era::Modern) => assert_eq!(lost["code"], "MG0524"),
            _ => assert_eq!(
                lost,
                json!({"error": "Graph not loaded. Call load_graph first.", "code": "MG0521"})
            ),
        }
        server.load(&mut agent, file);
        assert_eq!(
            server.go(&mut agent, "AUTH"),
            json!({
                "valid": false,
                "error": "Cannot reach AUTH: the walk has not begun; it begins at START",
                "current_node": null,
                "valid_next": ["START", "ROUTE"],
                "path": []
            })
        );
        for node in ["START", "AUTH", "ROUTE", "CHK_CANCEL", "IS_PENDING_C"] {
            assert_eq!(server.go(&mut agent, node)["valid"], true);
        }
        assert_eq!(
            server.go(&mut agent, "COLLECT_EXCH"),
            json!({
                "valid": false,
                "error": "Cannot reach COLLECT_EXCH from IS_PENDING_C",
                "current_node": "IS_PENDING_C",
                "valid_next": ["DENY_CANCEL", "COLLECT_CANCEL"],
                "path": ["START", "AUTH", "ROUTE", "CHK_CANCEL", "IS_PENDING_C"]
            })
        );
        let unknown = server.go(&mut agent, "NOWHERE");
        let said = unknown["error"].as_str().unwrap();
        assert!(said.starts_with("Node not found. Valid nodes: [START, AUTH, ROUTE, "), "{said}");
        assert_eq!(server.go(&mut agent, "DENY_CANCEL")["edges"], json!([]));
        let after = server.go(&mut agent, "AUTH");
        assert_eq!(after["valid_next"], json!(["START", "ROUTE"]));
        assert_eq!(server.go(&mut agent, "ROUTE")["path"].as_array().unwrap().len(), 7);
        assert_eq!(server.go(&mut agent, "START")["path"], json!(["START"]));
        server.end();
    }
}

#[test]
fn two_conversations_never_see_each_other() {
    let file = &procedure("retail_a.md");
    for era in Era::BOTH {
        let mut server = Server::start(sop(&[file, "--no-history"]), Way::Http(era));
        let (mut a, mut b) = (server.agent(), server.agent());
        server.load(&mut a, file);
        server.go(&mut a, "START");
        server.refuse(&mut b, "todo", json!({ "todos": [] }));
        server.load(&mut b, "retail_customer_support");
        server.go(&mut b, "START");
        server.go(&mut b, "AUTH");
        let plan = json!({ "todos": [{"content": "mine", "status": "pending"}] });
        server.ask(&mut b, "todo", plan);
        assert_eq!(server.go(&mut a, "ROUTE")["path"], json!(["START", "ROUTE"]));
        assert_eq!(server.go(&mut b, "ROUTE")["path"], json!(["START", "AUTH", "ROUTE"]));
        let mut guess = server.agent();
        guess.conversation = a.conversation.as_ref().map(|handle| "0".repeat(handle.len()));
        server.refuse(&mut guess, "goto_node", json!({ "node_id": "START" }));
        if let (Some(a), Some(b)) = (&a.conversation, &b.conversation) {
            assert!(a != b && a.len() == 32);
        }
        server.end();
    }
}

#[test]
fn a_conversation_that_nobody_goes_on_with_is_forgotten() {
    let file = &procedure("retail_a.md");
    let command = sop(&[file, "--no-history", "--idle", "2s"]);
    let mut server = Server::start(command, Way::Http(Era::Modern));
    let mut agent = server.agent();
    server.load(&mut agent, file);
    server.go(&mut agent, "START");
    std::thread::sleep(std::time::Duration::from_millis(2200));
    server.refuse(&mut agent, "goto_node", json!({ "node_id": "AUTH" }));
    server.end();
}

#[test]
fn a_lenient_walk_goes_anywhere_and_says_so() {
    let file = &procedure("retail_a.md");
    let way = Way::Stdio(Era::Legacy);
    let mut server = Server::start(sop(&[file, "--lenient", "--no-history"]), way);
    let mut agent = server.agent();
    server.load(&mut agent, file);
    server.go(&mut agent, "START");
    let jump = server.go(&mut agent, "DO_EXCH");
    assert_eq!(jump["valid"], false);
    assert_eq!(jump["error"], "Cannot reach DO_EXCH from START");
    assert_eq!(jump["node"]["id"], "DO_EXCH");
    assert_eq!(jump["path"], json!(["START", "DO_EXCH"]));
    assert_eq!(server.go(&mut agent, "END_EXCH")["valid"], true);
}

#[test]
fn wrong_todos_leave_the_list_as_it_was() {
    let file = &procedure("retail_a.md");
    let mut server = Server::start(sop(&[file, "--no-history"]), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    server.load(&mut agent, file);
    let good = json!({"content": "a", "status": "pending", "completion_node": "END_MOD"});
    server.ask(&mut agent, "todo", json!({ "todos": [good] }));
    for (wrong, said) in [
        (json!({"content": "", "status": "pending"}), "todo 2: `content` is empty."),
        (json!({"content": "b", "status": "done"}), "todo 2: `status` is `done`;"),
        (
            json!({"content": "b", "status": "pending", "completion_node": "END"}),
            "todo 2: `completion_node` is `END`,",
        ),
        (json!({"content": 7, "status": "pending"}), "todo 2: invalid type"),
        (json!({"status": "pending"}), "todo 2: missing field `content`"),
    ] {
        let answer = server.refuse(&mut agent, "todo", json!({ "todos": [good, wrong] }));
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with(said), "{error}");
        assert_eq!((&answer["code"], &answer["position"]), (&json!("MG0522"), &json!(2)));
    }
    server.refuse(&mut agent, "todo", json!({}));
    server.go(&mut agent, "START");
    for node in ["AUTH", "ROUTE", "CHK_MOD", "IS_PENDING_M", "COLLECT_MOD_ADDR", "DO_MOD_ADDR"] {
        server.go(&mut agent, node);
    }
    assert_eq!(server.go(&mut agent, "END_MOD")["todo_reminder"], reminder("END_MOD"));
    let cleared = server.ask(&mut agent, "todo", json!({ "todos": [] }));
    assert_eq!(cleared["todos"], json!([]));
}

#[test]
fn files_outside_the_root_and_broken_files_are_refused() {
    let file = &procedure("retail_a.md");
    let root = ["--root", "crates/sop/tests", "--no-history"];
    let mut server =
        Server::start(sop(&[file, root[0], root[1], root[2]]), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    for (name, said) in [
        ("../Cargo.toml", "`../Cargo.toml` is not below the folder that may be read"),
        ("/etc/passwd", "`/etc/passwd` is not below the folder that may be read"),
        ("nope.md", "SOP file not found: nope.md"),
        (
            "https://example.com/a.md",
            "`https://example.com/a.md` is not loaded: the operator allows no hosts",
        ),
    ] {
        let answer = server.refuse(&mut agent, "load_graph", json!({ "sop_file": name }));
        assert!(answer["error"].as_str().unwrap().starts_with(said), "{answer}");
        assert_eq!(answer["code"], "MG0520");
    }
    let broken = "broken/08_label_not_closed.md";
    let answer = server.refuse(&mut agent, "load_graph", json!({ "sop_file": broken }));
    assert_eq!(answer["code"], "MG0503");
    let problem = &answer["diagnostics"][0];
    assert_eq!((&problem["line"], &problem["column"]), (&json!(7), &json!(27)));
    let doubtful = server.load(&mut agent, "broken/18_tools_not_listed.md");
    assert_eq!(doubtful["warnings"].as_array().unwrap().len(), 2);
}

#[test]
fn addresses_are_loaded_only_from_hosts_that_are_named_and_public() {
    let file = &procedure("retail_a.md");
    let allowed = ["--allow-host", "127.0.0.1", "--allow-host", "localhost", "--no-history"];
    let arguments: Vec<&str> = [file.as_str()].into_iter().chain(allowed).collect();
    let mut server = Server::start(sop(&arguments), Way::Stdio(Era::Legacy));
    let mut agent = server.agent();
    for (address, said) in [
        ("https://127.0.0.1:1/a.md", "has the address 127.0.0.1, which is not public"),
        ("https://localhost:1/a.md", "which is not public"),
        ("https://169.254.169.254/latest", "is not among the hosts that are allowed"),
        ("http://localhost:1/a.md", "it must begin with https://"),
        ("HTTPS://example.com/a.md", "is not among the hosts that are allowed"),
    ] {
        let answer = server.refuse(&mut agent, "load_graph", json!({ "sop_file": address }));
        assert!(answer["error"].as_str().unwrap().contains(said), "{answer}");
        assert_eq!(answer["code"], "MG0520");
    }
    server.end();
    let wrong = sop(&[file, "--allow-host", "https://a/b"]).output().unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8(wrong.stderr).unwrap().contains("`https://a/b` is not a host"));
}

#[test]
fn procedures_are_checked_as_other_files_are() {
    let broken = "crates/sop/tests/broken/20_guards.md";
    let output = command().args(["check", broken]).current_dir(repository()).output().unwrap();
    let found = String::from_utf8(output.stdout).unwrap();
    assert!(found.contains(&format!("{broken}:8:3")), "{found}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "1 file checked, 3 errors\n");
    assert_eq!(output.status.code(), Some(1));
    let served = sop(&[broken]).output().unwrap();
    assert_eq!(served.status.code(), Some(1));
    let good = procedure("retail_a.md");
    let output = command().args(["check", &good]).current_dir(repository()).output().unwrap();
    assert!(output.status.success());
}
