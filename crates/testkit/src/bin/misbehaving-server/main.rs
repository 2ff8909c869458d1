//! A server over stdio that does what servers should not: it hangs, floods, lies, dies at a chosen
//! step, prints noise, starts slowly, ignores the end of its input, leaves children behind.
//!
//! Without options it is a small well-behaved server of the legacy era; each option takes away
//! one virtue, and some of its tools misbehave when they are called. It is written without any
//! protocol library, because none would let it do this.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "it reports as programs do, and a broken pipe may end it"
)]

mod tools;

use std::{
    fs::OpenOptions,
    io::{self, BufRead, Write},
    path::PathBuf,
    process::{Command, Stdio, exit},
    thread::sleep,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use serde_json::{Value, json};

/// A server over stdio that misbehaves on demand
#[derive(Parser)]
struct Cli {
    /// Which protocol eras it speaks
    #[arg(long, value_enum, default_value = "legacy")]
    era: Era,
    /// What it does when it is asked `server/discover`
    #[arg(long, value_enum)]
    on_discover: Option<Trick>,
    /// What it does when it is asked `initialize`
    #[arg(long, value_enum)]
    on_initialize: Option<Trick>,
    /// What it does when it is asked for its tools
    #[arg(long, value_enum)]
    on_list: Option<Trick>,
    /// Waits this long before it reads anything
    #[arg(long, value_name = "MS", default_value_t = 0)]
    slow_start: u64,
    /// Prints lines that are no messages
    #[arg(long)]
    noise: bool,
    /// Goes on running when its input ends
    #[arg(long)]
    stubborn: bool,
    /// Starts a process of its own that holds its output open, and writes its id to this file
    #[arg(long, value_name = "FILE")]
    grandchild: Option<PathBuf>,
    /// Writes every line it reads to this file
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Writes its own process id to this file, one line for every start
    #[arg(long, value_name = "FILE")]
    starts: Option<PathBuf>,
    /// Ends at once with this exit code, after a line on stderr
    #[arg(long, value_name = "CODE")]
    broken: Option<i32>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Era {
    Legacy,
    Modern,
    Both,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum Trick {
    /// Ends the process.
    Exit,
    /// Answers nothing.
    Hang,
    /// Answers something else.
    Garbage,
    /// Answers with a line that is no JSON.
    Noise,
    /// Answers with 100 MiB.
    Huge,
    /// Answers with an error, then ends.
    ErrorThenExit,
    /// Answers with a version nobody knows.
    Future,
    /// Answers with an error that tells its secret.
    Blab,
    /// Answers with entries that are no tools beside one that is.
    Odd,
}

fn main() {
    let cli = Cli::parse();
    if let Some(file) = &cli.starts {
        append(file, &std::process::id().to_string());
    }
    if let Some(code) = cli.broken {
        eprintln!("broken from the start; the key is {}", secret());
        exit(code);
    }
    if let Some(file) = &cli.grandchild {
        append(file, &leave_child().to_string());
    }
    sleep(Duration::from_millis(cli.slow_start));
    let lines = io::stdin().lock().lines();
    let mut server = Server { cli, lines, more: Vec::new(), listeners: Vec::new() };
    while let Some(message) = server.read() {
        server.handle(&message);
    }
    if server.cli.stubborn {
        sleep(Duration::from_hours(1));
    }
}

/// Starts a process that is never waited for, and gives its id.
fn leave_child() -> u32 {
    Command::new("sleep").arg("600").stdin(Stdio::null()).spawn().unwrap().id()
}

/// The server and its input.
struct Server {
    cli: Cli,
    lines: io::Lines<io::StdinLock<'static>>,
    /// The tools it has beside the usual ones.
    more: Vec<String>,
    /// The requests of clients of the newer era that listen.
    listeners: Vec<Value>,
}

impl Server {
    /// The next message; none at the end of the input.
    fn read(&mut self) -> Option<Value> {
        let line = self.lines.next()?.ok()?;
        if let Some(file) = &self.cli.record {
            append(file, &line);
        }
        Some(serde_json::from_str(&line).unwrap())
    }

    fn handle(&mut self, message: &Value) {
        if self.cli.noise {
            print_line("Server running. This line is no message.");
            print_line("{\"neither\": \"is this\"}");
        }
        let id = &message["id"];
        match message["method"].as_str() {
            Some("server/discover") if self.cli.on_discover.is_some() => {
                trick(self.cli.on_discover, id);
            }
            Some("server/discover") if self.cli.era != Era::Legacy => answer(
                id,
                &json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": capabilities(),
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "misbehaving", "version": "1"}},
                }),
            ),
            Some("initialize") if self.cli.on_initialize.is_some() => {
                trick(self.cli.on_initialize, id);
            }
            Some("initialize") if self.cli.era != Era::Modern => answer(
                id,
                &json!({
                    "protocolVersion": "2025-11-25",
                    "capabilities": capabilities(),
                    "serverInfo": {"name": "misbehaving", "version": "1"},
                    "instructions": "Expect the worst.",
                }),
            ),
            Some("tools/list") if self.cli.on_list.is_some() => trick(self.cli.on_list, id),
            Some("tools/list") => answer(id, &tools::list(&self.more, message)),
            Some("tools/call") => tools::call(self, message),
            Some("ping") => answer(id, &json!({})),
            Some("resources/subscribe" | "resources/unsubscribe") => answer(id, &json!({})),
            Some("subscriptions/listen") if self.cli.era != Era::Legacy => {
                self.listeners.push(id.clone());
                notify(
                    "notifications/subscriptions/acknowledged",
                    &json!({"notifications": message["params"]["notifications"], "_meta": subscription(id)}),
                );
            }
            Some(method) if !id.is_null() => {
                refuse(id, -32601, &format!("Method not found: {method}"));
            }
            _ => {}
        }
    }
}

/// The `_meta` that says which listener is told something.
fn subscription(id: &Value) -> Value {
    json!({"io.modelcontextprotocol/subscriptionId": id})
}

fn capabilities() -> Value {
    json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}})
}

fn trick(trick: Option<Trick>, id: &Value) {
    match trick {
        Some(Trick::Exit) => {
            eprintln!("unexpected request");
            exit(3);
        }
        Some(Trick::Garbage) => answer(id, &json!({"garbage": true})),
        Some(Trick::Noise) => {
            print_line(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{"));
        }
        Some(Trick::Huge) => {
            let tool = json!({"name": "x".repeat(100 << 20), "inputSchema": {"type": "object"}});
            answer(id, &json!({"tools": [tool]}));
        }
        Some(Trick::ErrorThenExit) => {
            refuse(id, -32600, "expected initialize");
            exit(4);
        }
        Some(Trick::Future) => answer(
            id,
            &json!({"protocolVersion": "2099-01-01", "supportedVersions": ["2099-01-01"]}),
        ),
        Some(Trick::Blab) => send(&json!({
            "jsonrpc": "2.0",
            "id": id,
            "error": {"code": -32000, "message": format!("no entry with {}", secret()), "data": secret()},
        })),
        Some(Trick::Odd) => {
            let tool = json!({"name": "fine", "inputSchema": {"type": "object"}});
            answer(id, &json!({"tools": [5, null, {}, tool, {"name": 7}]}));
        }
        Some(Trick::Hang) | None => {}
    }
}

/// What it was given and must not be told by others.
fn secret() -> String {
    std::env::var("SECRET").unwrap_or_default()
}

/// Sends the answer to a request.
fn answer(id: &Value, result: &Value) {
    send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
}

/// Sends an error as the answer to a request.
fn refuse(id: &Value, code: i64, message: &str) {
    send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}));
}

/// Sends a notification.
fn notify(method: &str, params: &Value) {
    send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
}

fn send(message: &Value) {
    print_line(&message.to_string());
}

/// Writes a line to stdout.
fn print_line(line: &str) {
    let mut out = io::stdout().lock();
    out.write_all(line.as_bytes()).unwrap();
    out.write_all(b"\n").unwrap();
    out.flush().unwrap();
}

fn append(file: &PathBuf, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
    writeln!(file, "{line}").unwrap();
}
