//! Many calls at once, and calls that are no longer wanted.

use std::{collections::HashMap, fs};

use serde_json::{Value, json};

use crate::product::{BINARY, Era, Served, eventually, with_server};

/// Longer than any test waits.
const FOR_EVER: u64 = 600_000;

#[test]
fn sixty_four_calls_at_once_have_their_own_state() {
    for era in Era::BOTH {
        let mut served = Served::graph("calls.yaml", era);
        // One that does not end holds nobody up.
        let waiting = served.begin("wait", json!({"ms": FOR_EVER}));
        let mut expected: HashMap<u64, u64> =
            (1..=64).map(|n| (served.begin("count", json!({"n": n})), n)).collect();
        while !expected.is_empty() {
            let answer = served.until(|message| message.get("id").is_some());
            let n = expected.remove(&answer["id"].as_u64().unwrap()).expect("an answer each");
            assert_eq!(answer["result"]["content"][0]["text"], n.to_string(), "{answer}");
        }
        cancel(&mut served, waiting);
        served.client.close();
    }
}

fn cancel(served: &mut Served, id: u64) {
    let params = served.params(json!({"requestId": id, "reason": "changed my mind"}));
    let message = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
    served.client.send(&message);
}

/// A cancelled call is taken back from the server it waits for.
#[test]
fn cancelling_reaches_the_upstream() {
    for era in Era::BOTH {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        // Everything the server is told is written down on the way.
        let script = format!("tee '{}' | '{BINARY}' demo-server", log.display());
        let graph = with_server("calls.yaml", &script);
        let told = |method: &str| -> Vec<Value> {
            let text = fs::read_to_string(&log).unwrap_or_default();
            let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            messages.filter(|message| message["method"] == method).collect()
        };
        let mut served = Served::text(&graph, era);
        let waiting = served.begin("wait", json!({"ms": FOR_EVER}));
        eventually("the server is called", || !told("tools/call").is_empty());
        assert!(told("notifications/cancelled").is_empty());

        cancel(&mut served, waiting);
        eventually("the server is told", || !told("notifications/cancelled").is_empty());
        let call = &told("tools/call")[0];
        assert_eq!(told("notifications/cancelled")[0]["params"]["requestId"], call["id"]);

        // What was cancelled is not answered, and everything else goes on.
        let next = served.begin("count", json!({"n": 1}));
        let answer = served.until(|message| message.get("id").is_some());
        assert_eq!(answer["id"], next);
        served.client.close();
    }
}
