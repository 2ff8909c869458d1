//! Following a record, by hand.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{Evaluated, Evaluation, Event, Progress, Replay, Run, RunError, StepId};
use mcpgraph_expr::{Env, ExprError};
use mcpgraph_graph::Graph;
use mcpgraph_value::Value;

/// Whether all of a record happens again, times included.
pub(crate) fn check(graph: &Arc<Graph>, record: &[Event]) -> Result<(), String> {
    let again = RefCell::new(Vec::new());
    let is_same = |recorded: &Event, replayed: &Event| {
        again.borrow_mut().push(replayed.clone());
        recorded.tells_the_same_as(replayed)
    };
    let tool = graph.tool("main").ok_or("no tool")?;
    let mut replay =
        Replay::new(Arc::clone(graph), tool, record, &is_same).ok_or("no beginning")?;
    match replay.advance(None, evaluate) {
        Ok(Progress::Done) => {}
        Ok(Progress::Reached) => return Err("it stopped although nobody asked".to_owned()),
        Err(divergence) => return Err(format!("{divergence:#?}\nin {record:#?}")),
    }
    drop(replay);
    let again = again.into_inner();
    for (position, (recorded, replayed)) in record.iter().zip(&again).enumerate() {
        if recorded != replayed {
            return Err(format!("time of {position}: {recorded:#?}\n{replayed:#?}\n{record:#?}"));
        }
    }
    if again.len() != record.len() {
        return Err(format!("{} of {} events happened again", again.len(), record.len()));
    }
    Ok(())
}

/// A run that has done what the record says before a step.
pub(crate) fn fork(graph: &Arc<Graph>, record: &[Event], from: StepId) -> Result<Run, String> {
    let tool = graph.tool("main").ok_or("no tool")?;
    let is_same = Event::tells_the_same_as;
    let mut replay =
        Replay::new(Arc::clone(graph), tool, record, &is_same).ok_or("no beginning")?;
    match replay.advance(Some(from), evaluate) {
        Ok(Progress::Reached) => Ok(replay.into_run()),
        Ok(Progress::Done) => Err("the step was never reached".to_owned()),
        Err(divergence) => Err(format!("{divergence:#?}\nin {record:#?}")),
    }
}

/// Whether a run can be gone on from at a step where all was forgotten that only later events say.
pub(crate) fn check_fork(graph: &Arc<Graph>, record: &[Event], from: StepId) -> Result<(), String> {
    let is_next = |event: &Event| matches!(event, Event::StepStarted { step, .. } if *step >= from);
    let next = record.iter().position(is_next).ok_or("no such step")?;
    let (before, later) = record.split_at(next);
    let told: Vec<&RunError> = before.iter().filter_map(error).collect();
    let later = later.iter().map(|event| forgotten(event.clone(), &told));
    let left: Vec<Event> = before.iter().cloned().chain(later).collect();
    let tool = graph.tool("main").ok_or("no tool")?;
    let is_same = Event::tells_the_same_as;
    let mut replay = Replay::new(Arc::clone(graph), tool, &left, &is_same).ok_or("no beginning")?;
    match replay.advance(Some(from), evaluate) {
        Ok(Progress::Reached) if replay.position() == next => Ok(()),
        Ok(progress) => Err(format!("{progress:?} at {} and not {next}", replay.position())),
        Err(divergence) => Err(format!("{divergence:#?}\nin {record:#?}")),
    }
}

/// An event without what a record leaves out where it is too large; an error that was told of before
/// was small enough.
fn forgotten(mut event: Event, told: &[&RunError]) -> Event {
    let nothing = || Value::from("forgotten");
    match &mut event {
        Event::Started { input: payload, .. }
        | Event::StepStarted { input: Some(payload), .. }
        | Event::StepFinished { output: payload, .. }
        | Event::OutputChanged { output: payload, .. }
        | Event::Finished { outcome: Ok(payload), .. } => *payload = nothing(),
        Event::StepFailed { error, .. }
        | Event::Retrying { error, .. }
        | Event::Finished { outcome: Err(error), .. }
            if !told.contains(&&*error) =>
        {
            error.message = String::from("forgotten");
            error.data = error.data.is_some().then(nothing);
        }
        _ => {}
    }
    event
}

fn error(event: &Event) -> Option<&RunError> {
    match event {
        Event::StepFailed { error, .. }
        | Event::Retrying { error, .. }
        | Event::Finished { outcome: Err(error), .. } => Some(error),
        _ => None,
    }
}

/// When a record ends.
pub(crate) fn time(record: &[Event]) -> Duration {
    record.last().map_or(Duration::ZERO, Event::at)
}

fn evaluate(evaluation: &Evaluation) -> Result<Evaluated, ExprError> {
    evaluation.run(&Env::at(evaluation.told_time()))
}
