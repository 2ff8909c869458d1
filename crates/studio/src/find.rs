//! The steps of a run for which an expression holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use mcpgraph_journal::{Journal, JournalError, RunId, StoredEvent};
use mcpgraph_toolkit::Predicate;
use mcpgraph_value::{Map, Value};
use serde_json::json;

use crate::api::{self, Shared, run_id};
use crate::extract::Path;
use crate::problem::{Problem, answer};

/// How many events are read at a time.
const PAGE: usize = 256;

/// What is found.
#[derive(Default)]
struct Found {
    steps: Vec<u64>,
    /// How many steps were looked at.
    looked: u64,
    /// The first error, where the expression cannot be evaluated for a step.
    error: Option<serde_json::Value>,
    /// Whether there was no time for the rest.
    is_cut: bool,
}

/// `POST /api/runs/ID/find`: `{expression}` in JSONata, on each step as `{step, node, kind, status,
/// beganMs, durationMs, input, output, error, edge}`. Answers `{steps, looked, cut}`, and with the
/// `error` of an expression that cannot be read or evaluated. A payload that was not kept whole is
/// not there.
pub(crate) async fn find(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    body: Body,
) -> Result<Response, Problem> {
    let id = run_id(&id)?;
    let body = api::body(body).await?;
    let expression = body.get("expression").and_then(Value::as_str);
    let expression = expression.ok_or_else(|| Problem::invalid("`expression` must be text"))?;
    let mut predicate = match Predicate::new(expression) {
        Ok(predicate) => predicate,
        Err(mut failure) => {
            let error = failure["error"].take();
            return Ok(told(&Found { error: Some(error), ..Found::default() }));
        }
    };
    let _stop = predicate.stop_on_drop();
    Ok(told(&shared.read(move |journal| look(journal, id, &mut predicate)).await?))
}

fn told(found: &Found) -> Response {
    let Found { steps, looked, error, is_cut } = found;
    let mut told = json!({ "steps": steps, "looked": looked, "cut": is_cut });
    if let Some(error) = error {
        told["error"] = error.clone();
    }
    answer(StatusCode::OK, &told)
}

fn look(journal: &Journal, run: RunId, test: &mut Predicate) -> Result<Found, JournalError> {
    let mut found = Found::default();
    // The steps that have begun and not ended.
    let mut open: BTreeMap<u64, Map> = BTreeMap::new();
    let mut from = 0;
    loop {
        let page = journal.events(run, from, PAGE)?;
        let Some((last, _)) = page.last() else { break };
        from = last + 1;
        for (_, event) in &page {
            match event {
                StoredEvent::StepStarted { step, .. } => {
                    open.insert(*step, members(event, &["type", "atMs"]));
                }
                StoredEvent::StepFinished { step, .. } | StoredEvent::StepFailed { step, .. } => {
                    if let Some(began) = open.remove(step) {
                        found.test(*step, ended(began, event), test);
                    }
                }
                _ => {}
            }
        }
        if found.is_cut {
            return Ok(found);
        }
    }
    for (step, mut began) in open {
        began.insert("status", "running");
        found.test(step, began, test);
    }
    found.steps.sort_unstable();
    Ok(found)
}

impl Found {
    fn test(&mut self, step: u64, members: Map, test: &mut Predicate) {
        self.is_cut |= test.is_over();
        if self.is_cut {
            return;
        }
        self.looked += 1;
        match test.holds(members.into()) {
            Ok(true) => self.steps.push(step),
            Ok(false) => {}
            Err(mut failure) => {
                self.is_cut |= test.is_over();
                self.error.get_or_insert_with(|| failure["error"].take());
            }
        }
    }
}

/// A step with how it ended.
fn ended(mut step: Map, event: &StoredEvent) -> Map {
    let end = members(event, &["type", "step"]);
    let number = |map: &Map, key: &str| map.get(key).and_then(Value::as_f64);
    if let (Some(began), Some(at)) = (number(&step, "beganMs"), number(&end, "atMs")) {
        step.insert("durationMs", at - began);
    }
    let has_failed = matches!(event, StoredEvent::StepFailed { .. });
    step.insert("status", if has_failed { "failed" } else { "done" });
    for (key, value) in end.iter().filter(|(key, _)| &***key != "atMs") {
        step.insert(key.clone(), value.clone());
    }
    step
}

fn members(event: &StoredEvent, without: &[&str]) -> Map {
    let value = event.to_value();
    let all = value.as_object().into_iter().flat_map(|members| members.iter());
    let kept = all.filter(|(key, _)| !without.contains(&&***key));
    kept.map(|(key, value)| (key.clone(), value.clone())).collect()
}
