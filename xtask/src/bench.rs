//! `cargo xtask bench`: mcpgraph and its npm peer in one run, as ratios.
//!
//! Both are driven over stdio by the same client with the same graphs, one after the other in each
//! round, so that a busy machine disturbs both alike. Figures are medians over rounds, unless the part
//! says otherwise.

mod awake;
mod commands;
mod http;
mod procedures;
mod processors;
mod recording;
mod replicas;
mod report;
mod resumption;
mod routing;
mod workflows;

use std::path::{Path, PathBuf};
use std::{fs, process::Command, time::Instant};

use anyhow::Context;
use serde_json::{Value, json};

use self::awake::Awake;
use self::report::{Report, median};
use crate::client::{self, Client};
use crate::command::{run_quietly, run_visibly};
use crate::workspace::{Workspace, cargo};

/// How often each start is measured.
const STARTS: usize = 7;
/// How often each call is measured one at a time.
const CALLS: usize = 2000;
/// How many calls are made for a figure of calls per second.
const LOAD: usize = 4000;
/// What is fair to ask of the peer, which takes milliseconds for a call.
const PEER_SHARE: usize = 10;

/// One of the two programs.
#[derive(Clone)]
struct Contender {
    program: PathBuf,
    arguments: Vec<String>,
    runs: PathBuf,
}

impl Contender {
    fn start(&self) -> anyhow::Result<Client> {
        Client::start(&self.program, &self.arguments, &self.runs)
    }
}

/// What can be measured alone.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Part {
    /// Starts, memory and calls, beside the npm package
    Calls,
    /// What a record of every run costs
    Recording,
    /// Several processes on one store
    Replicas,
    /// From the death of a process to the next step of its run on another
    Resumption,
    /// Calls through the router
    Routing,
    /// Calls through workflows and hooks
    Workflows,
    /// Procedures of any size
    Procedures,
    /// Command tools, beside Node.js and the request itself
    Commands,
    /// Expressions in one process, beside the reference and `jsonata-core`
    Jsonata,
}

/// What is measured where nothing is named: `jsonata` takes a build of its own.
const USUAL: [Part; 8] = [
    Part::Calls,
    Part::Recording,
    Part::Replicas,
    Part::Resumption,
    Part::Routing,
    Part::Workflows,
    Part::Procedures,
    Part::Commands,
];

/// Builds unless a program is named, measures, prints.
pub(crate) fn run(
    workspace: &Workspace,
    parts: &[Part],
    program: Option<PathBuf>,
) -> anyhow::Result<()> {
    let parts = if parts.is_empty() { &USUAL } else { parts };
    if parts.contains(&Part::Jsonata) {
        jsonata(workspace)?;
    }
    if parts.iter().all(|part| *part == Part::Jsonata) {
        return Ok(());
    }
    let folder = workspace.target.join("bench-env");
    fs::create_dir_all(&folder)
        .with_context(|| format!("could not create {}", folder.display()))?;
    let product = program.map_or_else(|| build(workspace), Ok)?;
    let graph = write_graph(workspace, &folder, &product)?;
    let ours = Contender {
        program: product,
        arguments: vec!["-g".into(), graph.display().to_string()],
        runs: folder.join("runs"),
    };
    let mut report = Report::new();
    for part in parts {
        // Where many calls are made at once nothing sleeps, and whoever spins is in the way.
        let _awake = (*part != Part::Recording).then(Awake::start);
        match part {
            Part::Calls => calls(workspace, &folder, &ours, &mut report)?,
            Part::Recording => {
                report.part("with a record of every run", "recorded", "not recorded");
                recording::measure(&ours, &mut report)?;
            }
            Part::Replicas => {
                report.part("replicas", "mcpgraph", "beside");
                replicas::measure(workspace, &ours, &mut report)?;
            }
            Part::Resumption => {
                report.part("durable runs of a replica that dies", "mcpgraph", "");
                resumption::measure(workspace, &ours, &mut report)?;
            }
            Part::Routing => {
                report.part("routing", "through", "directly");
                routing::measure(&ours, &folder, &mut report)?;
            }
            Part::Workflows => {
                report.part("through workflows", "mcpgraph", "");
                workflows::measure(&ours, &folder, &mut report)?;
            }
            Part::Procedures => {
                report.part("procedures", "large", "usual");
                procedures::measure(&ours, &folder, &mut report)?;
            }
            Part::Commands => {
                report.part("command tools", "mcpgraph", "node");
                commands::measure(&ours, &folder, &mut report)?;
            }
            // It was measured before, without the program.
            Part::Jsonata => {}
        }
    }
    report.print();
    Ok(())
}

/// Builds the program as users have it.
fn build(workspace: &Workspace) -> anyhow::Result<PathBuf> {
    eprintln!("building mcpgraph (release)");
    run_visibly(
        cargo()
            .args(["build", "--release", "--package", "mcpgraph", "--bin", "mcpgraph"])
            .current_dir(&workspace.root),
    )?;
    Ok(workspace.target.join("release/mcpgraph"))
}

/// Measures the JSONata engine, which the crate's own benchmark does.
fn jsonata(workspace: &Workspace) -> anyhow::Result<()> {
    run_visibly(
        cargo()
            .args(["bench", "--package", "mcpgraph-jsonata", "--bench", "compare"])
            .current_dir(&workspace.root),
    )
}

/// Starts, memory and calls of both contenders.
fn calls(
    workspace: &Workspace,
    folder: &Path,
    ours: &Contender,
    report: &mut Report,
) -> anyhow::Result<()> {
    let peer = install_peer(workspace, folder)?;
    let theirs = Contender {
        program: "node".into(),
        arguments: [vec![peer.display().to_string()], ours.arguments.clone()].concat(),
        runs: ours.runs.clone(),
    };
    // The peer keeps no record of its calls, so neither do we where calls are compared.
    let alike = ours.without_record();
    starts(ours, &theirs, report)?;
    decide(&alike, &theirs, report)?;
    loops(&alike, &theirs, report)?;
    upstream(&alike, &theirs, report)?;
    payload(workspace, ours, report)
}

fn install_peer(workspace: &Workspace, folder: &Path) -> anyhow::Result<PathBuf> {
    let peer = folder.join("node_modules/mcpgraph/dist/main.js");
    if !peer.exists() {
        eprintln!("installing the peer, npm mcpgraph");
        for file in ["package.json", "package-lock.json"] {
            fs::copy(workspace.root.join("tests/bench").join(file), folder.join(file))?;
        }
        run_quietly(
            Command::new("npm").args(["ci", "--no-fund", "--no-audit"]).current_dir(folder),
            "install Node.js with npm",
        )?;
    }
    Ok(peer)
}

/// The measured graphs, with mcpgraph's demo server as the upstream of both contenders.
pub(crate) fn write_graph(
    workspace: &Workspace,
    folder: &Path,
    product: &Path,
) -> anyhow::Result<PathBuf> {
    let text = fs::read_to_string(workspace.root.join("tests/bench/graph.yaml"))?;
    let path = folder.join("graph.yaml");
    fs::write(&path, text.replace("UPSTREAM_COMMAND", &product.display().to_string()))?;
    Ok(path)
}

/// From starting the process to its first answer, and what it then holds in memory.
fn starts(ours: &Contender, theirs: &Contender, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("start to first answer");
    let (mut start, mut memory) = ((vec![], vec![]), (vec![], vec![]));
    for _ in 0..STARTS {
        for (contender, start, memory) in
            [(ours, &mut start.0, &mut memory.0), (theirs, &mut start.1, &mut memory.1)]
        {
            let began = Instant::now();
            let mut client = contender.start()?;
            client.request("tools/list", json!({}))?;
            start.push(began.elapsed().as_secs_f64() * 1000.0);
            client.call("decide", json!({ "n": 10 }))?;
            memory.push(client.resident_mib()?);
        }
    }
    report.less("start to first answer", "ms", median(start.0), median(start.1), Some(20.0));
    report.less("resident memory", "MiB", median(memory.0), median(memory.1), Some(8.0));
    Ok(())
}

/// Three nodes that decide, one call at a time and sixty-four at once.
fn decide(ours: &Contender, theirs: &Contender, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("transform and switch");
    let arguments = |index: usize| json!({ "n": index % 20 });
    let mut client = ours.start()?;
    client.load("decide", &arguments, LOAD / 4, 1)?;
    let mine = client.load("decide", &arguments, LOAD, 1)?;
    let mine_wide = client.load("decide", &arguments, LOAD * 4, 64)?;
    let mut client = theirs.start()?;
    client.load("decide", &arguments, LOAD / 4 / PEER_SHARE, 1)?;
    let peer = client.load("decide", &arguments, LOAD / PEER_SHARE, 1)?;
    let peer_wide = client.load("decide", &arguments, LOAD / PEER_SHARE, 64)?;
    report.more("calls per second, 1 at a time", mine.per_second, peer.per_second, Some(10.0));
    report.more("calls per second, 64 at once", mine_wide.per_second, peer_wide.per_second, None);
    report.note(format!(
        "64 at once: {} of {} calls failed here, {} of {} in the peer, which runs one at a time",
        mine_wide.failed, mine_wide.calls, peer_wide.failed, peer_wide.calls
    ));
    Ok(())
}

/// A loop of three hundred rounds.
fn loops(ours: &Contender, theirs: &Contender, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("sum_to_n 300");
    let time = |contender: &Contender, rounds: usize| -> anyhow::Result<f64> {
        let mut client = contender.start()?;
        client.call("sum_to_n", json!({ "n": 10 }))?;
        let mut times = Vec::new();
        for _ in 0..rounds {
            let began = Instant::now();
            client.call("sum_to_n", json!({ "n": 300 }))?;
            times.push(began.elapsed().as_secs_f64() * 1000.0);
        }
        Ok(median(times))
    };
    report.less("sum_to_n 300", "ms", time(ours, 50)?, time(theirs, 5)?, Some(100.0));
    Ok(())
}

/// What is echoed: the text of an object, because the peer cannot return anything else.
fn echoed() -> Value {
    json!({ "value": r#"{"value":"x"}"# })
}

/// One upstream call: directly, through mcpgraph, through the peer.
fn upstream(ours: &Contender, theirs: &Contender, report: &mut Report) -> anyhow::Result<()> {
    eprintln!("one upstream call");
    let direct = Contender {
        program: ours.program.clone(),
        arguments: vec!["demo-server".into()],
        runs: ours.runs.clone(),
    };
    let arguments = echoed();
    let mut clients = [
        (direct.start()?, "echo"),
        (ours.start()?, "upstream_echo"),
        (theirs.start()?, "upstream_echo"),
    ];
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..CALLS {
        for (index, (client, tool)) in clients.iter_mut().enumerate() {
            if index == 2 && round % PEER_SHARE != 0 {
                continue;
            }
            let began = Instant::now();
            client.call(tool, arguments.clone())?;
            times[index].push(began.elapsed().as_secs_f64() * 1e6);
        }
    }
    let [direct, mine, peer] = times.map(median);
    report.less("one upstream call", "µs", mine, peer, None);
    report.less("added to a direct call", "µs", mine - direct, peer - direct, None);
    report.below("added to a direct call, median", "µs", mine - direct, 100.0);
    Ok(())
}

/// What nodes that read one small field cost beside a small and a large payload, by what the run
/// itself says about its steps.
fn payload(workspace: &Workspace, ours: &Contender, report: &mut Report) -> anyhow::Result<()> {
    const ROUNDS: usize = 5;
    eprintln!("a 10 MiB payload beside twenty nodes");
    let graph = workspace.root.join("tests/bench/payload.yaml");
    let per_node = |bytes: usize| -> anyhow::Result<f64> {
        let items: Vec<Value> =
            (0..bytes / 64).map(|index| json!({ "id": index, "text": "x".repeat(40) })).collect();
        let arguments = json!({ "small": { "number": 21 }, "large": items }).to_string();
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let mut run = Command::new(&ours.program);
            run.env(client::RUNS, &ours.runs);
            run.args(["run", "read_small", "--json", "--args", "-", "-g"]).arg(&graph);
            let steps = client::run_once(&mut run, &arguments)?["steps"].take();
            let reading =
                steps.as_array().into_iter().flatten().filter(|step| {
                    step["node"].as_str().is_some_and(|node| node.starts_with("read_"))
                });
            times.extend(reading.filter_map(|step| Some(step["durationMs"].as_f64()? * 1000.0)));
        }
        Ok(median(times))
    };
    let small = per_node(1024)?;
    let large = per_node(10 << 20)?;
    report.within("a node beside 10 MiB, against 1 KiB", "µs", large, small, 2.0);
    Ok(())
}
