//! An agent that walks a procedure.

use std::path::Path;
use std::process::Command;

use mcpgraph_testkit::StdioClient;
use serde_json::{Value, json};

use crate::http::{self, Listening};
use crate::product::{Era, command, repository};

/// How an agent reaches the product.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    Stdio(Era),
    Http(Era),
}

impl Way {
    pub(super) const ALL: [Self; 4] = [
        Self::Stdio(Era::Legacy),
        Self::Stdio(Era::Modern),
        Self::Http(Era::Legacy),
        Self::Http(Era::Modern),
    ];
}

/// `mcpgraph sop` with these arguments, in the root of the repository.
pub(super) fn sop(arguments: &[&str]) -> Command {
    let mut command = command();
    command.arg("sop").args(arguments).current_dir(repository());
    command
}

/// A server, and what a client needs to speak to it.
pub(super) enum Server {
    Stdio(Box<StdioClient>, Era),
    Http(Listening, Era),
}

/// One conversation. Over stdio there is one for each server.
pub(super) struct Agent {
    session: Option<String>,
    /// The handle, where the protocol has no sessions.
    pub(super) conversation: Option<String>,
}

impl Server {
    pub(super) fn start(mut command: Command, way: Way) -> Self {
        match way {
            Way::Stdio(era) => {
                let mut client = StdioClient::start(command);
                if era == Era::Legacy {
                    client.initialize();
                }
                Self::Stdio(Box::new(client), era)
            }
            Way::Http(era) => {
                command.args(["--http", "127.0.0.1:0"]);
                Self::Http(Listening::of(command), era)
            }
        }
    }

    /// A new conversation.
    pub(super) fn agent(&self) -> Agent {
        let session = match self {
            Self::Http(server, Era::Legacy) => {
                let (status, rest) = server.post(&server.host(), &http::initialize());
                assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
                let header = rest.lines().find_map(|line| {
                    let (name, value) = line.split_once(": ")?;
                    name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
                });
                Some(header.expect("a session"))
            }
            _ => None,
        };
        Agent { session, conversation: None }
    }

    /// The whole answer to a request.
    pub(super) fn request(&mut self, agent: &Agent, method: &str, mut params: Value) -> Value {
        let era = match self {
            Self::Stdio(_, era) | Self::Http(_, era) => *era,
        };
        if era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        match self {
            Self::Stdio(client, _) => client.request(method, &params),
            Self::Http(server, era) => {
                let mut headers = vec![server.host()];
                match era {
                    Era::Legacy => {
                        let session = agent.session.as_deref().unwrap();
                        headers.push(format!("Mcp-Session-Id: {session}"));
                        headers.push("MCP-Protocol-Version: 2025-11-25".to_owned());
                    }
                    Era::Modern => {
                        headers.push("MCP-Protocol-Version: 2026-07-28".to_owned());
                        headers.push(format!("Mcp-Method: {method}"));
                        if let Some(name) = params["name"].as_str() {
                            headers.push(format!("Mcp-Name: {name}"));
                        }
                    }
                }
                let body = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params });
                let (status, rest) = server.post(&headers.join("\r\n"), &body);
                assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
                answer_in(&rest)
            }
        }
    }

    /// The result of a tool.
    pub(super) fn call(&mut self, agent: &mut Agent, tool: &str, mut arguments: Value) -> Value {
        if let Some(conversation) = &agent.conversation {
            arguments["conversation"] = json!(conversation);
        }
        let params = json!({ "name": tool, "arguments": arguments });
        let answer = self.request(agent, "tools/call", params);
        let result = answer["result"].clone();
        assert!(result.is_object(), "{tool}: {answer}");
        if let Some(handle) = result["structuredContent"]["conversation"].as_str() {
            agent.conversation = Some(handle.to_owned());
        }
        result
    }

    /// The structured answer of a tool that does not fail.
    pub(super) fn ask(&mut self, agent: &mut Agent, tool: &str, arguments: Value) -> Value {
        let result = self.call(agent, tool, arguments);
        assert!(result["isError"] != true, "{tool}: {result}");
        let answer = result["structuredContent"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), answer, "{tool}");
        answer
    }

    /// Why a tool does not do what is asked.
    pub(super) fn refuse(&mut self, agent: &mut Agent, tool: &str, arguments: Value) -> Value {
        let result = self.call(agent, tool, arguments);
        assert_eq!(result["isError"], true, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    pub(super) fn load(&mut self, agent: &mut Agent, file: &str) -> Value {
        self.ask(agent, "load_graph", json!({ "sop_file": file }))
    }

    pub(super) fn go(&mut self, agent: &mut Agent, node: &str) -> Value {
        self.ask(agent, "goto_node", json!({ "node_id": node }))
    }

    /// The names of the tools.
    pub(super) fn tools(&mut self, agent: &Agent) -> Vec<String> {
        let mut params = json!({});
        if let Some(conversation) = &agent.conversation {
            params["_meta"]["mcpgraph/conversation"] = json!(conversation);
        }
        let answer = self.request(agent, "tools/list", params);
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Ends the server as its system would.
    pub(super) fn end(self) {
        match self {
            Self::Stdio(client, _) => client.close(),
            Self::Http(mut server, _) => server.end(),
        }
    }
}

/// The answer in the body of a response, whichever form it has.
fn answer_in(response: &str) -> Value {
    let start = response.find("{\"jsonrpc\"").expect("an answer");
    let mut values = serde_json::Deserializer::from_str(&response[start..]).into_iter();
    values.next().unwrap().unwrap()
}

/// The file of a procedure for tests, as agents name it.
pub(super) fn procedure(name: &str) -> String {
    let path = format!("crates/sop/tests/procedures/{name}");
    assert!(Path::new(&repository()).join(&path).is_file(), "{path}");
    path
}
