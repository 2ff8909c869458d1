//! Procedures: what their files say, and the walks that conversations made through them.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_diagnostics::{Diagnostics, Source, to_json};
use mcpgraph_graph::{Layout, LinkKind, layout_flat};
use mcpgraph_journal::RunSummary;
use mcpgraph_sop::{Node, NodeId, Procedure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::api::{Shared, run_id};
use crate::extract::{Path, Query};
use crate::problem::{Problem, answer};
use crate::{view, walk};

/// Reads the procedures that are served, with everything that is wrong with them. It blocks as
/// files do.
pub type ReadProcedures = dyn Fn() -> (Vec<Arc<Procedure>>, Diagnostics) + Send + Sync;

type Answer = Result<Response, Problem>;

/// `GET /api/procedures`: those that are served.
pub(crate) async fn list(State(shared): State<Arc<Shared>>) -> Answer {
    let (all, diagnostics) = read(&shared).await?;
    let all: Vec<Value> = all.iter().map(|procedure| summary(procedure)).collect();
    let shown = json!({ "procedures": all, "report": to_json(&diagnostics) });
    Ok(answer(StatusCode::OK, &shown))
}

/// `GET /api/procedures/AGENT`: one of them, with the places of its nodes.
pub(crate) async fn show(State(shared): State<Arc<Shared>>, Path(agent): Path<String>) -> Answer {
    let (all, _) = read(&shared).await?;
    let found = all.iter().find(|procedure| procedure.agent() == agent);
    let found =
        found.ok_or_else(|| Problem::not_found(format!("there is no procedure `{agent}`")))?;
    Ok(answer(StatusCode::OK, &shown(found)))
}

/// `GET /api/runs/ID/procedure`: the procedure that a walk went through, as its file was then.
pub(crate) async fn of_run(State(shared): State<Arc<Shared>>, Path(id): Path<String>) -> Answer {
    let procedure = walked(&shared, &id).await?;
    Ok(answer(StatusCode::OK, &shown(&procedure)))
}

/// Which moment of a walk is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Moment {
    /// The last event that counts; all of them if it is not said.
    until: Option<u64>,
}

/// `GET /api/runs/ID/walk`: where a walk was at a moment, what could follow, and the todos.
pub(crate) async fn of_walk(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Query(moment): Query<Moment>,
) -> Answer {
    let procedure = walked(&shared, &id).await?;
    let run = run_id(&id)?;
    let until = moment.until;
    let walk = shared.read(move |journal| walk::recall(journal, run, procedure, until)).await?;
    Ok(answer(StatusCode::OK, &walk))
}

async fn read(shared: &Arc<Shared>) -> Result<(Vec<Arc<Procedure>>, Diagnostics), Problem> {
    let shared = Arc::clone(shared);
    tokio::task::spawn_blocking(move || Ok((shared.workshop()?.procedures)()))
        .await
        .map_err(|_| Problem::internal("reading the procedures failed by a fault of mcpgraph"))?
}

/// The procedure of a run, from the record.
async fn walked(shared: &Arc<Shared>, id: &str) -> Result<Arc<Procedure>, Problem> {
    let id = run_id(id)?;
    let text = shared
        .read(move |journal| {
            let definition = journal.run(id)?.and_then(|run: RunSummary| run.definition);
            definition.map_or(Ok(None), |digest| journal.definition(digest))
        })
        .await?;
    let text = text.ok_or_else(|| Problem::not_found(format!("there is no walk {id}")))?;
    // A large file takes a while.
    let read = tokio::task::spawn_blocking(move || mcpgraph_sop::read(&Source::new("", &*text)));
    let (procedure, _) = read.await.map_err(|error| Problem::internal(error.to_string()))?;
    let procedure =
        procedure.ok_or_else(|| Problem::not_found(format!("the run {id} walks no procedure")))?;
    Ok(Arc::new(procedure))
}

fn summary(procedure: &Procedure) -> Value {
    json!({
        "agent": procedure.agent(),
        "version": procedure.version(),
        "file": procedure.source.name(),
        "nodes": procedure.chart.nodes.len(),
        "enforce": procedure.front.enforce,
    })
}

fn shown(procedure: &Procedure) -> Value {
    let nodes = procedure.chart.nodes.iter().enumerate();
    let nodes: Vec<Value> = nodes.map(|(number, node)| told(procedure, number, node)).collect();
    let definition = json!({ "name": procedure.agent(), "nodes": nodes });
    let mut shown = view::graph(procedure.agent(), "", &definition, &drawn(procedure));
    shown["about"] = summary(procedure);
    shown["systemPrompt"] = json!(procedure.system_prompt);
    shown
}

fn told(procedure: &Procedure, number: NodeId, node: &Node) -> Value {
    let id = |number: NodeId| &*procedure.chart.nodes[number].id;
    let edges = node.edges.iter().map(|edge| {
        json!({
            "to": id(edge.to),
            "condition": edge.condition,
            "guard": edge.guard.as_ref().map(|guard| guard.text()),
        })
    });
    json!({
        "id": node.id,
        "type": kind(procedure, number, node),
        "description": node.description,
        "prompt": node.prompt,
        "tools": node.tools,
        "examples": node.examples,
        "edges": edges.collect::<Vec<_>>(),
        "isHub": procedure.hub == Some(number),
    })
}

/// What a node is drawn as.
fn kind(procedure: &Procedure, number: NodeId, node: &Node) -> &'static str {
    if number == procedure.entry {
        "entry"
    } else if node.is_terminal(number) {
        "exit"
    } else if node.is_decision() {
        "decision"
    } else {
        "task"
    }
}

fn drawn(procedure: &Procedure) -> Layout {
    let nodes = procedure.chart.nodes.iter().enumerate();
    let cards = nodes
        .clone()
        .map(|(number, node)| (Arc::clone(&node.id), kind(procedure, number, node)))
        .collect();
    let links = nodes.flat_map(|(from, node)| {
        node.edges.iter().map(move |edge| {
            let words = edge.condition.clone();
            (from, edge.to, words.map_or(LinkKind::Next, LinkKind::Worded))
        })
    });
    layout_flat(cards, links.collect(), procedure.entry)
}
