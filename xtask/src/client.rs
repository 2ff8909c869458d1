//! The smallest MCP client that can measure: one process, lines in, lines out.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, bail, ensure};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

/// The variable that tells mcpgraph where to keep runs.
pub(crate) const RUNS: &str = "MCPGRAPH_DATA";

/// A server under measurement. It is killed when dropped.
pub(crate) struct Client {
    child: Child,
    /// Taken when the client goes away.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// The line that was read last.
    line: String,
    next_id: u64,
}

/// What a load came to.
pub(crate) struct Load {
    pub(crate) calls: usize,
    pub(crate) failed: usize,
    pub(crate) per_second: f64,
}

/// What tells whether a call succeeded.
#[derive(Deserialize)]
struct Answer {
    id: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
    result: Option<Answered>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    #[serde(default)]
    is_error: bool,
}

impl Answer {
    fn is_success(&self) -> bool {
        let is_error = self.result.as_ref().is_some_and(|result| result.is_error);
        self.error.is_none() && !is_error
    }
}

impl Client {
    /// Starts a server that keeps its runs in this folder, not among the user's.
    pub(crate) fn start(program: &Path, arguments: &[String], runs: &Path) -> anyhow::Result<Self> {
        let mut child = Command::new(program)
            .args(arguments)
            .env(RUNS, runs)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("could not start {}", program.display()))?;
        let input = child.stdin.take();
        let output = BufReader::with_capacity(1 << 16, child.stdout.take().context("no stdout")?);
        let mut client = Self { child, input, output, line: String::new(), next_id: 0 };
        let info = json!({ "name": "bench", "version": "1" });
        client.request(
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info }),
        )?;
        client.write(&line(&json!({
            "jsonrpc": "2.0", "method": "notifications/initialized"
        }))?)?;
        Ok(client)
    }

    /// Makes a request and gives its result.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> anyhow::Result<Value> {
        self.send(method, params)?;
        let mut answer = self.answer()?;
        if answer["error"].is_object() {
            bail!("`{method}` failed: {}", answer["error"]);
        }
        Ok(answer["result"].take())
    }

    /// Calls a tool that must succeed.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> anyhow::Result<Value> {
        let result = self.request("tools/call", json!({ "name": tool, "arguments": arguments }))?;
        if result["isError"] == true {
            bail!("`{tool}` failed: {result}");
        }
        Ok(result)
    }

    /// Makes many calls, so many at once.
    ///
    /// What is sent is made before, answers that came together are followed by as many calls in one
    /// piece, and all are looked through at the end: the client stands for many that do not wait for
    /// each other, shares the machine with the server, and is not what is measured.
    pub(crate) fn load(
        &mut self,
        tool: &str,
        arguments: &dyn Fn(usize) -> Value,
        calls: usize,
        at_once: usize,
    ) -> anyhow::Result<Load> {
        let mut lines = Lines::default();
        for index in 0..calls {
            let params = json!({ "name": tool, "arguments": arguments(index) });
            lines.push(&self.line("tools/call", params)?);
        }
        let began = Instant::now();
        let mut sent = self.follow(&lines, 0, at_once)?;
        let (mut came, mut answers) = (0, Vec::new());
        while came < calls {
            let read = self.output.fill_buf()?;
            ensure!(!read.is_empty(), "the server ended after {came} of {calls} answers");
            let (length, ended) = (read.len(), read.split(|byte| *byte == b'\n').count() - 1);
            answers.extend_from_slice(read);
            self.output.consume(length);
            came += ended;
            sent += self.follow(&lines, sent, ended)?;
        }
        let per_second = calls as f64 / began.elapsed().as_secs_f64();
        let (mut answered, mut failed) = (0, 0);
        for line in answers.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let answer: Answer = serde_json::from_slice(line)?;
            answered += usize::from(answer.id.is_some());
            failed += usize::from(!answer.is_success());
        }
        ensure!(answered == calls, "{answered} of {calls} calls were answered");
        Ok(Load { calls, failed, per_second })
    }

    /// Sends so many lines after those that were sent, as long as there are some; how many.
    fn follow(&mut self, lines: &Lines, sent: usize, count: usize) -> anyhow::Result<usize> {
        let count = count.min(lines.ends.len() - sent);
        if count > 0 {
            self.write(lines.piece(sent, count))?;
        }
        Ok(count)
    }

    /// What the process holds in memory, in MiB.
    pub(crate) fn resident_mib(&self) -> anyhow::Result<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).context("no VmRSS")?;
        let kib = line.split_whitespace().nth(1).context("no number")?.parse::<f64>()?;
        Ok(kib / 1024.0)
    }

    /// Goes away and waits for the server to end by itself.
    pub(crate) fn close(mut self) -> anyhow::Result<()> {
        drop(self.input.take());
        let status = self.child.wait()?;
        ensure!(status.success(), "the server failed: {status}");
        Ok(())
    }

    fn send(&mut self, method: &str, params: Value) -> anyhow::Result<()> {
        let line = self.line(method, params)?;
        self.write(&line)
    }

    /// A request of its own number, as it is sent.
    fn line(&mut self, method: &str, params: Value) -> anyhow::Result<Vec<u8>> {
        self.next_id += 1;
        line(&json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params }))
    }

    fn write(&mut self, lines: &[u8]) -> anyhow::Result<()> {
        let input = self.input.as_mut().context("no stdin")?;
        input.write_all(lines)?;
        input.flush()?;
        Ok(())
    }

    /// The next answer; notifications in between are passed over.
    fn answer(&mut self) -> anyhow::Result<Value> {
        loop {
            self.read_line()?;
            let message: Value = serde_json::from_str(&self.line)?;
            if message.get("id").is_some() {
                return Ok(message);
            }
        }
    }

    fn read_line(&mut self) -> anyhow::Result<()> {
        self.line.clear();
        ensure!(self.output.read_line(&mut self.line)? > 0, "the server ended");
        Ok(())
    }
}

/// What is sent, made before: so many lines of it are one piece.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Where each ends.
    ends: Vec<usize>,
}

impl Lines {
    fn push(&mut self, line: &[u8]) {
        self.text.extend_from_slice(line);
        self.ends.push(self.text.len());
    }

    /// So many of them from one on; there are as many.
    fn piece(&self, first: usize, count: usize) -> &[u8] {
        let begin = if first == 0 { 0 } else { self.ends[first - 1] };
        &self.text[begin..self.ends[first + count - 1]]
    }
}

/// A message as it is sent.
fn line(message: &Value) -> anyhow::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended by itself.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Runs a command that reads `input` and prints one JSON value.
pub(crate) fn run_once(command: &mut Command, input: &str) -> anyhow::Result<Value> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .spawn()
        .context("could not start the command")?;
    // It reads all of its input before it prints anything.
    child.stdin.take().context("no stdin")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}
