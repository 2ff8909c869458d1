//! A client that writes and reads JSON-RPC over a program's pipes and knows nothing else.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::Program;

/// How long an answer may take.
const ANSWER_LIMIT: Duration = Duration::from_mins(1);

/// How long a server may take to end when its client has gone.
const END_LIMIT: Duration = Duration::from_secs(10);

/// How often the harness looks whether the server has ended.
const POLL: Duration = Duration::from_millis(20);

/// How many messages may wait to be read.
const MESSAGES_KEPT: usize = 64;

/// A program that is spoken to over its standard input and output; it is ended when this is
/// dropped.
#[derive(Debug)]
pub struct StdioClient {
    child: Child,
    stdin: Option<ChildStdin>,
    messages: Receiver<Value>,
    last_id: u64,
}

impl StdioClient {
    /// Starts a server and opens a session of the older era with it.
    ///
    /// # Panics
    /// If the program does not start or does not answer `initialize`.
    pub fn connect(program: &Program) -> Self {
        let mut client = Self::start(program.command());
        client.initialize();
        client
    }

    /// Starts a server and says nothing to it yet.
    ///
    /// # Panics
    /// If the program does not start.
    pub fn start(mut command: Command) -> Self {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child =
            child.unwrap_or_else(|error| panic!("could not start {command:?}: {error}"));
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().unwrap();
        let (sender, messages) = sync_channel(MESSAGES_KEPT);
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("a line of JSON");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { child, stdin, messages, last_id: 0 }
    }

    /// Opens a session of the older era.
    ///
    /// # Panics
    /// If the server does not answer `initialize`.
    pub fn initialize(&mut self) -> Value {
        let answer = self.request(
            "initialize",
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "testkit", "version": "1.0.0"},
            }),
        );
        assert!(answer["result"].is_object(), "initialize: {answer}");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer["result"].clone()
    }

    /// The id of the server's process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// The result of a tool call.
    ///
    /// # Panics
    /// If the answer is a protocol error.
    pub fn call_tool(&mut self, name: &str, arguments: &Value) -> Value {
        let answer = self.request("tools/call", &json!({"name": name, "arguments": arguments}));
        assert!(answer["result"].is_object(), "{name}: {answer}");
        answer["result"].clone()
    }

    /// The whole answer to a request; notifications that come before it are passed over.
    ///
    /// # Panics
    /// If there is no answer in time.
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let id = self.begin(method, params);
        loop {
            let message = self.receive();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Sends a request without waiting for its answer; gives the request's id.
    ///
    /// # Panics
    /// If the server does not read.
    pub fn begin(&mut self, method: &str, params: &Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The next message, whatever it is.
    ///
    /// # Panics
    /// If there is none in time.
    pub fn receive(&mut self) -> Value {
        let message = self.messages.recv_timeout(ANSWER_LIMIT);
        message.unwrap_or_else(|error| panic!("no message from the server: {error}"))
    }

    /// The next message if one comes within this time.
    pub fn receive_within(&mut self, limit: Duration) -> Option<Value> {
        self.messages.recv_timeout(limit).ok()
    }

    /// Goes away, as clients do: the server's standard input is closed.
    ///
    /// # Panics
    /// If the server does not end by itself in time.
    pub fn close(mut self) {
        drop(self.stdin.take());
        let closed = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(closed.elapsed() < END_LIMIT, "the server outlives its client");
            thread::sleep(POLL);
        }
    }

    /// Sends a message as it is.
    ///
    /// # Panics
    /// If the server does not read.
    pub fn send(&mut self, message: &Value) {
        let stdin = self.stdin.as_mut().expect("open until the client is dropped");
        writeln!(stdin, "{message}").expect("the server reads");
    }
}

impl Drop for StdioClient {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
