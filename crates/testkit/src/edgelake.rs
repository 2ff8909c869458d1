//! A stand-in for a node of an EdgeLake network, on a raw socket: a real node answers in ways that
//! no HTTP server library would let it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A node; it serves for as long as the program runs.
#[derive(Debug)]
pub struct EdgeLakeNode {
    port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// What a node was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The method and the path.
    pub line: String,
    /// The header `User-Agent`.
    pub user_agent: String,
    /// The header `command`.
    pub command: String,
    /// The header `destination`.
    pub destination: Option<String>,
}

/// Tables as the blockchain of a network lists them.
pub const TABLES: &str = r#"[{"table":{"name":"rand_data","dbms":"new_company","create":"CREATE TABLE rand_data(x INT)","id":"a1"}},
{"table":{"name":"ping_sensor","dbms":"new_company","create":"CREATE TABLE ping_sensor(x INT)","id":"a2"}},
{"table":{"name":"other","dbms":"test","create":"CREATE TABLE other(x INT)","id":"a3"}}]"#;

/// An error of a node.
const WRONG_DBMS: &str = r#"{"method": "get", "node": "127.0.0.1", "err_code": 5, "err_text": "Wrong DBMS Name or DBMS not connected", "local_msg": "no such database"}"#;

impl EdgeLakeNode {
    /// Starts a node on a free port.
    ///
    /// # Panics
    /// If there is no free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let seen = Arc::clone(&asked);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                thread::spawn(move || serve(stream, &seen));
            }
        });
        Self { port, asked }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Everything it was asked so far.
    ///
    /// # Panics
    /// If another thread panicked while it asked.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Answers one request. A client that goes away is its own business.
fn serve(mut stream: TcpStream, seen: &Mutex<Vec<Asked>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(line)) = lines.next() else { return };
    let mut asked =
        Asked { line, user_agent: String::new(), command: String::new(), destination: None };
    for header in lines.map_while(Result::ok).take_while(|line| !line.is_empty()) {
        let Some((name, value)) = header.split_once(':') else { continue };
        let value = value.trim().to_owned();
        match name.to_ascii_lowercase().as_str() {
            "user-agent" => asked.user_agent = value,
            "command" => asked.command = value,
            "destination" => asked.destination = Some(value),
            _ => {}
        }
    }
    let answer = answer(&asked);
    seen.lock().unwrap().push(asked);
    drop(stream.write_all(&answer));
}

/// What a node answers. The commands beginning with `fail` give the four shapes of its errors.
fn answer(asked: &Asked) -> Vec<u8> {
    let command = asked.command.as_str();
    if !asked.user_agent.to_ascii_lowercase().starts_with("anylog") {
        return whole("200 OK", "text/html", "");
    }
    match command {
        "get status" => whole("200 OK", "text", "AnyLog@127.0.0.1:32548 running\r\n"),
        "get noisy" => {
            whole("200 OK", "text", "EL > \r\n[From Node 127.0.0.1:32548] {\"cpu\": 3}\r\nEL > ")
        }
        "blockchain get table bring.json" => whole("200 OK", "json", TABLES),
        // The error in the words after the status, and a body that is not in chunks.
        "fail reason" => {
            format!("HTTP/1.1 400 {WRONG_DBMS}\r\nTransfer-Encoding: chunked\r\n\r\nbroken")
                .into_bytes()
        }
        "fail body" => whole(
            "400 Bad Request",
            "json",
            r#"{"err_code": 156, "err_text": "Wrong HTTP method used"}"#,
        ),
        "fail ok" => {
            whole("200 OK", "json", r#"{"err_code": 45, "err_text": "No network members"}"#)
        }
        "fail truncated" => {
            b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"Query\":[{\"a\": 1}".to_vec()
        }
        _ if command.starts_with("run client") => whole(
            "400 Bad Request",
            "json",
            r#"{"err_code": 156, "err_text": "Wrong HTTP method used"}"#,
        ),
        // No rows, and then no key for them.
        _ if command.contains("FROM empty") => {
            whole("200 OK", "json", r#"{"Statistics":[{"Count":0,"Time":"00:00:00","Nodes":1}]}"#)
        }
        _ if command.starts_with("sql ") => whole(
            "200 OK",
            "json",
            "{\"Query\":[{\"row_id\":1,\"value\":\"a\"},{\"row_id\":2,\"value\":\"b\"}],\n\"Statistics\":[{\"Count\":2,\"Time\":\"00:00:00\",\"Nodes\":1}]}",
        ),
        _ => whole("200 OK", "text", &format!("did: {command}")),
    }
}

fn whole(status: &str, media_type: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}
