//! The product as one of several processes that serve HTTP, which can be killed, paused and woken.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use serde_json::{Value, json};

/// How long the answer to a call may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(3);

/// A process that serves MCP over HTTP; it is killed when this is dropped.
#[derive(Debug)]
pub struct Replica {
    child: Child,
    address: String,
    said: Arc<Mutex<Vec<String>>>,
}

impl Replica {
    /// Starts a command that serves over HTTP, and waits until it says where.
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let said = Arc::new(Mutex::new(Vec::new()));
        let address = loop {
            let Some(Ok(line)) = lines.next() else {
                panic!("it ended before it served: {:?}", said.lock().unwrap());
            };
            if let Some(address) = line.trim().strip_prefix("serving MCP at http://") {
                break address.trim_end_matches("/mcp").to_owned();
            }
            said.lock().unwrap().push(line);
        };
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                heard.lock().unwrap().push(line);
            }
        });
        Self { child, address, said }
    }

    /// Where it listens: `127.0.0.1:4000`.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// What it wrote to standard error besides.
    ///
    /// # Panics
    /// If a thread that reads it did.
    pub fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }

    /// Calls a tool as a client of the newest protocol does; what comes back is the result, or none
    /// if the process went away before.
    pub fn call(&self, tool: &str, arguments: &Value) -> JoinHandle<Option<Value>> {
        let (address, tool, arguments) = (self.address.clone(), tool.to_owned(), arguments.clone());
        thread::spawn(move || call(&address, &tool, &arguments))
    }

    /// Ends it as nothing can prevent.
    ///
    /// # Panics
    /// If it cannot be ended.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Stops it where it is, until it is woken.
    pub fn pause(&self) {
        self.signal("-STOP");
    }

    /// Lets it go on.
    pub fn wake(&self) {
        self.signal("-CONT");
    }

    /// Asks it to end.
    ///
    /// # Panics
    /// If nobody can wait for it.
    pub fn terminate(mut self) {
        self.signal("-TERM");
        self.child.wait().unwrap();
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.child.id().to_string()]).status();
        assert!(status.unwrap().success(), "kill {signal} failed");
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        // It may be gone.
        self.child.kill().unwrap_or_default();
        drop(self.child.wait());
    }
}

/// Calls a tool of a server at an address; none if the connection ends without an answer.
pub fn call(address: &str, tool: &str, arguments: &Value) -> Option<Value> {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }})
    .to_string();
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(ANSWER_LIMIT)).ok()?;
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nMCP-Protocol-Version: 2026-07-28\r\n\
         Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    // The answer is the last thing that looks like one, whether it came as an event or alone.
    let message = answer.lines().rev().find_map(|line| {
        let line = line.strip_prefix("data:").unwrap_or(line).trim();
        serde_json::from_str::<Value>(line).ok().filter(|message| message["id"] == 1)
    })?;
    Some(message.get("result").unwrap_or(&message["error"]).clone())
}
