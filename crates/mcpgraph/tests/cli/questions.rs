//! Graphs that ask people: how each kind of client is asked, which answers count, and tasks.

mod answers;
mod asked;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::http::Listening;
use crate::product::{beside, command};

/// The asking graph, its data and who may come.
struct World {
    data: TempDir,
}

/// A client over HTTP, and what it can.
struct Caller<'s> {
    server: &'s Listening,
    token: String,
    capabilities: Value,
}

impl World {
    fn new() -> Self {
        Self { data: tempfile::tempdir().unwrap() }
    }

    fn options(&self) -> [&str; 2] {
        ["--data", self.data.path().to_str().unwrap()]
    }

    fn token(&self, name: &str) -> String {
        let output =
            command().args(["tokens", "add", "--name", name]).args(self.options()).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    fn serve(&self) -> Listening {
        Listening::on(&beside("graphs/asking.yaml"), &self.options())
    }

    fn stdio(&self) -> StdioClient {
        let mut serve = command();
        serve.arg("-g").arg(beside("graphs/asking.yaml")).args(self.options());
        StdioClient::start(serve)
    }
}

impl<'s> Caller<'s> {
    fn new(server: &'s Listening, token: &str, capabilities: Value) -> Self {
        Self { server, token: token.to_owned(), capabilities }
    }

    fn request(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": self.capabilities,
        });
        let mut headers = format!(
            "{}\r\nAuthorization: Bearer {}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}",
            self.server.host(),
            self.token
        );
        if let Some(name) = params["name"].as_str().or(params["taskId"].as_str()) {
            headers = format!("{headers}\r\nMcp-Name: {name}");
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (_, rest) = self.server.post(&headers, &body);
        answer_in(&rest)
    }

    fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Calls again with an answer to the only question of a result.
    fn answer(&self, tool: &str, arguments: Value, asked: &Value, answer: &Value) -> Value {
        let params = json!({
            "name": tool, "arguments": arguments,
            "requestState": asked["requestState"],
            "inputResponses": { question(asked).0: answer },
        });
        self.request("tools/call", params)
    }

    fn go_on(&self, handle: &Value, answer: Value) -> Value {
        self.call("continue_run", json!({ "handle": handle, "answer": answer }))
    }
}

/// The answer in a body, or in the last event of a stream.
fn answer_in(rest: &str) -> Value {
    let body = rest.split_once("\r\n\r\n").map_or("", |(_, body)| body);
    let mut data = body.lines().rev().filter_map(|line| line.strip_prefix("data: "));
    let event = data.find_map(|data| serde_json::from_str::<Value>(data).ok());
    event.or_else(|| serde_json::from_str(body).ok()).unwrap_or_else(|| panic!("{rest}"))
}

/// The key and the message of the only question of a result.
fn question(asked: &Value) -> (String, Value) {
    let requests = asked["inputRequests"].as_object().unwrap_or_else(|| panic!("{asked}"));
    assert_eq!(requests.len(), 1, "{asked}");
    let (key, request) = requests.iter().next().unwrap();
    assert_eq!(request["method"], "elicitation/create", "{asked}");
    (key.clone(), request["params"]["message"].clone())
}

fn accept(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

fn text(answer: &Value) -> String {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn asks() -> Value {
    json!({ "elicitation": {} })
}

fn takes_tasks() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn to_ada() -> Value {
    json!({ "to": "Ada" })
}
