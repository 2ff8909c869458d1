//! Rules of the protocol, over the stdio transport.

use std::time::Duration;

use mcpgraph_mcp::server::{Change, Limits};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::service::{Fixture, ODD};
use super::wire::{
    LEGACY, Pipe, call, initialize, modern_call, modern_request, notification, request,
};

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

#[tokio::test]
async fn a_legacy_session_from_start_to_end() {
    let mut fixture = Fixture::new();
    let mut pipe = Pipe::new(&fixture.server);
    assert_eq!(
        pipe.ask(&json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})).await["result"],
        json!({})
    );
    assert_eq!(code(&pipe.ask(&request(2, "tools/list", json!({}))).await), -32602);
    let answer = pipe.ask(&initialize("2026-07-28", json!({}))).await;
    assert_eq!(answer["result"]["protocolVersion"], LEGACY);
    assert_eq!(answer["result"]["serverInfo"]["name"], "test");
    assert_eq!(answer["result"]["instructions"], "Use it.");
    pipe.send(&notification("notifications/initialized", json!({}))).await;
    assert_eq!(code(&pipe.ask(&initialize(LEGACY, json!({}))).await), -32600);
    let answer = pipe.ask(&call("é", "echo", json!({"text": "hi"}))).await;
    assert_eq!(answer["id"], "é");
    assert_eq!(answer["result"], json!({"content": [{"type": "text", "text": "hi"}]}));
    assert_eq!(pipe.ask(&request(3, "ping", json!({}))).await["result"], json!({}));
    assert_eq!(code(&pipe.ask(&request(4, "no/such", json!({}))).await), -32601);
    assert_eq!(code(&pipe.ask(&request(5, "subscriptions/listen", json!({}))).await), -32601);
    pipe.send(&notification("notifications/roots/list_changed", json!({}))).await;
    assert_eq!(fixture.next_happening().await, "notified notifications/roots/list_changed");
    drop(pipe.input.take());
    drop(pipe.output);
    pipe.serving.await.unwrap().unwrap();
    assert_eq!(fixture.next_happening().await, "closed");
}

#[tokio::test]
async fn what_passes_through_is_not_touched() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, "2025-06-18", json!({})).await;
    pipe.send(&call(1, "odd", json!({}))).await;
    assert_eq!(pipe.line().await, format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ODD}}}\n"));
    pipe.send(&modern_call(2, "odd", json!({}))).await;
    let line = pipe.line().await;
    assert!(line.contains(&ODD[..ODD.len() - 1]), "{line}");
}

#[tokio::test]
async fn an_answer_that_has_to_wait_does_not_hold_up_others() {
    let mut fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    pipe.send(&call(1, "held", json!({}))).await;
    assert_eq!(fixture.next_happening().await, "held");
    assert_eq!(pipe.ask(&call(2, "echo", json!({"text": "x"}))).await["id"], 2);
    // Its id is in use until then.
    assert_eq!(code(&pipe.ask(&call(1, "echo", json!({"text": "x"}))).await), -32600);
    pipe.send(&call(3, "release", json!({}))).await;
    let mut answered = Vec::new();
    for _ in 0..2 {
        let answer: Value = serde_json::from_str(&pipe.line().await).unwrap();
        assert!(answer["result"].is_object(), "{answer}");
        answered.push(answer["id"].as_u64().unwrap());
    }
    answered.sort_unstable();
    assert_eq!(answered, [1, 3]);
}

#[tokio::test]
async fn both_eras_on_one_connection() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::new(&fixture.server);
    let found = pipe.ask(&modern_request(1, "server/discover", json!({}))).await["result"].take();
    assert_eq!(found["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["resultType"], "complete");
    assert_eq!(found["cacheScope"], "private");
    assert_eq!(found["ttlMs"], 0);
    assert_eq!(found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "test");
    assert_eq!(found["capabilities"]["tools"]["listChanged"], true);
    let modern = pipe.ask(&modern_call(2, "echo", json!({"text": "x"}))).await;
    assert_eq!(modern["result"]["resultType"], "complete");
    for gone in ["ping", "initialize"] {
        assert_eq!(code(&pipe.ask(&modern_request(3, gone, json!({}))).await), -32601);
    }
    assert_eq!(pipe.ask(&initialize(LEGACY, json!({}))).await["result"]["protocolVersion"], LEGACY);
    let legacy = pipe.ask(&call(4, "echo", json!({"text": "x"}))).await;
    assert!(legacy["result"].get("resultType").is_none());
    let list = pipe.ask(&modern_request(5, "tools/list", json!({}))).await;
    assert_eq!(list["result"]["cacheScope"], "private");
    assert_eq!(list["result"]["vendor"], json!({"z": 1, "a": 2}));
    for page in ["tools", "prompts", "resources", "resources/templates"] {
        let method = format!("{page}/list");
        let further = pipe.ask(&request(8, &method, json!({"cursor": "2"}))).await;
        assert_eq!(code(&further), -32602, "{further}");
        let further = pipe.ask(&modern_request(9, &method, json!({"cursor": 2}))).await;
        assert!(further["error"]["message"].as_str().unwrap().contains("`cursor`"), "{further}");
    }
    let first = pipe.ask(&request(10, "tools/list", json!({"cursor": null}))).await;
    assert!(first["result"]["tools"].is_array(), "{first}");
    let read = json!({"uri": "a:b"});
    assert_eq!(code(&pipe.ask(&modern_request(6, "resources/read", read.clone())).await), -32602);
    assert_eq!(code(&pipe.ask(&request(7, "resources/read", read)).await), -32002);
}

#[tokio::test]
async fn modern_requests_must_say_who_sends_them() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::new(&fixture.server);
    let version = "io.modelcontextprotocol/protocolVersion";
    let with = |meta: Value| request(1, "tools/list", json!({ "_meta": meta }));
    assert_eq!(code(&pipe.ask(&with(json!({version: "2026-07-28"}))).await), -32602);
    assert_eq!(code(&pipe.ask(&request(1, "server/discover", json!({}))).await), -32602);
    let refused = pipe.ask(&with(json!({version: "2030-01-01"}))).await;
    assert_eq!(code(&refused), -32022);
    assert_eq!(
        refused["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "2030-01-01"})
    );
}

#[tokio::test]
async fn what_is_not_a_message_is_answered() {
    let limits = Limits { max_line_bytes: 1000, ..Limits::default() };
    let fixture = Fixture::with_limits(limits);
    let mut pipe = Pipe::new(&fixture.server);
    for (text, wanted) in [
        ("{nonsense\n", -32700),
        ("\u{7f}\n", -32700),
        ("[]\n", -32600),
        ("7\n", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}\n", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}\n", -32600),
    ] {
        pipe.send_text(text.as_bytes()).await;
        assert_eq!(code(&pipe.next().await), wanted, "{text}");
    }
    pipe.send_text(b"{\"jsonrpc\":\"1.0\",\"id\":\"me\",\"method\":\"x\"}\r\n").await;
    let refused = pipe.next().await;
    assert_eq!((code(&refused), &refused["id"]), (-32600, &json!("me")));
    pipe.send_text(format!("\n  \n{}\n", "x".repeat(5000)).as_bytes()).await;
    let refused = pipe.next().await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("1000 bytes"), "{refused}");
    assert_eq!(refused["id"], Value::Null);
    let long = "x".repeat(5000);
    for (text, id) in [
        // An answer to the server, which has its id from there.
        (format!(r#"{{"jsonrpc":"2.0","id":5,"result":{{"x":"{long}"}}}}"#), Value::Null),
        (format!(r#"{{"jsonrpc":"2.0","id":6,"method":"m","params":{{"x":"{long}"}}}}"#), json!(6)),
        (format!(r#"{{"method":"m","params":{{"x":"{long}"}},"id":"seven"}}"#), json!("seven")),
    ] {
        pipe.send_text(format!("{text}\n").as_bytes()).await;
        let refused = pipe.next().await;
        assert_eq!((code(&refused), &refused["id"]), (-32600, &id), "{refused}");
    }
    assert_eq!(pipe.ask(&modern_call(1, "echo", json!({"text": "x"}))).await["id"], 1);
}

#[tokio::test]
async fn progress_comes_in_order_and_before_the_answer() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    let mut asked = call(1, "progress", json!({"times": 300}));
    asked["params"]["_meta"] = json!({"progressToken": "theirs"});
    pipe.send(&asked).await;
    for done in 1..=300 {
        let progress = pipe.next().await;
        assert_eq!(progress["params"], json!({"progressToken": "theirs", "progress": done}));
    }
    assert_eq!(pipe.next().await["id"], 1);
    // Without a token there is none, and after the answer there is nothing.
    assert_eq!(pipe.ask(&call(2, "progress", json!({}))).await["id"], 2);
    assert_eq!(pipe.ask(&call(3, "late", json!({}))).await["id"], 3);
    assert!(pipe.is_silent().await);
}

#[tokio::test]
async fn logs_as_severe_as_asked() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    async fn levels(pipe: &mut Pipe, message: &Value) -> Vec<Value> {
        pipe.send(message).await;
        let mut levels = Vec::new();
        loop {
            let mut next = pipe.next().await;
            if next.get("id").is_some() {
                return levels;
            }
            levels.push(next["params"]["level"].take());
        }
    }
    let asked = call(1, "log", json!({}));
    assert_eq!(levels(&mut pipe, &asked).await, ["debug", "info", "error"]);
    let set = |level: &str| request(2, "logging/setLevel", json!({ "level": level }));
    assert_eq!(code(&pipe.ask(&set("loud")).await), -32602);
    assert_eq!(pipe.ask(&set("warning")).await["result"], json!({}));
    assert_eq!(levels(&mut pipe, &asked).await, ["error"]);
    assert!(levels(&mut pipe, &modern_call(3, "log", json!({}))).await.is_empty());
    let mut modern = modern_call(4, "log", json!({}));
    modern["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info");
    assert_eq!(levels(&mut pipe, &modern).await, ["info", "error"]);
    assert_eq!(code(&pipe.ask(&modern_request(5, "logging/setLevel", json!({}))).await), -32601);
}

#[tokio::test]
async fn a_cancelled_call_has_no_answer() {
    let mut fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    for message in [call("c", "wait", json!({})), modern_call("c", "wait", json!({}))] {
        pipe.send(&message).await;
        assert_eq!(fixture.next_happening().await, "waiting");
        assert_eq!(code(&pipe.ask(&call("c", "echo", json!({}))).await), -32600, "id in use");
        pipe.send(&notification("notifications/cancelled", json!({"requestId": "other"}))).await;
        pipe.send(&notification("notifications/cancelled", json!({"requestId": {}}))).await;
        pipe.send(&notification("notifications/cancelled", json!({"requestId": "c"}))).await;
        assert_eq!(fixture.next_happening().await, "cancelled");
        assert!(pipe.is_silent().await);
        assert_eq!(pipe.ask(&call("c", "echo", json!({"text": ""}))).await["id"], "c");
    }
}

#[tokio::test]
async fn a_call_that_does_not_end_is_dropped() {
    let grace = Duration::from_millis(50);
    let limits =
        Limits { cancel_grace: grace, max_in_flight: 1, max_waiting: 0, ..Limits::default() };
    let mut fixture = Fixture::with_limits(limits);
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    pipe.send(&call(1, "stubborn", json!({}))).await;
    assert_eq!(fixture.next_happening().await, "waiting");
    let refused = pipe.ask(&call(2, "echo", json!({}))).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("the limit is 1"), "{refused}");
    pipe.send(&notification("notifications/cancelled", json!({"requestId": 1}))).await;
    tokio::time::sleep(grace * 4).await;
    assert_eq!(pipe.ask(&call(3, "echo", json!({"text": "x"}))).await["id"], 3);
}

#[tokio::test]
async fn a_panic_fails_one_call() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    assert_eq!(code(&pipe.ask(&call(1, "panic", json!({}))).await), -32603);
    assert_eq!(pipe.ask(&call(2, "echo", json!({"text": "x"}))).await["id"], 2);
}

#[tokio::test]
async fn the_client_is_asked_and_answers() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({"elicitation": {}})).await;
    let asked = pipe.ask(&call(1, "elicit", json!({}))).await;
    assert_eq!(
        (&asked["method"], &asked["params"]["message"]),
        (&json!("elicitation/create"), &json!("Sure?"))
    );
    let answer =
        json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"action": "accept", "x": 1}});
    let result = pipe.ask(&answer).await;
    assert_eq!(result["result"]["content"][0]["text"], r#"{"action":"accept","x":1}"#);
    // An error is passed on, a second answer and one to nothing are ignored.
    let asked = pipe.ask(&call(2, "elicit", json!({}))).await;
    pipe.send(&answer).await;
    let error = json!({"code": -1, "message": "no"});
    assert_eq!(
        pipe.ask(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error})).await["error"],
        error
    );
    // Without an answer it is taken back.
    let asked = pipe.ask(&call(3, "elicit", json!({"ms": 30}))).await;
    let taken_back = pipe.next().await;
    assert_eq!(taken_back["method"], "notifications/cancelled");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    let failed = pipe.next().await;
    assert!(failed["error"]["message"].as_str().unwrap().contains("limit 30 ms"), "{failed}");
}

#[tokio::test]
async fn a_client_is_asked_only_what_it_can() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({"sampling": {}})).await;
    let refused = pipe.ask(&call(1, "elicit", json!({}))).await;
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}));
    let refused = pipe.ask(&modern_call(2, "elicit", json!({}))).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("input_required"), "{refused}");
}

#[tokio::test]
async fn changes_are_told_after_the_handshake() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    pipe.send(&notification("notifications/initialized", json!({}))).await;
    pipe.ask(&request(1, "ping", json!({}))).await;
    fixture.broadcaster.send(&Change::Tools);
    assert_eq!(pipe.next().await["method"], "notifications/tools/list_changed");
    let updated = Change::Resource("a:b".to_owned());
    fixture.broadcaster.send(&updated);
    assert!(pipe.is_silent().await);
    pipe.ask(&request(2, "resources/subscribe", json!({"uri": "a:b"}))).await;
    assert_eq!(fixture.broadcaster.watched_resources(), ["a:b"]);
    fixture.broadcaster.send(&updated);
    assert_eq!(pipe.next().await["params"], json!({"uri": "a:b"}));
    pipe.ask(&request(3, "resources/unsubscribe", json!({"uri": "a:b"}))).await;
    fixture.broadcaster.send(&updated);
    assert!(pipe.is_silent().await);
}

#[tokio::test]
async fn a_modern_client_listens() {
    let fixture = Fixture::new();
    let mut pipe = Pipe::new(&fixture.server);
    let wanted = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:b"]});
    let listen = |filter: &Value| {
        modern_request("sub", "subscriptions/listen", json!({ "notifications": filter }))
    };
    assert_eq!(
        code(&pipe.ask(&modern_request(1, "subscriptions/listen", json!({}))).await),
        -32602
    );
    let tag = json!({"io.modelcontextprotocol/subscriptionId": "sub"});
    let acknowledged = pipe.ask(&listen(&wanted)).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"], json!({"notifications": wanted, "_meta": tag}));
    fixture.broadcaster.send(&Change::Prompts);
    fixture.broadcaster.send(&Change::Tools);
    let told = pipe.next().await;
    assert_eq!(told["method"], "notifications/tools/list_changed");
    assert_eq!(told["params"], json!({ "_meta": tag }));
    fixture.broadcaster.send(&Change::Resource("a:b".to_owned()));
    assert_eq!(pipe.next().await["params"], json!({"uri": "a:b", "_meta": tag}));
    pipe.send(&notification("notifications/cancelled", json!({"requestId": "sub"}))).await;
    assert!(pipe.is_silent().await);
    pipe.ask(&listen(&wanted)).await;
    fixture.server.shutdown().cancel();
    let result = pipe.next().await;
    assert_eq!(result["result"]["resultType"], "complete");
    assert_eq!(result["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], "sub");
    assert_eq!(pipe.line().await, "");
    pipe.serving.await.unwrap().unwrap();
}

#[tokio::test]
async fn batches_in_the_one_revision_that_has_them() {
    let fixture = Fixture::new();
    let batch = json!([
        call(1, "echo", json!({"text": "1"})),
        notification("notifications/x", json!({})),
        7,
        request(2, "ping", json!({})),
    ]);
    let mut pipe = Pipe::initialized(&fixture.server, "2025-03-26", json!({})).await;
    pipe.send(&batch).await;
    let mut ids = vec![];
    for _ in 0..3 {
        ids.push(pipe.next().await["id"].to_string());
    }
    ids.sort();
    assert_eq!(ids, ["1", "2", "null"]);
    let long = vec![request(2, "ping", json!({})); 65];
    let refused = pipe.ask(&json!(long)).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("1 to 64"), "{refused}");
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    for batch in [batch, json!([])] {
        let refused = pipe.ask(&batch).await;
        assert_eq!(code(&refused), -32600);
        let why = refused["error"]["message"].as_str().unwrap();
        assert!(why.contains("only protocol version 2025-03-26"), "{why}");
    }
}

#[tokio::test]
async fn the_end_of_the_input_ends_the_calls() {
    let limits = Limits { input_end_grace: Duration::from_millis(200), ..Limits::default() };
    let mut fixture = Fixture::with_limits(limits);
    let mut pipe = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    pipe.send(&call(1, "wait", json!({}))).await;
    pipe.send(&call(2, "sleep", json!({"ms": 50}))).await;
    // The last line may lack its end.
    pipe.send_text(call(3, "echo", json!({"text": "x"})).to_string().as_bytes()).await;
    assert_eq!(fixture.next_happening().await, "waiting");
    pipe.input.as_mut().unwrap().shutdown().await.unwrap();
    let mut ids = [pipe.next().await["id"].take(), pipe.next().await["id"].take()];
    ids.sort_by_key(Value::to_string);
    assert_eq!(ids, [2, 3]);
    assert_eq!(fixture.next_happening().await, "cancelled");
    tokio::time::timeout(Duration::from_secs(5), pipe.serving).await.unwrap().unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_reads_nothing_holds_up_only_itself() {
    let fixture = Fixture::new();
    let mut stuck = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    let big = "x".repeat(10_000);
    // The server stops reading when its queue is full, so not everything can be sent.
    drop(
        tokio::time::timeout(Duration::from_millis(500), async {
            for id in 0..1000 {
                stuck.send(&call(id, "echo", json!({"text": big}))).await;
            }
        })
        .await,
    );
    let mut other = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    assert_eq!(other.ask(&call(1, "echo", json!({"text": "x"}))).await["id"], 1);
    drop(stuck.input);
    drop(stuck.output);
    tokio::time::timeout(Duration::from_secs(5), stuck.serving).await.unwrap().unwrap().ok();
}

#[tokio::test]
async fn a_client_that_reads_nothing_does_not_keep_the_server() {
    let grace = Duration::from_millis(50);
    let limits = Limits { cancel_grace: grace, shutdown_grace: grace, ..Limits::default() };
    let fixture = Fixture::with_limits(limits);
    let mut stuck = Pipe::initialized(&fixture.server, LEGACY, json!({})).await;
    let big = "x".repeat(10_000);
    let send_all = async {
        for id in 0..1000 {
            stuck.send(&call(id, "echo", json!({"text": big}))).await;
        }
    };
    drop(tokio::time::timeout(Duration::from_millis(500), send_all).await);
    fixture.server.shutdown().cancel();
    tokio::time::timeout(Duration::from_secs(5), stuck.serving).await.unwrap().unwrap().unwrap();
}
