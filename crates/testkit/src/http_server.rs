//! A program that serves HTTP for as long as a test needs it.

use std::{
    fs::File,
    io::{Read, Seek},
    net::{Ipv4Addr, TcpListener, TcpStream},
    process::{Child, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::Program;

/// How long a server may take to listen; Python under load needs many seconds.
const START_LIMIT: Duration = Duration::from_mins(1);

/// How often the harness looks whether the server listens.
const POLL: Duration = Duration::from_millis(20);

/// A running server; it is ended when this is dropped.
#[derive(Debug)]
pub struct HttpServer {
    child: Child,
    port: u16,
}

impl HttpServer {
    /// Starts the program that `make` returns for a free port, and waits until it listens.
    ///
    /// # Panics
    /// If it ends, or does not listen in time; what it wrote to standard error is in the message.
    pub fn start(make: impl FnOnce(u16) -> Program) -> Self {
        let port = free_port();
        let program = make(port);
        let mut log = tempfile::tempfile().unwrap();
        let child = program
            .command()
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.try_clone().unwrap())
            .spawn();
        let child = child.unwrap_or_else(|error| panic!("could not start {program:?}: {error}"));
        let mut server = Self { child, port };
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            let ended = server.child.try_wait().unwrap();
            if ended.is_some() || started.elapsed() > START_LIMIT {
                let log = contents(&mut log);
                panic!("{program:?} does not listen (ended: {ended:?})\n{log}");
            }
            sleep(POLL);
        }
        server
    }

    /// The address of a path on the server.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The server as an entry of `mcpServers`, the way clients write it.
    pub fn to_json(&self) -> Value {
        json!({"type": "http", "url": self.url("/mcp")})
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

fn contents(log: &mut File) -> String {
    let mut text = String::new();
    log.rewind().unwrap();
    log.read_to_string(&mut text).unwrap();
    text
}
