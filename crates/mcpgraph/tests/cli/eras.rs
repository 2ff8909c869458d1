//! Clients and servers of both eras, with the product between them: progress, cancellation and
//! changes of lists. What servers ask is in `asking.rs`.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use mcpgraph_testkit::environment;
use serde_json::{Value, json};

use crate::product::{Era, Served, eventually};

/// How long a message that should not come is waited for.
const SILENCE: Duration = Duration::from_millis(300);

/// A client of one era with a server of another behind the product.
struct Pair {
    served: Served,
    name: String,
    /// What the server read.
    record: PathBuf,
    _folder: tempfile::TempDir,
}

impl Pair {
    fn all() -> Vec<Self> {
        let Some(server) = environment::misbehaving_server() else { return Vec::new() };
        let pairs = Era::BOTH.into_iter().flat_map(|client| Era::BOTH.map(|of| (client, of)));
        pairs
            .map(|(client, of)| {
                let folder = tempfile::tempdir().unwrap();
                let record = folder.path().join("record");
                let era = format!("{of:?}").to_lowercase();
                let server = server.clone().arg("--era").arg(era).arg("--record").arg(&record);
                let mut server = server.to_json();
                server["expose"] = json!(true);
                let graph = json!({
                    "server": { "name": "router", "version": "1" },
                    "mcpServers": { "s": server }, "tools": [],
                });
                let name = format!("{client:?} client, {of:?} server");
                let served = Served::text(&graph.to_string(), client);
                Self { served, name, record, _folder: folder }
            })
            .collect()
    }

    /// The messages with this method that the server read.
    fn read(&self, method: &str) -> Vec<Value> {
        let lines = fs::read_to_string(&self.record).unwrap_or_default();
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        messages.filter(|message| message["method"] == method).collect()
    }
}

#[test]
fn progress_comes_in_order_and_never_after_the_answer() {
    for mut pair in Pair::all() {
        let Pair { served, name, .. } = &mut pair;
        for token in [json!("a token"), json!(7)] {
            let id = served.begin_with(json!({
                "name": "s__burst", "arguments": { "count": 200 },
                "_meta": { "progressToken": token },
            }));
            for number in 0..200 {
                let message = served.client.receive();
                let progress = json!({ "progressToken": token, "progress": number, "total": 200 });
                assert_eq!(message["method"], "notifications/progress", "{name}: {message}");
                assert_eq!(message["params"], progress, "{name}");
            }
            let answer = served.client.receive();
            assert_eq!(answer["id"], id, "{name}: {answer}");
            // The server goes on to report, which is too late.
            assert_eq!(served.client.receive_within(SILENCE), None, "{name}");
        }
        // Who did not ask hears nothing, and the server is not asked either. A server of the older
        // era is told nothing of what only the newer one has.
        let id = served.begin("s__burst", json!({ "count": 3 }));
        assert_eq!(served.client.receive()["id"], id, "{name}");
        let calls = pair.read("tools/call");
        let meta = &calls[2]["params"]["_meta"];
        assert_eq!(meta["progressToken"], Value::Null, "{}: {meta}", pair.name);
        let is_modern = meta.to_string().contains("io.modelcontextprotocol/");
        assert_eq!(is_modern, pair.name.ends_with("Modern server"), "{}: {meta}", pair.name);
    }
}

#[test]
fn a_cancelled_call_is_cancelled_at_the_server_and_not_answered() {
    for mut pair in Pair::all() {
        let id = pair.served.begin("s__late", json!({}));
        eventually("the server has the call", || !pair.read("tools/call").is_empty());
        pair.served.client.send(&json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id, "reason": "the user left" },
        }));
        eventually("the server hears of it", || {
            let calls = pair.read("tools/call");
            let told = pair.read("notifications/cancelled");
            told.iter().any(|message| message["params"]["requestId"] == calls[0]["id"])
        });
        // The server answers all the same; the next answer is that of the next call.
        let next = pair.served.begin("s__echo", json!({ "still": "there" }));
        let answer = pair.served.client.receive();
        assert_eq!(answer["id"], next, "{}: {answer}", pair.name);
        assert!(answer.to_string().contains("there"), "{}: {answer}", pair.name);
        assert_eq!(pair.served.client.receive_within(SILENCE), None, "{}", pair.name);
    }
}

#[test]
fn a_changed_list_is_told_and_read_anew() {
    let is_change = |message: &Value| message["method"] == "notifications/tools/list_changed";
    for Pair { mut served, name, .. } in Pair::all() {
        assert!(!served.tool_names().contains(&"s__fresh".to_owned()), "{name}");
        let listening = name.starts_with("Modern").then(|| {
            let filter = json!({ "notifications": { "toolsListChanged": true } });
            let id = served.client.begin("subscriptions/listen", &served.params(filter));
            let method = "notifications/subscriptions/acknowledged";
            let told = served.until(|message| message["method"] == method);
            assert_eq!(told["params"]["notifications"]["toolsListChanged"], true, "{name}: {told}");
            id
        });
        for fresh in ["fresh", "fresher"] {
            let id = served.begin("s__change", json!({ "tool": fresh }));
            let (first, second) = (served.client.receive(), served.client.receive());
            let (told, answer) = if is_change(&first) { (first, second) } else { (second, first) };
            assert!(is_change(&told), "{name}: {told}");
            assert_eq!(answer["id"], id, "{name}: {answer}");
            let subscription = &told["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
            assert_eq!(*subscription, json!(listening), "{name}: {told}");
            assert!(served.tool_names().contains(&format!("s__{fresh}")), "{name}");
        }
    }
}

/// A server that is started again may have other tools than before.
#[test]
fn a_server_that_comes_back_with_other_tools_is_told_of() {
    let is_change = |message: &Value| message["method"] == "notifications/tools/list_changed";
    for Pair { mut served, name, .. } in Pair::all() {
        if name.starts_with("Modern client") {
            continue;
        }
        served.tool_names();
        served.call("s__change", json!({ "tool": "fresh" }));
        assert!(served.tool_names().contains(&"s__fresh".to_owned()), "{name}");
        served.call("s__die", json!({}));
        while served.client.receive_within(SILENCE).is_some() {}
        let id = served.begin("s__echo", json!({}));
        let (first, second) = (served.client.receive(), served.client.receive());
        assert!(is_change(&first) != is_change(&second), "{name}: {first} {second}");
        assert!(first["id"] == id || second["id"] == id, "{name}");
        assert!(!served.tool_names().contains(&"s__fresh".to_owned()), "{name}");
    }
}
