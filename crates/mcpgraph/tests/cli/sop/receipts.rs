//! What a walk can be held to: every call that was made is in its receipt and in its record, at the
//! node where it was allowed.

use std::collections::HashMap;
use std::fs;
use std::time::Duration;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use crate::product::command;

const PROCEDURE: &str = r#"---
agent: binder
hub_node: ROUTE
enforce: true
mcp_servers:
  - name: shop
    command: ${MCPGRAPH_BIN}
    args: [demo-server]
tools: [set_order_status, echo, slow, nobody]
guards:
  AUTH:
    ROUTE: {"==": [{"var": "echo.value"}, "secret"]}
---

```mermaid
flowchart TD
    START([Hello]) --> AUTH["Authenticate"] --> ROUTE{"What?"}
    ROUTE -->|cancel| CANCEL --> DONE([Bye])
    ROUTE -->|wait| SLOW --> DONE
    ROUTE -->|end| DONE
```

## Node Prompts

### AUTH

```yaml
tools: [echo]
```

### CANCEL

```yaml
tools: [set_order_status]
```

### SLOW

```yaml
tools: [slow, nobody]
```
"#;

/// A client that does not wait.
struct Agent {
    client: StdioClient,
    answers: HashMap<u64, Value>,
    folder: tempfile::TempDir,
}

impl Agent {
    /// One that has walked to the hub.
    fn at_the_hub() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("binder.md"), PROCEDURE).unwrap();
        let mut command = command();
        command.args(["sop", "binder.md", "--data", "data"]).current_dir(folder.path());
        let mut client = StdioClient::start(command);
        client.initialize();
        let mut agent = Self { client, answers: HashMap::new(), folder };
        agent.ask("load_graph", json!({ "sop_file": "binder" }));
        for node in ["START", "AUTH"] {
            agent.go(node);
        }
        agent.ask("echo", json!({ "value": { "value": "secret" } }));
        assert_eq!(agent.go("ROUTE")["valid"], true);
        agent
    }

    fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.client.begin("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    /// The answer to a request, whichever comes before it.
    fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            let message = self.client.receive();
            if let (Some(id), None) = (message["id"].as_u64(), message.get("method")) {
                self.answers.insert(id, message);
            }
        }
    }

    fn ask(&mut self, tool: &str, arguments: Value) -> Value {
        let id = self.begin(tool, arguments);
        self.answer(id)
    }

    fn go(&mut self, node: &str) -> Value {
        self.ask("goto_node", json!({ "node_id": node }))["result"]["structuredContent"].clone()
    }

    /// Goes to the end, for the calls at the latest visit of a node.
    fn receipt_of(&mut self, node: &str) -> Vec<Value> {
        let end = self.go("DONE");
        calls_at(&end, node)
    }

    /// The steps of the record, once the server has ended.
    fn record(self) -> Vec<Value> {
        self.client.close();
        let runs = |arguments: &[&str]| -> Value {
            let mut command = command();
            command.arg("runs").args(arguments).args(["--json", "--data", "data"]);
            let output = command.current_dir(self.folder.path()).output().unwrap();
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let id = runs(&["ls"])["runs"][0]["id"].as_str().unwrap().to_owned();
        runs(&["show", &id])["steps"].as_array().unwrap().clone()
    }
}

fn calls_at(end: &Value, node: &str) -> Vec<Value> {
    let nodes = end["receipt"]["nodes"].as_array().unwrap_or_else(|| panic!("{end}"));
    let visit = nodes.iter().rev().find(|visit| visit["node"] == node).unwrap();
    visit["tools"].as_array().unwrap().clone()
}

/// Whether the record has a call inside of a node, by their places.
fn is_inside(steps: &[Value], call: &Value, node: &str) -> bool {
    let (position, _) = call["path"].as_str().unwrap().split_once('.').unwrap();
    steps.iter().any(|step| step["path"] == position && step["node"] == node)
}

#[test]
fn a_new_path_leads_past_the_guards_again() {
    let mut agent = Agent::at_the_hub();
    agent.go("DONE");
    agent.go("START");
    let jump = agent.go("ROUTE");
    assert_eq!((&jump["valid"], &jump["valid_next"]), (&json!(false), &json!(["AUTH"])), "{jump}");
}

#[test]
fn a_call_that_nobody_waits_for_is_in_the_receipt() {
    let mut agent = Agent::at_the_hub();
    let mut made = 0;
    for _ in 0..10 {
        agent.go("ROUTE");
        agent.go("CANCEL");
        let cancel = json!({ "id": "A-102", "status": "cancelled" });
        let call = agent.begin("set_order_status", cancel);
        let moved = agent.begin("goto_node", json!({ "node_id": "DONE" }));
        let end = agent.answer(moved)["result"]["structuredContent"].clone();
        let result = agent.answer(call)["result"].clone();
        let is_made = result["structuredContent"]["code"] != "MG0523";
        let noted = calls_at(&end, "CANCEL");
        assert_eq!(noted.len(), usize::from(is_made), "{result} {noted:?}");
        made += noted.len();
    }
    assert!(made > 0, "all calls came too late");
}

#[test]
fn a_call_belongs_to_its_node_whatever_comes_of_it() {
    let mut agent = Agent::at_the_hub();
    agent.go("SLOW");
    let late = agent.begin("slow", json!({ "ms": 3000 }));
    let noted = agent.receipt_of("SLOW");
    let expected = json!({
        "tool": "slow",
        "arguments_sha256": mcpgraph_sop::digest(r#"{"ms":3000}"#),
        "result_sha256": null,
        "failed": false,
        "unanswered": true,
    });
    assert_eq!(noted, [expected]);
    agent.answer(late);
    agent.go("ROUTE");
    let noted = agent.receipt_of("SLOW");
    assert_eq!(noted[0]["result_sha256"].as_str().map(str::len), Some(64), "{noted:?}");
    assert_eq!(noted[0]["unanswered"], false);

    agent.go("ROUTE");
    agent.go("SLOW");
    let cancelled = agent.begin("slow", json!({ "ms": 20_000 }));
    let refused = agent.ask("nobody", json!({}));
    assert!(refused["error"].is_object(), "{refused}");
    agent.client.send(&json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": cancelled },
    }));
    // Nothing answers a request that was taken back.
    std::thread::sleep(Duration::from_millis(300));
    let noted = agent.receipt_of("SLOW");
    let [cancelled, failed] = &noted[..] else { panic!("{noted:?}") };
    assert_eq!((&cancelled["tool"], &cancelled["unanswered"]), (&json!("slow"), &json!(true)));
    let failed =
        [&failed["tool"], &failed["result_sha256"], &failed["failed"], &failed["unanswered"]];
    assert_eq!(failed, [&json!("nobody"), &Value::Null, &json!(true), &json!(false)]);

    let steps = agent.record();
    let calls: Vec<&Value> =
        steps.iter().filter(|step| step["kind"] == "mcp" && step["node"] != "echo").collect();
    assert_eq!(calls.len(), 3, "{steps:#?}");
    for call in &calls {
        assert!(is_inside(&steps, call, "SLOW"), "{call}");
    }
    let kinds: Vec<&Value> = calls.iter().map(|call| &call["error"]["kind"]).collect();
    assert_eq!(json!(kinds), json!([null, "outcome_unknown", "protocol_error"]), "{calls:#?}");
}
