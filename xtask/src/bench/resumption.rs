//! How long it takes from the death of a replica until another goes on with its runs.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::ensure;
use serde_json::json;

use super::Contender;
use super::http::{self, HttpServer};
use super::replicas::Database;
use super::report::{Report, median};
use crate::workspace::{Workspace, remove};

/// How often a replica is killed.
const KILLS: usize = 10;

/// How often a run says that it goes on before its replica is killed.
const SIGNS: usize = 3;

/// What the last that a killed replica began may take to be seen.
const LAST_SIGN: Duration = Duration::from_millis(100);

/// How long another may take to go on.
const PATIENCE: Duration = Duration::from_mins(1);

/// A durable tool that gives a sign again and again.
const GRAPH: &str = r#"version: "2"
server: { name: resumption, version: "1" }
backend: { process: {} }
tools:
  - name: go_on
    durable: true
    inputSchema: { type: object }
    nodes:
      - { id: entry, type: entry, next: each }
      - id: each
        type: foreach
        items: "[1..25]"
        body:
          - id: sign
            type: command
            command: { argv: [sh, -c, "echo >> \"$0\"; sleep 0.2", "{file}"] }
            args: { file: { expr: entry.file } }
            retry: { times: 0 }
        next: exit
      - { id: exit, type: exit }
"#;

/// The time from a replica's death to the next step of its run on another: median and worst.
pub(super) fn measure(
    workspace: &Workspace,
    ours: &Contender,
    report: &mut Report,
) -> anyhow::Result<()> {
    eprintln!("resumption");
    let Some(database) = Database::start(workspace)? else {
        report.note("resumption: not measured, because PostgreSQL is not installed".into());
        return Ok(());
    };
    let folder = ours.runs.with_extension("resumption");
    remove(&folder)?;
    fs::create_dir_all(&folder)?;
    let graph = folder.join("graph.yaml");
    fs::write(&graph, GRAPH)?;
    let graph = graph.display().to_string();
    let arguments = ["serve", "-g", &graph, "--no-reload", "--store", &database.url];
    let _survivor = HttpServer::start(&ours.program, &arguments)?;
    let mut times = Vec::new();
    for kill in 0..KILLS {
        let signs = folder.join(format!("signs-{kill}"));
        let victim = HttpServer::start(&ours.program, &arguments)?;
        let call = http::call(&victim, "go_on", &json!({ "file": signs }))?;
        wait_for(&signs, SIGNS)?;
        // Not always at the same point between two heartbeats.
        thread::sleep(Duration::from_millis(97 * kill as u64));
        drop(victim);
        let killed = Instant::now();
        thread::sleep(LAST_SIGN);
        wait_for(&signs, count(&signs) + 1)?;
        times.push(killed.elapsed().as_secs_f64() * 1000.0);
        // Its server is gone.
        drop(call.join());
    }
    let worst = times.iter().copied().fold(0.0, f64::max);
    report.ours("a replica's death to resumption", "ms", median(times));
    report.ours("the worst of them", "ms", worst);
    report.note(format!(
        "resumption: {KILLS} kills of one of two replicas; a replica is given up 5 s after it was \
         last seen, which it is every second, and both the sweep and the queue look every second"
    ));
    Ok(())
}

/// Waits until a run has given so many signs.
fn wait_for(signs: &Path, wanted: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    while count(signs) < wanted {
        ensure!(began.elapsed() < PATIENCE, "the run does not go on");
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

fn count(signs: &Path) -> usize {
    fs::read(signs).map_or(0, |signs| signs.len())
}
