//! Replicas, and a client that is never served twice by the same.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::{Child, Command, Output, Stdio},
    sync::LazyLock,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use mcpgraph_testkit::{PostgresServer, RoundRobin};
use serde_json::{Value, json};

/// How long a change may take to be in force everywhere.
pub(crate) const SOON: Duration = Duration::from_secs(1);

/// One server for all tests of this process.
static POSTGRES: LazyLock<Option<PostgresServer>> = LazyLock::new(PostgresServer::start);

/// A database of its own; none, with the reason on stderr, where PostgreSQL is not installed.
pub(crate) fn database() -> Option<String> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let server = POSTGRES.as_ref()?;
    let name = format!("replicas_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    Some(server.create_database(&name))
}

/// The product, with a store.
pub(crate) fn product(store: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcpgraph"));
    for variable in ["MCPGRAPH_LOG", "MCPGRAPH_BIN", "MCPGRAPH_DATA", "MCPGRAPH_NO_HISTORY"] {
        command.env_remove(variable);
    }
    command.env("XDG_DATA_HOME", env!("CARGO_TARGET_TMPDIR")).env("MCPGRAPH_STORE", store);
    command
}

/// Runs the product to its end.
pub(crate) fn done(store: &str, arguments: &[&str]) -> Output {
    let output = product(store).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A process of the product.
pub(crate) struct Replica {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Replica {
    /// Starts a command that serves over HTTP.
    pub(crate) fn start(mut command: Command) -> Self {
        command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving MCP at http://").expect(&line);
        let address = address.strip_suffix("/mcp").unwrap().parse().unwrap();
        // Nobody reads what it says later, and it must not have to wait for that.
        std::thread::spawn(move || stderr.read_to_end(&mut Vec::new()));
        Self { child, address }
    }

    /// Ends it at once.
    pub(crate) fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Three replicas behind a load balancer.
pub(crate) struct Cluster {
    pub(crate) store: String,
    pub(crate) replicas: Vec<Replica>,
    pub(crate) proxy: RoundRobin,
}

impl Cluster {
    /// Three processes that `serve` with a store.
    pub(crate) fn start(store: String, serve: impl Fn(&mut Command)) -> Self {
        let replicas: Vec<Replica> = (0..3)
            .map(|_| {
                let mut command = product(&store);
                serve(&mut command);
                Replica::start(command)
            })
            .collect();
        let proxy = RoundRobin::start(replicas.iter().map(|replica| replica.address));
        Self { store, replicas, proxy }
    }

    /// Three processes that serve a graph file.
    pub(crate) fn of_graph(store: String, graph: &Path) -> Self {
        Self::start(store, |command| {
            command.args(["serve", "-g"]).arg(graph);
        })
    }

    /// A client without a session yet.
    pub(crate) fn client(&self) -> Client {
        Client { address: self.proxy.address(), ..Client::default() }
    }
}

/// A graph with tools of its own and a demo server behind it.
pub(crate) fn graph() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/graphs/calls.yaml")
}

/// A client of either era; one with a session is of the legacy one.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) address: SocketAddr,
    pub(crate) session: Option<String>,
    pub(crate) token: Option<String>,
    pub(crate) capabilities: Value,
}

impl Default for Client {
    fn default() -> Self {
        Self {
            address: ([127, 0, 0, 1], 0).into(),
            session: None,
            token: None,
            capabilities: json!({}),
        }
    }
}

/// The answer to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    /// The messages of the body.
    pub(crate) messages: Vec<Value>,
}

impl Answer {
    /// The last message, which answers the request.
    pub(crate) fn last(&self) -> &Value {
        self.messages.last().unwrap_or(&Value::Null)
    }
}

impl Client {
    /// The same client, asking one replica and no other.
    pub(crate) fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    pub(crate) fn with_token(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    /// The same client with a legacy session.
    pub(crate) fn initialized(mut self) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": self.capabilities,
            "clientInfo": { "name": "legacy", "version": "1" },
        });
        // Without a session and without the modern `_meta` it is this that opens one.
        let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = self.send("POST", "", Some(&body));
        assert_eq!(answer.status, 200, "{answer:?}");
        self.session = Some(answer.session.unwrap());
        let body = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(self.send("POST", "", Some(&body)).status, 202);
        self
    }

    /// Asks for something.
    pub(crate) fn ask(&self, method: &str, mut params: Value) -> Answer {
        let mut headers = String::new();
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
                "io.modelcontextprotocol/clientInfo": { "name": "modern", "version": "1" },
            });
            headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            if let Some(name) = params["name"].as_str() {
                headers += &["Mcp-Name: ", name, "\r\n"].concat();
            }
        }
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send("POST", &headers, Some(&body))
    }

    /// Calls a tool; the answer to it.
    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        answer.last().clone()
    }

    /// The names of the tools.
    pub(crate) fn tools(&self) -> Vec<String> {
        let answer = self.ask("tools/list", json!({}));
        let tools = answer.last()["result"]["tools"].as_array();
        let tools = tools.unwrap_or_else(|| panic!("{answer:?}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// Sends a request and reads everything that comes back.
    pub(crate) fn send(&self, method: &str, headers: &str, body: Option<&Value>) -> Answer {
        let mut text = String::new();
        self.begin(method, headers, body).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            session: session.map(str::to_owned),
            messages: messages(body),
        }
    }

    /// Sends a request and reads nothing yet.
    pub(crate) fn begin(&self, method: &str, headers: &str, body: Option<&Value>) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let body = body.map(Value::to_string).unwrap_or_default();
        let accept = if method == "GET" { "" } else { "application/json, " };
        let mut lines = vec![
            format!("{method} /mcp HTTP/1.1"),
            "Host: localhost".to_owned(),
            format!("Accept: {accept}text/event-stream"),
            "Connection: close".to_owned(),
        ];
        lines.extend(self.session.as_ref().map(|session| format!("Mcp-Session-Id: {session}")));
        lines.extend(self.token.as_ref().map(|token| format!("Authorization: Bearer {token}")));
        if !body.is_empty() {
            lines.push("Content-Type: application/json".to_owned());
            lines.push(format!("Content-Length: {}", body.len()));
        }
        let head = lines.join("\r\n");
        write!(stream, "{head}\r\n{headers}\r\n{body}").unwrap();
        stream
    }
}

/// The messages of a body: one, or those of a stream in chunks.
fn messages(body: &str) -> Vec<Value> {
    if let Ok(message) = serde_json::from_str(body) {
        return vec![message];
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: "));
    events.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// Waits until something is so, for as long as a change may take.
pub(crate) fn soon(what: &str, condition: impl FnMut() -> bool) {
    within(SOON, what, condition);
}

pub(crate) fn within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < limit, "within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
