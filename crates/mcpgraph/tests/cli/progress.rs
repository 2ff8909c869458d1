//! Progress of a run as its client hears of it.

use std::time::Duration;

use serde_json::{Value, json};

use crate::product::{Era, Served};

/// How long a message that should not come is waited for.
const SILENCE: Duration = Duration::from_millis(300);

/// Calls `wait` and gives the messages before the answer.
fn messages(served: &mut Served, meta: Value) -> Vec<Value> {
    let id = served.begin_with(json!({
        "name": "wait",
        "arguments": {"ms": 100, "steps": 4},
        "_meta": meta,
    }));
    let mut messages = Vec::new();
    loop {
        let message = served.client.receive();
        if message["id"] == id {
            assert!(message["result"].is_object(), "{message}");
            return messages;
        }
        messages.push(message);
    }
}

#[test]
fn it_grows_and_tells_of_nodes_and_upstream_calls() {
    for era in Era::BOTH {
        let mut served = Served::graph("calls.yaml", era);
        for token in [json!("a token"), json!(7)] {
            let messages = messages(&mut served, json!({"progressToken": token}));
            let mut last = 0.0;
            for message in &messages {
                assert_eq!(message["method"], "notifications/progress");
                assert_eq!(message["params"]["progressToken"], token);
                let progress = message["params"]["progress"].as_f64().unwrap();
                assert!(progress > last, "{messages:#?}");
                last = progress;
            }
            let told: Vec<&str> = messages
                .iter()
                .filter_map(|message| message["params"]["message"].as_str())
                .collect();
            for part in ["entry", "slow", "slow: step 2 of 4", "who", "exit"] {
                assert!(told.contains(&part), "{part}: {told:?}");
            }
            assert_eq!(served.client.receive_within(SILENCE), None, "after the answer");
        }
    }
}

#[test]
fn nobody_hears_of_it_who_did_not_ask() {
    for era in Era::BOTH {
        let mut served = Served::graph("calls.yaml", era);
        assert_eq!(messages(&mut served, json!({})), Vec::<Value>::new());
    }
}
