//! Command tools: what a large answer costs to read, and what a call adds to the request it makes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::report::{Report, median};
use super::{CALLS, Contender};
use crate::client;

/// How large the large answer is.
const LARGE: usize = 10 << 20;

/// How often it is asked for.
const ROUNDS: usize = 15;

/// The peer: asks for the same answer, and parses, filters and maps it, so many times; prints the
/// times in milliseconds.
const NODE: &str = "
const http = require('node:http');
const [address, rounds] = process.argv.slice(1);
const agent = new http.Agent({ keepAlive: true });
const ask = () => new Promise((resolve, reject) => {
  http.get(`http://${address}/large`, { agent }, (response) => {
    const parts = [];
    response.on('data', (part) => parts.push(part));
    response.on('end', () => resolve(Buffer.concat(parts).toString('utf8')));
  }).on('error', reject);
});
(async () => {
  const times = [];
  let found;
  for (let round = 0; round < Number(rounds) + 2; round += 1) {
    const began = performance.now();
    const tables = JSON.parse(await ask()).map((policy) => policy.table);
    found = tables.filter((table) => table.dbms === 'db_7').map((table) => table.name);
    if (round >= 2) times.push(performance.now() - began);
  }
  agent.destroy();
  console.log(JSON.stringify({ times, found: found.length }));
})();
";

/// Measures against a service on this machine that answers at once.
pub(super) fn measure(ours: &Contender, folder: &Path, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("command tools");
    let address = serve(Arc::new(large()))?;
    let path = folder.join("commands.json");
    fs::write(&path, tools(&address).to_string())?;
    let arguments = ["-g", &path.display().to_string(), "--no-history"].map(String::from).to_vec();
    let served = Contender { arguments, ..ours.clone() };
    large_answer(&served, &address, report)?;
    overhead(&served, &address, report)
}

fn large_answer(served: &Contender, address: &str, report: &mut Report) -> anyhow::Result<()> {
    let mut client = served.start()?;
    let mut times = Vec::new();
    let mut found = 0;
    for round in 0..ROUNDS + 2 {
        let began = Instant::now();
        let result = client.call("tables", json!({ "database": "db_7" }))?;
        if round >= 2 {
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        let text = result["content"][0]["text"].as_str().context("no text")?;
        found = serde_json::from_str::<Vec<Value>>(text)?.len();
    }
    let mut node = Command::new("node");
    node.args(["-e", NODE, address, &ROUNDS.to_string()]);
    let peer = client::run_once(&mut node, "")?;
    ensure!(peer["found"] == found, "the peer found {}, not {found}", peer["found"]);
    let peer = peer["times"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    report.less("10 MiB parsed, filtered, mapped", "ms", median(times), median(peer), None);
    Ok(())
}

/// One request: directly, and by a tool whose command makes it, in turns.
fn overhead(served: &Contender, address: &str, report: &mut Report) -> anyhow::Result<()> {
    let mut client = served.start()?;
    let mut direct = Connection::open(address)?;
    let mut times: [Vec<f64>; 2] = Default::default();
    for _ in 0..CALLS {
        let began = Instant::now();
        direct.get("/item/7")?;
        times[0].push(began.elapsed().as_secs_f64() * 1e6);
        let began = Instant::now();
        client.call("item", json!({ "id": 7 }))?;
        times[1].push(began.elapsed().as_secs_f64() * 1e6);
    }
    let [direct, called] = times.map(median);
    report.ours("the request of a command, directly", "µs", direct);
    report.ours("added by a command tool", "µs", called - direct);
    Ok(())
}

fn tools(address: &str) -> Value {
    let schema = |name: &str| json!({ "type": "object", "properties": { name: {} } });
    json!({
        "backend": { "http": { "url": format!("http://{address}"), "allow_hosts": [address] } },
        "tools": [
            {
                "name": "tables",
                "inputSchema": schema("database"),
                "command": {
                    "url": "/large",
                    "response_parser": {
                        "extract_path": "$[*].table",
                        "filter": { "field": "dbms", "source": "argument", "argument": "database" },
                        "map": "name"
                    }
                }
            },
            { "name": "item", "inputSchema": schema("id"), "command": { "url": "/item/{id}" } }
        ]
    })
}

/// Policies of tables, as an EdgeLake node lists them.
fn large() -> String {
    let mut text = String::from("[");
    let mut index = 0;
    while text.len() < LARGE {
        let separator = if index == 0 { "" } else { "," };
        let (name, dbms) = (format!("table_{index}"), format!("db_{}", index % 100));
        let create = format!("CREATE TABLE {name} (row_id SERIAL, value FLOAT, note VARCHAR)");
        let policy =
            json!({ "table": { "name": name, "dbms": dbms, "create": create, "size": index } });
        text.push_str(separator);
        text.push_str(&policy.to_string());
        index += 1;
    }
    text.push(']');
    text
}

/// A service on this machine, for as long as the process lives.
fn serve(large: Arc<String>) -> anyhow::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let large = Arc::clone(&large);
            // A client that goes away ends its connection.
            thread::spawn(move || drop(answer(stream, &large)));
        }
    });
    Ok(address)
}

fn answer(mut stream: TcpStream, large: &str) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    while let Some(line) = lines.next().transpose()? {
        let is_large = line.starts_with("GET /large");
        while lines.next().transpose()?.is_some_and(|header| !header.is_empty()) {}
        let body = if is_large { large } else { r#"{"id":7,"name":"tea","price":2.5}"# };
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(format!("{head}{}", if is_large { "" } else { body }).as_bytes())?;
        if is_large {
            stream.write_all(body.as_bytes())?;
        }
    }
    Ok(())
}

/// A connection that is kept, as the product keeps its own.
struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
}

impl Connection {
    fn open(address: &str) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::new(stream), address: address.to_owned() })
    }

    fn get(&mut self, path: &str) -> anyhow::Result<Value> {
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", self.address);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut length = 0;
        loop {
            let mut line = String::new();
            ensure!(self.stream.read_line(&mut line)? > 0, "the service went away");
            match line.trim_end().split_once(": ") {
                Some(("content-length", value)) => length = value.parse()?,
                None if line == "\r\n" => break,
                _ => {}
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}
