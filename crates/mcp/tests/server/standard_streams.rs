//! The standard streams of a real process, of each kind a client may connect it by.

use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

use mcpgraph_mcp::server::{serve_stdio, standard_streams};
use serde_json::{Value, json};

use super::service::Fixture;
use super::wire::modern_call;

/// Set in the process that is the server.
const IS_SERVER: &str = "MCPGRAPH_TEST_IS_SERVER";

/// Not a test: what the process below runs.
#[test]
fn server() {
    if std::env::var_os(IS_SERVER).is_none() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let (reader, writer) = standard_streams();
        serve_stdio(&Fixture::new().server, reader, writer).await.unwrap();
    });
}

/// This test binary as a server. What the test harness itself prints are lines that are no JSON.
fn command(input: impl Into<Stdio>, output: impl Into<Stdio>) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "standard_streams::server", "--nocapture"]);
    command.env(IS_SERVER, "1").stdin(input).stdout(output);
    command
}

fn echo(number: usize) -> Value {
    modern_call(number, "echo", json!({"text": "x".repeat(number * 1000)}))
}

fn is_answer(line: &str, number: usize) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|answer| {
        answer["id"] == number
            && answer["result"]["content"][0]["text"].as_str().unwrap().len() == number * 1000
    })
}

/// Asks again and again, ends the input, and sees the process end.
fn converse(mut input: impl Write, output: impl Read, mut child: std::process::Child) {
    let mut lines = BufReader::new(output).lines();
    for number in 1..=100 {
        writeln!(input, "{}", echo(number)).unwrap();
        assert!(lines.any(|line| is_answer(&line.unwrap(), number)), "{number}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn pipes() {
    let mut child = command(Stdio::piped(), Stdio::piped()).spawn().unwrap();
    converse(child.stdin.take().unwrap(), child.stdout.take().unwrap(), child);
}

#[test]
fn sockets() {
    let (input, far_input) = UnixStream::pair().unwrap();
    let (output, far_output) = UnixStream::pair().unwrap();
    let mut command = command(OwnedFd::from(far_input), OwnedFd::from(far_output));
    let child = command.spawn().unwrap();
    // The command keeps the far ends open as long as it is there.
    drop(command);
    converse(input, output, child);
}

#[test]
fn files() {
    let mut input = tempfile::tempfile().unwrap();
    let mut output = tempfile::tempfile().unwrap();
    writeln!(input, "{}", echo(7)).unwrap();
    input.rewind().unwrap();
    let status = command(input, output.try_clone().unwrap()).status().unwrap();
    assert!(status.success());
    output.rewind().unwrap();
    assert!(BufReader::new(output).lines().any(|line| is_answer(&line.unwrap(), 7)));
}
