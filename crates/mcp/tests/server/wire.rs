//! Clients that speak in bytes: lines over a pipe, and HTTP over a socket.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use mcpgraph_mcp::server::{Server, serve_stdio};
use mcpgraph_mcp::sse::{Decoder, Event, EventTooLong};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// The `_meta` of a modern request.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "wire", "version": "1"},
    })
}

pub(crate) fn request(id: impl Into<Value>, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": method, "params": params})
}

pub(crate) fn modern_request(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    let mut meta = modern_meta();
    if let Some(more) = params["_meta"].as_object() {
        meta.as_object_mut().unwrap().extend(more.clone());
    }
    params["_meta"] = meta;
    request(id, method, params)
}

pub(crate) fn call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn modern_call(id: impl Into<Value>, tool: &str, arguments: Value) -> Value {
    modern_request(id, "tools/call", json!({"name": tool, "arguments": arguments}))
}

pub(crate) fn initialize(version: &str, capabilities: Value) -> Value {
    request(
        "init",
        "initialize",
        json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "wire", "version": "1"}}),
    )
}

pub(crate) fn notification(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

/// A client on the other end of the server's standard streams.
pub(crate) struct Pipe {
    pub(crate) input: Option<WriteHalf<DuplexStream>>,
    pub(crate) output: BufReader<ReadHalf<DuplexStream>>,
    pub(crate) serving: JoinHandle<std::io::Result<()>>,
}

impl Pipe {
    pub(crate) fn new(server: &Server) -> Self {
        let (client, far) = tokio::io::duplex(1 << 16);
        let (reader, writer) = tokio::io::split(far);
        let server = server.clone();
        let serving = tokio::spawn(async move { serve_stdio(&server, reader, writer).await });
        let (output, input) = tokio::io::split(client);
        Self { input: Some(input), output: BufReader::new(output), serving }
    }

    /// A pipe on which a legacy session is open.
    pub(crate) async fn initialized(server: &Server, version: &str, capabilities: Value) -> Self {
        let mut pipe = Self::new(server);
        let answer = pipe.ask(&initialize(version, capabilities)).await;
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        pipe.send(&notification("notifications/initialized", json!({}))).await;
        pipe
    }

    pub(crate) async fn send_text(&mut self, text: &[u8]) {
        self.input.as_mut().unwrap().write_all(text).await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_text(format!("{message}\n").as_bytes()).await;
    }

    /// The next line as it is; empty at the end.
    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, self.output.read_line(&mut line)).await.unwrap().unwrap();
        line
    }

    pub(crate) async fn next(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    pub(crate) async fn ask(&mut self, message: &Value) -> Value {
        self.send(message).await;
        self.next().await
    }

    /// Nothing comes for a while.
    pub(crate) async fn is_silent(&mut self) -> bool {
        let mut line = String::new();
        tokio::time::timeout(Duration::from_millis(100), self.output.read_line(&mut line))
            .await
            .is_err()
    }
}

/// A response over HTTP, whose body may still be coming.
pub(crate) struct HttpResponse {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    stream: BufReader<TcpStream>,
    decoder: Decoder,
    events: VecDeque<Result<Event, EventTooLong>>,
    length: Option<usize>,
}

/// One request on a connection of its own.
pub(crate) struct HttpRequest {
    method: &'static str,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl HttpRequest {
    pub(crate) fn new(method: &'static str) -> Self {
        Self { method, headers: Vec::new(), body: Vec::new() }
    }

    /// A POST as clients of both eras send it.
    pub(crate) fn post(body: impl AsRef<[u8]>) -> Self {
        let mut request = Self::new("POST")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream");
        request.body = body.as_ref().to_vec();
        request
    }

    /// A modern request with the headers that mirror it.
    pub(crate) fn modern(message: &Value) -> Self {
        let mut request = Self::post(message.to_string())
            .header("MCP-Protocol-Version", MODERN)
            .header("Mcp-Method", message["method"].as_str().unwrap());
        if let Some(name) = message["params"]["name"].as_str() {
            request = request.header("Mcp-Name", name);
        }
        if let Some(uri) = message["params"]["uri"].as_str() {
            request = request.header("Mcp-Name", uri);
        }
        request
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// In a session.
    pub(crate) fn session(self, key: &str) -> Self {
        self.header("Mcp-Session-Id", key).header("MCP-Protocol-Version", LEGACY)
    }

    pub(crate) async fn send(self, address: SocketAddr) -> HttpResponse {
        let mut text = format!("{} /mcp HTTP/1.1\r\n", self.method);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            write!(text, "Host: {address}\r\n").unwrap();
        }
        for (name, value) in &self.headers {
            write!(text, "{name}: {value}\r\n").unwrap();
        }
        write!(text, "Content-Length: {}\r\n\r\n", self.body.len()).unwrap();
        let mut bytes = text.into_bytes();
        bytes.extend(self.body);
        HttpResponse::to_bytes(address, &bytes).await
    }
}

impl HttpResponse {
    /// The response to these bytes.
    pub(crate) async fn to_bytes(address: SocketAddr, bytes: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        // The server may refuse before it has read everything.
        drop(stream.write_all(bytes).await);
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        tokio::time::timeout(PATIENCE, stream.read_line(&mut line)).await.unwrap().unwrap();
        let status = line.split(' ').nth(1).unwrap_or("0").parse().unwrap();
        let mut headers = Vec::new();
        loop {
            line.clear();
            stream.read_line(&mut line).await.unwrap();
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            headers.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut response = Self {
            status,
            headers,
            stream,
            decoder: Decoder::new(1 << 24),
            events: VecDeque::new(),
            length: None,
        };
        response.length = response.header("content-length").and_then(|it| it.parse().ok());
        response
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }

    /// The whole body, which is not a stream.
    pub(crate) async fn text(mut self) -> String {
        let mut body = vec![0; self.length.unwrap_or(0)];
        tokio::time::timeout(PATIENCE, self.stream.read_exact(&mut body)).await.unwrap().unwrap();
        String::from_utf8(body).unwrap()
    }

    pub(crate) async fn json(self) -> Value {
        let text = self.text().await;
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text:?}"))
    }

    /// The next event; none at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        assert!(self.is_stream(), "{} {:?}", self.status, self.headers);
        while self.events.is_empty() {
            // Each chunk: its length in hex, its bytes, an empty line.
            let mut line = String::new();
            tokio::time::timeout(PATIENCE, self.stream.read_line(&mut line)).await.unwrap().ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            if length == 0 {
                return None;
            }
            let mut chunk = vec![0; length + 2];
            self.stream.read_exact(&mut chunk).await.ok()?;
            self.decoder.feed(&chunk[..length], &mut self.events);
        }
        self.events.pop_front().map(Result::unwrap)
    }

    /// The next message of the stream; none at its end.
    pub(crate) async fn message(&mut self) -> Option<Value> {
        loop {
            let event = self.event().await?;
            if !event.data.is_empty() {
                return Some(serde_json::from_str(&event.data).unwrap());
            }
        }
    }

    /// All messages up to the end.
    pub(crate) async fn messages(mut self) -> Vec<Value> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            messages.push(message);
        }
        messages
    }
}

/// Opens a legacy session and gives its key.
pub(crate) async fn open_session(
    address: SocketAddr,
    version: &str,
    capabilities: Value,
) -> String {
    let body = initialize(version, capabilities).to_string();
    let response = HttpRequest::post(body).send(address).await;
    assert_eq!(response.status, 200);
    let key = response.header("mcp-session-id").unwrap().to_owned();
    assert_eq!(response.json().await["result"]["protocolVersion"], version);
    let initialized = notification("notifications/initialized", json!({})).to_string();
    let response = HttpRequest::post(initialized).session(&key).send(address).await;
    assert_eq!(response.status, 202);
    key
}
