//! The tools, most of which misbehave.

use std::{
    io::{self, Write},
    process::exit,
    thread::sleep,
    time::Duration,
};

use serde_json::{Value, json};

use crate::{Era, Server, answer, notify, print_line, refuse, send, subscription};

/// How many tools a page of the list has.
const PAGE: usize = 4;

const NAMES: [&str; 20] = [
    "echo",
    "fail",
    "refuse",
    "burst",
    "late",
    "hang",
    "sleep",
    "huge",
    "die",
    "half",
    "ask",
    "log",
    "wrong_id",
    "string_id",
    "twice",
    "garbled",
    "environment",
    "change",
    "flood",
    "lie",
];

/// One page of the list of tools, with those that came later.
pub(crate) fn list(more: &[String], message: &Value) -> Value {
    let start: usize =
        message["params"]["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
    let tools: Vec<Value> = NAMES
        .into_iter()
        .chain(more.iter().map(String::as_str))
        .skip(start)
        .take(PAGE)
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}, "vendor": {"z": 1, "a": 2}}))
        .collect();
    let next = start + PAGE;
    let mut result = json!({ "tools": tools });
    if next < NAMES.len() + more.len() {
        result["nextCursor"] = json!(next.to_string());
    }
    result
}

/// Calls a tool.
pub(crate) fn call(server: &mut Server, message: &Value) {
    let id = &message["id"];
    let params = &message["params"];
    let arguments = &params["arguments"];
    let token = &params["_meta"]["progressToken"];
    let count = arguments["count"].as_u64().unwrap_or(1);
    let progress = |number: u64| {
        notify(
            "notifications/progress",
            &json!({"progressToken": token, "progress": number, "total": count}),
        );
    };
    match params["name"].as_str().unwrap_or_default() {
        "echo" => text(id, &arguments.to_string()),
        "fail" => answer(
            id,
            &json!({"isError": true, "content": [{"type": "text", "text": "the disk is full"}]}),
        ),
        "refuse" => send(&json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": -32099, "message": "not today", "data": {"why": [1, 2]}},
        })),
        // Progress as fast as it can be written, then the answer, then progress that is too late.
        "burst" => {
            (0..count).for_each(progress);
            text(id, "done");
            progress(count);
        }
        // Answers what was cancelled.
        "late" => {
            while let Some(next) = server.read() {
                if next["method"] == "notifications/cancelled" && next["params"]["requestId"] == *id
                {
                    return text(id, "too late");
                }
                server.handle(&next);
            }
        }
        "hang" => {}
        "sleep" => {
            sleep(Duration::from_millis(arguments["ms"].as_u64().unwrap_or(100)));
            text(id, "slept");
        }
        "huge" => text(id, &"x".repeat(usize::try_from(count).unwrap())),
        "die" => {
            eprintln!("out of cheese");
            exit(i32::try_from(arguments["code"].as_i64().unwrap_or(7)).unwrap());
        }
        "half" => {
            let mut out = io::stdout().lock();
            out.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":").unwrap();
            out.flush().unwrap();
            exit(0);
        }
        "ask" => ask(server, id, arguments),
        "log" => {
            (0..count).for_each(|number| {
                notify("notifications/message", &json!({"level": "info", "data": number}));
            });
            text(id, "logged");
        }
        "wrong_id" => {
            text(&json!(987_654_321), "for somebody else");
            text(&json!("nobody"), "for nobody");
            text(id, "for you");
        }
        "string_id" => text(&json!(id.to_string()), "as a string"),
        "twice" => {
            text(id, "one");
            text(id, "two");
        }
        "garbled" => {
            print_line("[[[");
            print_line("{\"jsonrpc\":\"2.0\",\"id\":");
            print_line("");
            text(id, "after all");
        }
        "environment" => {
            let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            text(id, &json!(names).to_string());
        }
        "change" => change(server, id, arguments),
        "flood" => {
            for number in 0..count {
                notify("notifications/message", &json!({"level": "debug", "data": number}));
                notify("notifications/nonsense", &json!({"number": number}));
                notify(
                    "notifications/progress",
                    &json!({"progressToken": 12_345, "progress": number}),
                );
            }
            text(id, "flooded");
        }
        // The result is any text, also one that no library would write.
        "lie" => {
            let result = arguments["result"].as_str().unwrap_or("[1,2,3]");
            print_line(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
        }
        other => refuse(id, -32602, &format!("Unknown tool: {other}")),
    }
}

/// Adds a tool, if one is named, and tells that the list is another one: of its own accord in the
/// older era, to those who listen in the newer one.
fn change(server: &mut Server, id: &Value, arguments: &Value) {
    server.more.extend(arguments["tool"].as_str().map(str::to_owned));
    let method = "notifications/tools/list_changed";
    if server.cli.era == Era::Legacy {
        notify(method, &json!({}));
    }
    for listener in &server.listeners {
        notify(method, &json!({"_meta": subscription(listener)}));
    }
    text(id, "changed");
}

/// Asks the client something, and answers with what it said.
fn ask(server: &mut Server, id: &Value, arguments: &Value) {
    let method = arguments["method"].as_str().unwrap_or("elicitation/create");
    send(
        &json!({"jsonrpc": "2.0", "id": "question", "method": method, "params": {"message": "?"}}),
    );
    while let Some(next) = server.read() {
        if next["id"] == "question" {
            return text(id, &json!([next["result"], next["error"]["code"]]).to_string());
        }
        server.handle(&next);
    }
}

fn text(id: &Value, text: &str) {
    answer(id, &json!({"content": [{"type": "text", "text": text}]}));
}
