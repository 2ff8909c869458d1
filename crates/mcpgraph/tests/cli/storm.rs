//! Two thousand clients that come and are gone at any moment: no process, no open file and no memory
//! of them is left.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use mcpgraph_testkit::observe::is_running;
use serde_json::{Value, json};

use crate::http::{Listening, initialize, modern_call};
use crate::life::descendants;
use crate::product::{BINARY, command, eventually};

/// How many clients come over HTTP, and how many of them before memory is looked at.
const OVER_HTTP: usize = 1900;
const WARM: usize = 400;

/// How many come over stdio, each with a server of its own, which is a process.
const OVER_STDIO: usize = 100;

/// How many come at once.
const AT_ONCE: usize = 8;

/// How much more memory the server may have after the storm than after its first gusts.
const MAX_GROWTH_KIB: u64 = 24 * 1024;

/// A graph with a server behind it and a tool that calls it.
fn graph(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("graph.yaml");
    let graph = json!({
        "server": { "name": "storm", "version": "1" },
        "mcpServers": { "demo": { "command": BINARY, "args": ["demo-server"], "expose": true } },
        "tools": [{
            "name": "through", "inputSchema": { "type": "object" },
            "nodes": [
                { "id": "in", "type": "entry", "next": "call" },
                { "id": "call", "type": "mcp", "server": "demo", "tool": "slow",
                  "args": { "ms": 50, "steps": 5 }, "next": "out" },
                { "id": "out", "type": "exit" }
            ]
        }]
    });
    fs::write(&file, graph.to_string()).unwrap();
    file
}

/// Numbers that look random and are the same every time.
fn luck(seed: usize) -> impl FnMut(usize) -> usize {
    let mut state = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below.max(1) as u64).unwrap()
    }
}

/// Does something so many times, a few at once.
fn at_once(count: usize, what: impl Fn(usize) + Sync) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    what(number);
                }
            });
        }
    });
}

/// What a client may be doing when it is killed.
fn request(server: &Listening, choice: usize) -> String {
    let (headers, body) = match choice {
        0 => (String::new(), initialize()),
        1 => modern_call(1, "demo__slow", json!({ "ms": 200, "steps": 20 })),
        2 => modern_call(1, "through", json!({})),
        3 => modern_call(1, "demo__echo", json!({ "value": "x".repeat(50_000) })),
        _ => {
            let (headers, mut body) = modern_call(1, "", json!({}));
            body["method"] = json!("subscriptions/listen");
            body["params"]["notifications"] = json!({ "toolsListChanged": true });
            let headers = headers.replace("tools/call", "subscriptions/listen");
            (headers.replace("\r\nMcp-Name: ", ""), body)
        }
    };
    let (host, body) = (server.host(), body.to_string());
    let headers = if headers.is_empty() { headers } else { format!("{headers}\r\n") };
    format!(
        "POST /mcp HTTP/1.1\r\n{host}\r\n{headers}Content-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// A client over HTTP, killed while it speaks, waits or listens.
fn over_http(server: &Listening, number: usize) {
    let mut luck = luck(number);
    let text = request(server, luck(5));
    let mut stream = TcpStream::connect(server.address()).unwrap();
    let said = if luck(3) == 0 { luck(text.len()) } else { text.len() };
    // The server may have had enough of it already.
    drop(stream.write_all(&text.as_bytes()[..said]));
    if said == text.len() && luck(2) == 0 {
        stream.set_read_timeout(Some(Duration::from_millis(1 + luck(40) as u64))).unwrap();
        drop(stream.read(&mut [0; 512]));
    }
    if luck(2) == 0 {
        drop(stream.shutdown(Shutdown::Both));
    }
}

/// A client over stdio, killed together with its server, or leaving it alone.
fn over_stdio(graph: &Path, data: &Path, mark: &str, number: usize) {
    let mut luck = luck(number + 1_000_000);
    let mut served = command()
        .arg("-g")
        .arg(graph)
        .arg("--data")
        .arg(data)
        .env("STORM", mark)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let call = |id: u64, tool: &str| -> Value {
        let params = json!({ "name": tool, "arguments": { "ms": 300 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    let lines = [
        initialize(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        call(2, "demo__slow"),
        call(3, "through"),
    ];
    let text = lines.map(|line| line.to_string()).join("\n") + "\n";
    let mut input = served.stdin.take().unwrap();
    drop(input.write_all(&text.as_bytes()[..luck(text.len() + 1)]));
    std::thread::sleep(Duration::from_millis(luck(120) as u64));
    if luck(2) == 0 {
        served.kill().unwrap();
    } else {
        drop((input, served.stdout.take()));
    }
    served.wait().unwrap();
}

fn open_files(process: u32) -> usize {
    fs::read_dir(format!("/proc/{process}/fd")).unwrap().count()
}

fn resident_kib(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The processes that were started with a mark in their environment.
fn marked(mark: &str) -> Vec<String> {
    let wanted = format!("STORM={mark}\0");
    let processes = fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|entry| {
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            environment.windows(wanted.len()).any(|window| window == wanted.as_bytes())
        })
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|id| is_running(id))
        .collect()
}

#[test]
fn clients_over_http_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = graph(folder.path());
    let data = folder.path().join("data");
    let server = Listening::on(&file, &["--data", data.to_str().unwrap()]);
    let well = |server: &Listening| {
        let (headers, body) = modern_call(1, "demo__echo", json!({ "value": "well" }));
        let (status, rest) = server.post(&format!("{}\r\n{headers}", server.host()), &body);
        assert!(status.contains("200") && rest.contains("well"), "{status} {rest}");
    };
    well(&server);
    let process = server.process();
    let children = descendants(process);
    let files = open_files(process);
    at_once(WARM, |number| over_http(&server, number));
    let memory = resident_kib(process);
    at_once(OVER_HTTP - WARM, |number| over_http(&server, WARM + number));
    well(&server);
    // The store of runs opens a few more files than it begins with.
    eventually("every file is closed", || open_files(process) <= files + 8);
    let mut left = descendants(process);
    left.retain(|child| !children.contains(child));
    assert!(left.is_empty(), "{left:?} besides {children:?}");
    let grown = resident_kib(process).saturating_sub(memory);
    assert!(grown < MAX_GROWTH_KIB, "{grown} KiB more than {memory} KiB");
}

#[test]
fn clients_over_stdio_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = graph(folder.path());
    let data = folder.path().join("data");
    let mark = folder.path().to_string_lossy().into_owned();
    at_once(OVER_STDIO, |number| over_stdio(&file, &data, &mark, number));
    eventually("every process has ended", || marked(&mark).is_empty());
}
