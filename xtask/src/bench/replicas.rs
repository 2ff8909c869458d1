//! Several processes on one store, and what a store costs.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::Contender;
use super::http::{self, HttpServer};
use super::report::{Report, median};
use crate::command::run_visibly;
use crate::workspace::{Workspace, cargo, remove};

/// How many clients call at once, and how often each does.
const CLIENTS: usize = 32;
const CALLS: usize = 250;

/// How often each is measured, in turns.
const ROUNDS: usize = 3;

/// Calls per second with 1, 2 and 4 replicas, and with a record in PostgreSQL, in SQLite and none.
pub(super) fn measure(
    workspace: &Workspace,
    ours: &Contender,
    report: &mut Report,
) -> anyhow::Result<()> {
    eprintln!("replicas");
    let Some(database) = Database::start(workspace)? else {
        report.note("replicas: not measured, because PostgreSQL is not installed".into());
        return Ok(());
    };
    let graph = &*ours.arguments.last().context("no graph")?.clone();
    let file = ours.runs.with_extension("replicas");
    remove(&file)?;
    let file = file.display().to_string();
    let shared = ["serve", "-g", graph, "--store", &database.url];
    let kept: [(&str, Vec<&str>); 3] = [
        ("none", vec!["serve", "-g", graph, "--no-history"]),
        ("SQLite", vec!["serve", "-g", graph, "--data", &file]),
        ("PostgreSQL", shared.to_vec()),
    ];
    let mut rates = Vec::new();
    for (_, arguments) in &kept {
        rates.push(rate(ours, arguments, 1)?);
    }
    for ((name, _), rate) in kept.iter().zip(&rates) {
        report.two(&format!("calls/s over HTTP, a record in {name}"), "", *rate, rates[0]);
    }
    for replicas in [1, 2, 4] {
        let name = format!("calls/s over HTTP, {replicas} on PostgreSQL");
        report.two(&name, "", rate(ours, &shared, replicas)?, rates[2]);
    }
    report.note(format!(
        "replicas: clients, servers and PostgreSQL share {} cores; what replicas add on machines of \
         their own is in docs/scale.md",
        std::thread::available_parallelism().map_or(1, usize::from)
    ));
    Ok(())
}

/// Calls per second of so many servers together.
fn rate(ours: &Contender, arguments: &[&str], replicas: usize) -> anyhow::Result<f64> {
    let mut rates = Vec::new();
    for _ in 0..ROUNDS {
        let servers = (0..replicas)
            .map(|_| HttpServer::start(&ours.program, arguments))
            .collect::<anyhow::Result<Vec<_>>>()?;
        http::load(&servers, "decide", &json!({ "n": 10 }), CLIENTS, CALLS / 5)?;
        rates.push(http::load(&servers, "decide", &json!({ "n": 10 }), CLIENTS, CALLS)?);
    }
    Ok(median(rates))
}

/// A PostgreSQL server of one's own; it ends when this is dropped.
pub(super) struct Database {
    child: Child,
    pub(super) url: String,
}

impl Database {
    /// None where PostgreSQL is not installed.
    pub(super) fn start(workspace: &Workspace) -> anyhow::Result<Option<Self>> {
        run_visibly(
            cargo()
                .args(["build", "--package", "mcpgraph-testkit", "--bin", "postgres-server"])
                .current_dir(&workspace.root),
        )?;
        let mut child = Command::new(workspace.target.join("debug/postgres-server"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        BufReader::new(child.stdout.take().context("no stdout")?).read_line(&mut url)?;
        if url.is_empty() {
            ensure!(!child.wait()?.success(), "the server said nothing");
            return Ok(None);
        }
        Ok(Some(Self { child, url: url.trim().to_owned() }))
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        // It ends by itself once nobody can say anything to it.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}
