//! What recording costs, and what reading costs.

use std::process::Command;
use std::time::Instant;
use std::{fs, iter};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::awake::Awake;
use super::processors::round_trip;
use super::report::{Report, median};
use super::{CALLS, Contender, LOAD};
use crate::client;
use crate::workspace::remove;

/// How often each load is measured with and without a record, in turns. The best round of each tells
/// what it costs: whatever else the machine does makes a round slower, never faster. The middle one
/// tells what that is on a machine that also does something else.
const ROUNDS: usize = 25;

/// What is left at least of the calls per second when every run is recorded.
const SHARE: f64 = 0.75;

/// How many steps the long run has, about.
const LONG_RUN_STEPS: usize = 10_000;

/// Measures with and without a record in turns, so that a busy machine disturbs both alike.
pub(super) fn measure(recorded: &Contender, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("recording");
    apart("to another processor and back", report);
    let plain = recorded.without_record();
    let decide = |index: usize| json!({ "n": index % 20 });
    throughput("decide, 64 at once", recorded, &plain, "decide", &decide, LOAD * 8, report)?;
    let echo = |_| super::echoed();
    throughput(
        "upstream call, 64 at once",
        recorded,
        &plain,
        "upstream_echo",
        &echo,
        LOAD,
        report,
    )?;
    for (name, bytes) in [("1 KiB", 1024), ("64 KiB", 64 * 1024)] {
        let carry = |index: usize| payload(index, bytes);
        let calls = if bytes > 10_000 { LOAD / 4 } else { LOAD * 2 };
        let name = format!("{name} payloads, 64 at once");
        throughput(&name, recorded, &plain, "carry", &carry, calls, report)?;
    }
    apart("  and after the figures above", report);
    forgetting(recorded, &decide, report)?;
    latency(recorded, &plain, report)?;
    size(recorded, report)?;
    show(recorded, report)
}

/// How far apart the processors are. On a rented machine that may change at any time.
fn apart(name: &str, report: &mut Report) {
    if let Some(took) = round_trip() {
        report.ours(name, "ns", took);
    }
}

/// A payload that differs from call to call.
fn payload(index: usize, bytes: usize) -> Value {
    let text: String = iter::repeat_n("0123456789abcdef", bytes / 16).collect();
    json!({ "payload": { "index": index, "text": text } })
}

fn throughput(
    name: &str,
    recorded: &Contender,
    plain: &Contender,
    tool: &str,
    arguments: &dyn Fn(usize) -> Value,
    calls: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let turns = in_turns([recorded, plain], tool, arguments, calls)?;
    let [with, without] = turns.best();
    report.at_least(&format!("calls/s recorded, {name}"), with, without, SHARE);
    let [with, without] = turns.usual();
    report.at_least("  in the middle of all rounds", with, without, SHARE);
    Ok(())
}

/// A store that is full forgets as many runs as come.
fn forgetting(
    recorded: &Contender,
    arguments: &dyn Fn(usize) -> Value,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut full = recorded.clone();
    full.arguments.extend(["--keep-runs", "100", "--keep-requests", "100"].map(str::to_owned));
    let calls = LOAD * 16;
    let [with, without] = in_turns([&full, recorded], "decide", arguments, calls)?.best();
    report.two("calls/s, old runs forgotten or not", "", with, without);
    Ok(())
}

/// The calls per second of two in each round.
struct Turns([Vec<f64>; 2]);

impl Turns {
    /// Those of their best rounds.
    fn best(&self) -> [f64; 2] {
        self.0.each_ref().map(|rounds| rounds.iter().copied().fold(0.0, f64::max))
    }

    /// Those that half of the rounds reached.
    fn usual(self) -> [f64; 2] {
        self.0.map(median)
    }
}

/// Measures two in turns, each with a store of its own every time.
fn in_turns(
    contenders: [&Contender; 2],
    tool: &str,
    arguments: &dyn Fn(usize) -> Value,
    calls: usize,
) -> anyhow::Result<Turns> {
    let mut figures: [Vec<f64>; 2] = Default::default();
    for _ in 0..ROUNDS {
        for (contender, figures) in contenders.iter().zip(&mut figures) {
            remove(&contender.runs)?;
            let mut client = contender.start()?;
            client.load(tool, arguments, calls / 8, 64)?;
            figures.push(client.load(tool, arguments, calls, 64)?.per_second);
            client.close()?;
        }
    }
    Ok(Turns(figures))
}

fn latency(recorded: &Contender, plain: &Contender, report: &mut Report) -> anyhow::Result<()> {
    let _awake = Awake::start();
    let mut clients = [recorded.start()?, plain.start()?];
    let mut times: [Vec<f64>; 2] = Default::default();
    for round in 0..CALLS {
        for (client, times) in clients.iter_mut().zip(&mut times) {
            let began = Instant::now();
            client.call("decide", json!({ "n": round % 20 }))?;
            times.push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [with, without] = times.map(median);
    report.ours("added by recording, one call", "µs", with - without);
    Ok(())
}

/// What a thousand runs take of the disk.
fn size(recorded: &Contender, report: &mut Report) -> anyhow::Result<()> {
    let apart = Contender { runs: recorded.runs.with_extension("size"), ..recorded.clone() };
    remove(&apart.runs)?;
    let mut client = apart.start()?;
    client.load("decide", &|index| json!({ "n": index % 20 }), 1000, 64)?;
    client.close()?;
    let bytes = fs::metadata(apart.runs.join("runs.db"))?.len();
    report.ours("file of 1,000 runs of six steps", "KiB", bytes as f64 / 1024.0);
    Ok(())
}

/// Showing one step of a run of ten thousand: the first, the middle and the last.
fn show(recorded: &Contender, report: &mut Report) -> anyhow::Result<()> {
    let apart = Contender { runs: recorded.runs.with_extension("long"), ..recorded.clone() };
    remove(&apart.runs)?;
    let mut client = apart.start()?;
    client.call("sum_to_n", json!({ "n": LONG_RUN_STEPS / 2 }))?;
    client.close()?;
    let runs = runs(&apart, &["ls"])?;
    let id = runs["runs"][0]["id"].as_str().context("no run was recorded")?.to_owned();
    let last = runs["runs"][0]["steps"].as_u64().context("no steps")? - 1;
    ensure!(last as usize >= LONG_RUN_STEPS, "the run has {last} steps");
    let mut figures = Vec::new();
    for step in [1, last / 2, last] {
        let mut times = Vec::new();
        for _ in 0..9 {
            let began = Instant::now();
            self::runs(&apart, &["show", &id, "--step", &step.to_string(), "--context"])?;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        figures.push(median(times));
    }
    report.within("a step of 10,000 shown, last to first", "ms", figures[2], figures[0], 2.0);
    report.ours("  and in the middle", "ms", figures[1]);
    Ok(())
}

fn runs(contender: &Contender, arguments: &[&str]) -> anyhow::Result<Value> {
    let mut command = Command::new(&contender.program);
    command.arg("runs").args(arguments).arg("--json").env(client::RUNS, &contender.runs);
    client::run_once(&mut command, "")
}

impl Contender {
    /// The same program without a record.
    pub(super) fn without_record(&self) -> Self {
        let mut arguments = self.arguments.clone();
        arguments.push("--no-history".into());
        Self { arguments, ..self.clone() }
    }
}
