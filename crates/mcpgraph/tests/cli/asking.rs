//! Servers that ask in the middle of a call: clients and servers of both eras.

use mcpgraph_testkit::{StdioClient, environment};
use serde_json::{Value, json};

use crate::access::{World, ask};
use crate::product::{Era, command};

/// The two kinds of servers, with the tool that asks.
fn servers() -> Option<[(Value, &'static str, Value); 2]> {
    let legacy = environment::misbehaving_server()?.to_json();
    let modern = environment::fixture_server()?.to_json();
    Some([
        (legacy, "s__ask", json!({})),
        (modern, "s__test_elicitation", json!({ "message": "who?" })),
    ])
}

/// A client of either era that can be asked, of a server behind the product.
struct Asked {
    client: StdioClient,
    era: Era,
    _folder: tempfile::TempDir,
}

impl Asked {
    fn new(server: &Value, era: Era) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, json!({ "mcpServers": { "s": server } }).to_string()).unwrap();
        let mut serve = command();
        serve.args(["serve", "-m"]).arg(&file);
        let mut client = StdioClient::start(serve);
        if era == Era::Legacy {
            let params = json!({
                "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
                "clientInfo": { "name": "test", "version": "1" },
            });
            client.request("initialize", &params);
            client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        }
        Self { client, era, _folder: folder }
    }

    fn params(&self, tool: &str, arguments: &Value, capabilities: &Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.era == Era::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": capabilities,
            });
        }
        params
    }

    /// Calls a tool, answers its questions and gives how many there were, and the result.
    fn call(&mut self, tool: &str, arguments: &Value, answer: &Value) -> (usize, Value) {
        let mut params = self.params(tool, arguments, &json!({ "elicitation": {} }));
        let mut asked = 0;
        let mut id = self.client.begin("tools/call", &params);
        loop {
            let message = self.client.receive();
            if message["method"] == "elicitation/create" {
                assert_eq!(self.era, Era::Legacy, "{message}");
                asked += 1;
                let reply = json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer });
                self.client.send(&reply);
            } else if message["id"] == id && message["result"]["resultType"] == "input_required" {
                assert_eq!(self.era, Era::Modern, "{message}");
                asked += 1;
                let questions = message["result"]["inputRequests"].as_object().unwrap();
                let answers = questions.iter().map(|(key, question)| {
                    assert_eq!(question["method"], "elicitation/create");
                    (key.clone(), answer.clone())
                });
                params["inputResponses"] = Value::Object(answers.collect());
                if let Some(state) = message["result"].get("requestState") {
                    params["requestState"] = state.clone();
                }
                id = self.client.begin("tools/call", &params);
            } else if message["id"] == id {
                return (asked, message);
            }
        }
    }
}

#[test]
fn questions_reach_clients_of_either_era() {
    let Some(servers) = servers() else { return };
    for (server, tool, arguments) in &servers {
        for era in Era::BOTH {
            let mut client = Asked::new(server, era);
            let answer = json!({
                "action": "accept", "content": { "username": "ada", "email": "ada@example.com" },
            });
            let (asked, result) = client.call(tool, arguments, &answer);
            assert_eq!(asked, 1, "{era:?} {tool}: {result}");
            assert!(result.to_string().contains("ada@example.com"), "{era:?} {tool}: {result}");
            // And once more: nothing is left over.
            let declined = json!({ "action": "decline" });
            let (asked, result) = client.call(tool, arguments, &declined);
            assert_eq!(asked, 1, "{era:?} {tool}: {result}");
            assert!(result.to_string().contains("decline"), "{era:?} {tool}: {result}");
            client.client.close();
        }
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_not() {
    let Some(server) = environment::misbehaving_server() else { return };
    let mut client = Asked::new(&server.to_json(), Era::Modern);
    let params = client.params("s__ask", &json!({}), &json!({}));
    let answer = client.client.request("tools/call", &params);
    // The server hears that the capability is missing, and says so.
    assert_eq!(answer["result"]["content"][0]["text"], "[null,-32021]", "{answer}");
}

/// The state is the caller's and the request's: nobody else goes on, and nothing else.
#[test]
fn a_question_belongs_to_its_caller_and_its_request() {
    let Some(server) = environment::misbehaving_server() else { return };
    let mut exposed = server.to_json();
    exposed["expose"] = json!(true);
    let world = World::with_server("asking", &exposed);
    let (mine, other) = (world.add("mine", &[]), world.add("other", &[]));
    let server = world.serve();
    let params = |more: Value| {
        let mut params = json!({
            "name": "asking__ask", "arguments": { "method": "elicitation/create" },
        });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        params
    };
    let (_, asked) = ask(&server, &mine, "tools/call", params(json!({})));
    let state = &asked["result"]["requestState"];
    assert!(state.is_string(), "{asked}");
    let answer = json!({ "question": { "action": "accept" } });
    let answered = json!({ "requestState": state, "inputResponses": answer });
    let refused = |token: &str, params: Value| {
        let (_, answer) = ask(&server, token, "tools/call", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    };
    refused(&other, params(answered.clone()));
    let mut another = params(answered.clone());
    another["arguments"] = json!({ "method": "sampling/createMessage" });
    refused(&mine, another);
    let forged = json!({ "requestState": "mcpgraph-parked-0", "inputResponses": answer });
    refused(&mine, params(forged));
    refused(&mine, params(json!({ "requestState": state })));
    let (_, answer) = ask(&server, &mine, "tools/call", params(answered.clone()));
    assert!(answer.to_string().contains("accept"), "{answer}");
    // It can be answered once.
    refused(&mine, params(answered));
}

/// What a modern server gives its client to come back with goes through sealed.
#[test]
fn the_state_of_a_modern_server_is_sealed() {
    let Some(server) = environment::fixture_server() else { return };
    let mut exposed = server.to_json();
    exposed["expose"] = json!(true);
    let world = World::with_server("s", &exposed);
    let (mine, other) = (world.add("mine", &[]), world.add("other", &[]));
    let server = world.serve();
    let tool = "s__test_input_required_result_multi_round";
    let params = |more: Value| {
        let mut params = json!({ "name": tool, "arguments": {} });
        for (key, value) in more.as_object().unwrap() {
            params[key] = value.clone();
        }
        params
    };
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    let (_, asked) = ask(&server, &mine, "tools/call", params(json!({})));
    let state = asked["result"]["requestState"].as_str().unwrap().to_owned();
    assert!(state.starts_with("mcpgraph-sealed-"), "{asked}");
    let named = json!({ "step1": accept(json!({ "name": "Ada" })) });
    let answered = |state: &str| params(json!({ "requestState": state, "inputResponses": named }));
    let refused = |token: &str, params: Value| {
        let (_, answer) = ask(&server, token, "tools/call", params);
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(answer.to_string().contains("of no question"), "{answer}");
    };
    refused(&other, answered(&state));
    let mut another = answered(&state);
    another["arguments"] = json!({ "a": 1 });
    refused(&mine, another);
    let mut another = answered(&state);
    another["name"] = json!("s__test_input_required_result_request_state");
    refused(&mine, another);
    let last = if state.ends_with('A') { 'B' } else { 'A' };
    refused(&mine, answered(&format!("{}{last}", &state[..state.len() - 1])));
    refused(&mine, answered("the server's own"));

    let (_, asked) = ask(&server, &mine, "tools/call", answered(&state));
    let second = asked["result"]["requestState"].as_str().unwrap();
    assert!(asked["result"]["inputRequests"]["step2"].is_object(), "{asked}");
    let coloured = json!({ "step2": accept(json!({ "color": "blue" })) });
    let done = params(json!({ "requestState": second, "inputResponses": coloured }));
    let (_, answer) = ask(&server, &mine, "tools/call", done);
    assert_eq!(answer["result"]["content"][0]["text"], "Ada likes blue", "{answer}");
}
