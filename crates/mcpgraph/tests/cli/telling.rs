//! Who is told that a list changed: those who see what changed, and nobody else.

use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Duration;

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use crate::access::{World, call, names};
use crate::http::{Listening, initialize};
use crate::product::Era;

/// How long a message may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a message that should not come is waited for.
const SILENCE: Duration = Duration::from_millis(400);

const TOOLS: &str = "notifications/tools/list_changed";

/// A client that hears of changes over HTTP.
struct Ear {
    name: String,
    heard: Receiver<String>,
}

impl Ear {
    fn new(server: &Listening, token: &str, era: Era, name: &str) -> Self {
        let with = |more: &str| format!("{}\r\nAuthorization: Bearer {token}{more}", server.host());
        let (head, body) = match era {
            Era::Legacy => {
                let (_, rest) = server.post(&with(""), &initialize());
                let session =
                    rest.lines().find(|line| line.to_lowercase().starts_with("mcp-session-id:"));
                let session = format!("\r\n{}", session.unwrap().trim());
                (format!("GET /mcp HTTP/1.1\r\n{}", with(&session)), Value::Null)
            }
            Era::Modern => {
                let headers =
                    "\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen";
                let lists = ["toolsListChanged", "promptsListChanged", "resourcesListChanged"];
                let lists: serde_json::Map<_, _> =
                    lists.map(|list| (list.to_owned(), json!(true))).into_iter().collect();
                let params = json!({ "notifications": lists, "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                } });
                let body = json!({
                    "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params,
                });
                (format!("POST /mcp HTTP/1.1\r\n{}", with(headers)), body)
            }
        };
        let stream = BufReader::new(server.send(&head, &body));
        let (sender, heard) = sync_channel(16);
        std::thread::spawn(move || {
            for line in stream.lines().map_while(Result::ok) {
                let data = line.strip_prefix("data:").map(str::trim).unwrap_or_default();
                let message: Value = serde_json::from_str(data).unwrap_or_default();
                let Some(method) = message["method"].as_str() else { continue };
                if sender.send(method.to_owned()).is_err() {
                    return;
                }
            }
        });
        let ear = Self { name: format!("{name} ({era:?})"), heard };
        if era == Era::Modern {
            assert_eq!(ear.next(), "notifications/subscriptions/acknowledged", "{}", ear.name);
        }
        ear
    }

    fn next(&self) -> String {
        let heard = self.heard.recv_timeout(PATIENCE);
        heard.unwrap_or_else(|error| panic!("{} hears nothing: {error}", self.name))
    }

    fn hears_nothing(&self) {
        let heard = self.heard.recv_timeout(SILENCE);
        assert!(heard.is_err(), "{} hears {heard:?}", self.name);
    }
}

/// Each grant as a client of each era, with whether it sees what changes.
fn ears(world: &World, server: &Listening, grants: &[(&[&str], bool)]) -> Vec<(Ear, bool)> {
    let mut ears = Vec::new();
    for (number, (options, sees)) in grants.iter().enumerate() {
        let token = world.add(&format!("token{number}"), options);
        for era in Era::BOTH {
            ears.push((Ear::new(server, &token, era, &options.join(" ")), *sees));
        }
    }
    ears
}

fn check(ears: &[(Ear, bool)]) {
    for (ear, _) in ears.iter().filter(|(_, sees)| *sees) {
        assert_eq!(ear.next(), TOOLS, "{}", ear.name);
    }
    for (ear, _) in ears {
        ear.hears_nothing();
    }
}

#[test]
fn a_change_of_a_server_is_told_to_those_who_see_what_changed() {
    let Some(server) = environment::misbehaving_server() else { return };
    for era in ["legacy", "modern"] {
        let mut changing = server.clone().arg("--era").arg(era).to_json();
        changing["expose"] = json!(true);
        let world = World::with_server("s", &changing);
        let all = world.add("all", &[]);
        let server = world.serve();
        assert!(names(&server, &all).contains(&"s__change".to_owned()));
        let ears = ears(
            &world,
            &server,
            &[
                (&[], true),
                (&["--servers", "s"], true),
                (&["--servers", "s,one"], true),
                (&["--tools", "s__fresh"], true),
                (&["--tools", "*__fre*,s__echo"], true),
                (&["--servers", "s", "--tools", "s__fresh"], true),
                (&["--servers", "one"], false),
                (&["--servers", "graph"], false),
                (&["--tools", "s__echo"], false),
                (&["--tools", "one__*"], false),
                (&["--servers", "one", "--tools", "*"], false),
            ],
        );
        let params = json!({ "name": "s__change", "arguments": { "tool": "fresh" } });
        let (_, answer) = crate::access::ask(&server, &all, "tools/call", params);
        assert!(answer["result"].is_object(), "{answer}");
        check(&ears);
    }
}

#[test]
fn an_edit_is_told_to_those_who_see_what_it_changes() {
    let world = World::new();
    let all = world.add("all", &[]);
    let server = world.serve();
    assert!(call(&server, &all, "own")["result"].is_object());
    names(&server, &all);
    let ears_of_own = ears(
        &world,
        &server,
        &[
            (&["--servers", "graph"], true),
            (&["--tools", "own"], true),
            (&["--tools", "mirrored"], false),
            (&["--servers", "one"], false),
            (&["--tools", "two__*"], false),
        ],
    );
    world.edit(|graph| graph["tools"][0]["description"] = json!("Another one"));
    check(&ears_of_own);
    drop(ears_of_own);

    let ears_of_two = {
        let mut ears = Vec::new();
        for (name, options, sees) in [
            ("a", &["--servers", "graph"][..], false),
            ("b", &["--servers", "one"], false),
            ("c", &["--tools", "two__slow"], false),
            ("d", &["--tools", "two__echo"], true),
            ("e", &["--tools", "said"], true),
        ] {
            let token = world.add(name, options);
            ears.extend(Era::BOTH.map(|era| (Ear::new(&server, &token, era, name), sees)));
        }
        ears
    };
    world.edit(|graph| {
        graph["mcpServers"]["two"]["expose"] = json!({ "tools": { "echo": { "rename": "said" } } });
    });
    check(&ears_of_two);
}
