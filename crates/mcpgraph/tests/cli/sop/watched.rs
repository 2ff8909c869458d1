//! A walk is seen by whatever sees runs: metrics, traces.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc;
use std::thread;

use serde_json::json;

use super::agent::{Server, Way, sop};
use crate::product::Era;

const DESK: &str = "examples/order-desk.md";

/// Walks to where a tool is called, and on.
fn walk(server: &mut Server) {
    let mut agent = server.agent();
    server.load(&mut agent, DESK);
    for node in ["START", "ROUTE", "CHECK"] {
        server.go(&mut agent, node);
    }
    server.call(&mut agent, "get_order", json!({ "id": "A-100" }));
    server.go(&mut agent, "IS_PENDING");
}

#[test]
fn a_walk_is_counted() {
    let mut server = Server::start(sop(&[DESK, "--no-history"]), Way::Http(Era::Modern));
    walk(&mut server);
    let Server::Http(listening, _) = &server else { panic!("HTTP") };
    let mut answer = String::new();
    let head = format!("GET /metrics HTTP/1.1\r\n{}", listening.host());
    let mut stream = listening.send(&head, &json!(null));
    stream.read_to_string(&mut answer).unwrap();
    for line in [
        "mcpgraph_runs_active 1",
        r#"mcpgraph_node_duration_seconds_count{tool="order_desk",node="CHECK",kind="rectangle"} 1"#,
        r#"mcpgraph_node_duration_seconds_count{tool="order_desk",node="get_order",kind="mcp"} 1"#,
    ] {
        assert!(answer.lines().any(|found| found == line), "{line} is missing in\n{answer}");
    }
    server.end();
}

#[test]
fn a_walk_is_traced() {
    let mut command = sop(&[DESK, "--no-history"]);
    let bodies = traced(&mut command);
    let mut server = Server::start(command, Way::Stdio(Era::Legacy));
    walk(&mut server);
    // The end of the conversation is the end of its span.
    server.end();
    let told: String = bodies.try_iter().collect();
    for name in ["execute_tool order_desk", "rectangle CHECK", "mcp get_order"] {
        assert!(told.contains(&format!("\"name\": \"{name}\"")), "{name} is missing in {told}");
    }
}

/// Has a command send its spans to a collector, whose requests come out as they were sent.
pub(crate) fn traced(command: &mut Command) -> mpsc::Receiver<String> {
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = collector.local_addr().unwrap();
    let (sender, requests) = mpsc::sync_channel(64);
    thread::spawn(move || {
        for stream in collector.incoming().flatten() {
            sender.send(collected(stream)).ok();
        }
    });
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", format!("http://{address}"));
    command.env("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json");
    requests
}

/// One request, which is answered with nothing.
fn collected(mut stream: TcpStream) -> String {
    let mut text = String::new();
    let mut part = [0; 16 * 1024];
    loop {
        let length = stream.read(&mut part).unwrap();
        text.push_str(&String::from_utf8_lossy(&part[..length]));
        let body = text.split_once("\r\n\r\n");
        let expected = text.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.trim().parse().ok()
        });
        if length == 0
            || body.is_some_and(|(_, body)| expected.is_some_and(|n: usize| body.len() >= n))
        {
            break;
        }
    }
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}")
        .unwrap();
    text
}
