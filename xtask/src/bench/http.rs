//! Servers behind HTTP under measurement, and many clients of them.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde_json::{Value, json};

/// The protocol without sessions: any replica takes any request.
const PROTOCOL: &str = "2026-07-28";

/// A server that listens at a free port. It is killed when dropped.
pub(super) struct HttpServer {
    child: Child,
    /// Host and port.
    address: String,
}

impl HttpServer {
    /// Starts a program that says where it serves.
    pub(super) fn start(program: &Path, arguments: &[&str]) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .args(["--http", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {}", program.display()))?;
        let mut lines = BufReader::new(child.stderr.take().context("no stderr")?).lines();
        let mut server = Self { child, address: String::new() };
        for line in lines.by_ref() {
            if let Some((_, rest)) = line?.split_once("http://") {
                rest.split('/').next().unwrap_or_default().clone_into(&mut server.address);
                break;
            }
        }
        ensure!(!server.address.is_empty(), "{} does not serve", program.display());
        // What it says later is nobody's, and must not stop it.
        thread::spawn(move || lines.for_each(drop));
        Ok(server)
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Calls a tool, and waits for its answer elsewhere.
pub(super) fn call(
    server: &HttpServer,
    tool: &str,
    arguments: &Value,
) -> anyhow::Result<JoinHandle<anyhow::Result<()>>> {
    let mut connection = Connection::to(&server.address)?;
    let request = request(&server.address, tool, arguments);
    Ok(thread::spawn(move || connection.ask(&request)))
}

/// Calls per second of so many clients, spread over servers, each of which makes so many calls.
pub(super) fn load(
    servers: &[HttpServer],
    tool: &str,
    arguments: &Value,
    clients: usize,
    calls: usize,
) -> anyhow::Result<f64> {
    let connections = (0..clients)
        .map(|index| {
            let address = &servers[index % servers.len()].address;
            Ok((Connection::to(address)?, request(address, tool, arguments)))
        })
        .collect::<anyhow::Result<Vec<_>>>()?;
    let began = Instant::now();
    let working = connections.into_iter().map(|(mut connection, request)| {
        thread::spawn(move || -> anyhow::Result<()> {
            for _ in 0..calls {
                connection.ask(&request)?;
            }
            Ok(())
        })
    });
    for client in working.collect::<Vec<_>>() {
        client.join().map_err(|_| anyhow::anyhow!("a client panicked"))??;
    }
    Ok((clients * calls) as f64 / began.elapsed().as_secs_f64())
}

/// A connection that is kept.
struct Connection {
    stream: BufReader<TcpStream>,
    line: String,
    body: Vec<u8>,
}

impl Connection {
    fn to(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let (line, body) = (String::new(), Vec::new());
        Ok(Self { stream: BufReader::new(stream), line, body })
    }

    /// Sends a request, which must be answered with a result that is no error.
    fn ask(&mut self, request: &[u8]) -> anyhow::Result<()> {
        self.stream.get_mut().write_all(request)?;
        let (mut length, mut is_good) = (None, false);
        while let Some(line) = self.read_line()? {
            is_good |= line.starts_with("HTTP/1.1 200");
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = Some(value.parse()?);
            }
        }
        self.body.clear();
        match length {
            Some(length) => self.read_body(length)?,
            // A call that takes longer is answered as a stream.
            None => self.read_chunks()?,
        }
        let text = str::from_utf8(&self.body)?;
        if !is_good || text.contains("\"isError\":true") || !text.contains("\"result\"") {
            bail!("a call failed: {text}");
        }
        Ok(())
    }

    /// A line, or none if it is empty.
    fn read_line(&mut self) -> anyhow::Result<Option<&str>> {
        self.line.clear();
        ensure!(self.stream.read_line(&mut self.line)? > 0, "the server closed the connection");
        Ok(Some(self.line.trim_end()).filter(|line| !line.is_empty()))
    }

    fn read_body(&mut self, length: usize) -> anyhow::Result<()> {
        let before = self.body.len();
        self.body.resize(before + length, 0);
        Ok(self.stream.read_exact(&mut self.body[before..])?)
    }

    fn read_chunks(&mut self) -> anyhow::Result<()> {
        loop {
            let length = self.read_line()?.context("a chunk without a length")?;
            let length = usize::from_str_radix(length, 16)?;
            self.read_body(length)?;
            ensure!(self.read_line()?.is_none(), "a chunk that is longer than it says");
            if length == 0 {
                return Ok(());
            }
        }
    }
}

/// A call of a tool as it is sent.
fn request(address: &str, tool: &str, arguments: &Value) -> Vec<u8> {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": PROTOCOL,
        "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let body = body.to_string();
    format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\nmcp-protocol-version: {PROTOCOL}\r\n\
         mcp-method: tools/call\r\nmcp-name: {tool}\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
