//! The product over HTTP, spoken to as plainly as possible.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::product::{beside, command, eventually};

/// The product listening at a port it was free to choose.
pub(crate) struct Listening {
    child: Child,
    address: String,
}

impl Listening {
    fn start(options: &[&str]) -> Self {
        Self::on(&beside("graphs/calls.yaml"), options)
    }

    /// Serves a graph to this machine.
    pub(crate) fn on(graph: &Path, options: &[&str]) -> Self {
        Self::at("127.0.0.1:0", graph, options)
    }

    /// Serves a graph at an address; it is asked at the loopback address.
    pub(crate) fn at(address: &str, graph: &Path, options: &[&str]) -> Self {
        let mut serve = command();
        serve.args(["serve", "--http", address, "-g"]).arg(graph).args(options);
        Self::of(serve)
    }

    /// A command that serves over HTTP.
    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("serving MCP at http://").expect("an address");
        let address = address.strip_suffix("/mcp").expect("the path");
        let address = address.replace("0.0.0.0", "127.0.0.1");
        Self { child, address }
    }

    /// Sends a request and reads nothing yet.
    pub(crate) fn send(&self, head: &str, body: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let body = body.to_string();
        let length = body.len();
        write!(
            stream,
            "{head}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Accept: application/json, text/event-stream\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    /// Posts a message; gives the status line and everything after it.
    pub(crate) fn post(&self, headers: &str, body: &Value) -> (String, String) {
        let mut answer = String::new();
        let head = format!("POST /mcp HTTP/1.1\r\n{headers}");
        self.send(&head, body).read_to_string(&mut answer).unwrap();
        let (status, rest) = answer.split_once("\r\n").unwrap();
        (status.to_owned(), rest.to_owned())
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: {}", self.address)
    }

    /// Where it listens.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// The id of its process.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// What is at a path beside the endpoint: the status line and everything after it.
    pub(crate) fn get(&self, path: &str) -> (String, String) {
        let mut answer = String::new();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: probe\r\nConnection: close\r\n\r\n").unwrap();
        stream.read_to_string(&mut answer).unwrap();
        let (status, rest) = answer.split_once("\r\n").unwrap();
        (status.to_owned(), rest.to_owned())
    }

    /// Asks it to end, as the system does.
    fn terminate(&self) {
        let process = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(process, Signal::TERM).unwrap();
    }

    pub(crate) fn end(&mut self) {
        self.terminate();
        self.ended();
    }

    /// Waits for its end, which must be a good one.
    pub(crate) fn ended(&mut self) {
        eventually("the server ends", || self.child.try_wait().unwrap().is_some());
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

pub(crate) fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }})
}

/// A call in the modern era, with the headers that mirror it.
pub(crate) fn modern_call(id: u64, tool: &str, arguments: Value) -> (String, Value) {
    let body = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let headers =
        format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}");
    (headers, body)
}

#[test]
fn both_eras_are_served() {
    let mut server = Listening::start(&[]);
    let (status, rest) = server.post(&server.host(), &initialize());
    assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
    assert!(rest.contains(r#""name":"calls""#), "{rest}");

    let (headers, body) = modern_call(7, "count", json!({"n": 3}));
    let (status, rest) = server.post(&format!("{}\r\n{headers}", server.host()), &body);
    assert_eq!(status, "HTTP/1.1 200 OK", "{rest}");
    assert!(rest.contains(r#""text":"3""#), "{rest}");
    server.end();
}

#[test]
fn a_name_that_is_not_this_machine_is_refused() {
    let server = Listening::start(&["--allow-host", "mcp.example"]);
    for (host, status) in [
        ("Host: evil.example", "HTTP/1.1 403 Forbidden"),
        ("Host: mcp.example", "HTTP/1.1 200 OK"),
        ("Host: localhost", "HTTP/1.1 200 OK"),
        ("Host: localhost\r\nOrigin: https://evil.example", "HTTP/1.1 403 Forbidden"),
    ] {
        assert_eq!(server.post(host, &initialize()).0, status, "{host}");
    }
}

#[test]
fn an_address_in_use_is_trouble() {
    let server = Listening::start(&[]);
    let output = command()
        .args(["serve", "--http", &server.address, "-g"])
        .arg(beside("graphs/calls.yaml"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(3));
    let said = String::from_utf8(output.stderr).unwrap();
    let expected = format!("error: cannot listen at {}: ", server.address);
    assert!(said.starts_with(&expected), "{said}");
}

#[test]
fn it_ends_when_the_system_asks_though_clients_wait() {
    let mut server = Listening::start(&["--drain-timeout", "1s"]);
    let (headers, body) = modern_call(1, "wait", json!({"ms": 600_000}));
    let head = format!("POST /mcp HTTP/1.1\r\n{}\r\n{headers}", server.host());
    let call = server.send(&head, &body);
    // A connection on which nothing is ever said.
    let idle = TcpStream::connect(&server.address).unwrap();
    let (status, _) = server.post(&server.host(), &initialize());
    assert_eq!(status, "HTTP/1.1 200 OK");
    server.end();
    drop((call, idle));
}

#[test]
fn probes_are_told_whether_it_lives_and_takes_calls() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().to_str().unwrap();
    let server = Listening::start(&["--data", folder]);
    let (status, body) = server.get("/healthz");
    assert!(status == "HTTP/1.1 200 OK" && body.ends_with(r#"{"status":"alive"}"#), "{body}");
    let (status, body) = server.get("/readyz");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(body.ends_with(r#"{"status":"ready","store":"reachable"}"#), "{body}");
    let server = Listening::start(&["--no-history"]);
    let (_, body) = server.get("/readyz");
    assert!(body.ends_with(r#"{"status":"ready","store":"none"}"#), "{body}");
}

#[test]
fn what_is_under_way_finishes_and_nothing_new_begins() {
    let mut server = Listening::start(&[]);
    let host = server.host();
    let (headers, body) = modern_call(1, "wait", json!({"ms": 3000}));
    let head = format!("POST /mcp HTTP/1.1\r\n{host}\r\n{headers}");
    let mut call = server.send(&head, &body);
    let (_, answer) = server.post(&host, &initialize());
    let session = answer.lines().find(|line| line.starts_with("mcp-session-id")).unwrap();
    let legacy = format!("{host}\r\n{session}");
    // The call is under way once the server behind has been started for it.
    eventually("the server runs", || !crate::life::descendants(server.process()).is_empty());
    std::thread::sleep(std::time::Duration::from_millis(500));
    server.terminate();
    eventually("it drains", || server.get("/readyz").0 == "HTTP/1.1 503 Service Unavailable");
    assert!(server.get("/readyz").1.contains(r#""status":"draining""#));
    assert_eq!(server.get("/healthz").0, "HTTP/1.1 200 OK");
    let (headers, body) = modern_call(2, "count", json!({"n": 3}));
    let (status, rest) = server.post(&format!("{host}\r\n{headers}"), &body);
    assert_eq!(status, "HTTP/1.1 503 Service Unavailable", "{rest}");
    assert!(rest.contains("MG0620"), "{rest}");
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    assert!(server.post(&legacy, &list).1.contains(r#""name":"count""#));
    let mut answer = String::new();
    call.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("\"result\"") && !answer.contains("\"isError\":true"), "{answer}");
    server.ended();
}
