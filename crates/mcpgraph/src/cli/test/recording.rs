//! A recorded run as the material of a test.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use mcpgraph_engine::{ErrorKind, Event, RunError, StepId, StepPath};
use mcpgraph_graph::Target;
use mcpgraph_journal::{Journal, JournalError};
use mcpgraph_value::Value;

use super::super::document;
use super::mocks::{Answer, Answers, Reply};
use super::trail::{Part, Trail};

/// What a recorded run says.
pub(super) struct Recording {
    pub(super) tool: Arc<str>,
    pub(super) input: Value,
    /// What each calling node was answered, in the order in which nodes first called.
    pub(super) answers: Vec<(Arc<str>, Vec<Answer>)>,
    pub(super) outcome: Result<Value, RunError>,
    pub(super) path: Vec<Part>,
}

/// What a step that calls was answered.
struct Calling {
    node: Arc<str>,
    at: StepPath,
    args: Option<Value>,
    replies: Vec<Reply>,
}

impl Recording {
    /// From the store.
    pub(super) fn of_run(journal: &Journal, id: &str) -> Result<Self, String> {
        let read = || -> Result<Vec<Event>, JournalError> {
            let id = journal.resolve(id)?;
            let run = journal.run(id)?.ok_or_else(|| JournalError::NoRun(id.to_string()))?;
            journal.whole_events(id, run.digest)
        };
        Self::new(&read().map_err(|error| error.to_string())?)
    }

    /// From a document that `runs export` wrote.
    pub(super) fn of_document(path: &Path) -> Result<Self, String> {
        let text = document::read(path).map_err(|error| error.to_string())?;
        let document = Value::from_json(&text).map_err(|error| format!("not JSON: {error}"))?;
        let events = mcpgraph_journal::exported_events(&document);
        Self::new(&events.map_err(|error| error.to_string())?)
    }

    fn new(events: &[Event]) -> Result<Self, String> {
        let Some(Event::Started { tool, input, .. }) = events.first() else {
            return Err("the record has no beginning".to_owned());
        };
        let Some(Event::Finished { outcome, .. }) = events.last() else {
            return Err("the run did not come to its end".to_owned());
        };
        if let Some(Event::OutputChanged { node, .. }) =
            events.iter().find(|event| matches!(event, Event::OutputChanged { .. }))
        {
            return Err(format!("somebody changed the output of `{node}` during the run"));
        }
        let is_cancelled = outcome.as_ref().is_err_and(|error| error.kind == ErrorKind::Cancelled);
        Ok(Self {
            tool: Arc::clone(tool),
            input: input.clone(),
            answers: answers(events, is_cancelled),
            outcome: outcome.clone(),
            path: Trail::of(events).steady(),
        })
    }

    /// The answers, to be looked up.
    pub(super) fn lookup(&self) -> Answers {
        self.answers.iter().cloned().collect()
    }
}

fn answers(events: &[Event], is_cancelled: bool) -> Vec<(Arc<str>, Vec<Answer>)> {
    let mut steps: BTreeMap<StepId, Calling> = BTreeMap::new();
    for event in events {
        match event {
            Event::StepStarted { step, path, node, kind, input, .. }
                if Target::KINDS.contains(kind) =>
            {
                let (node, at, args) = (Arc::clone(node), path.clone(), input.clone());
                steps.insert(*step, Calling { node, at, args, replies: Vec::new() });
            }
            Event::StepFinished { step, output, .. } => {
                if let Some(calling) = steps.get_mut(step) {
                    calling.replies.push(Reply::Given(Ok(output.clone())));
                }
            }
            Event::Retrying { step, error, .. } | Event::StepFailed { step, error, .. } => {
                if let Some(calling) = steps.get_mut(step) {
                    calling.replies.extend(failure(error, is_cancelled));
                }
            }
            _ => {}
        }
    }
    let mut nodes: Vec<(Arc<str>, Vec<Answer>)> = Vec::new();
    for calling in steps.into_values() {
        let Calling { node, at, args, replies } = calling;
        let of = |reply| Answer { args: args.clone(), at: Some(at.clone()), reply };
        let answers = replies.into_iter().map(of);
        match nodes.iter_mut().find(|(known, _)| *known == node) {
            Some((_, known)) => known.extend(answers),
            None => nodes.push((node, answers.collect())),
        }
    }
    nodes.retain(|(_, answers)| !answers.is_empty());
    for (_, answers) in &mut nodes {
        keep_telling_args(answers);
    }
    nodes
}

/// The reply that makes a call fail so; none if the call was never made.
fn failure(error: &RunError, is_cancelled: bool) -> Option<Reply> {
    match error.kind {
        // The arguments could not be computed.
        ErrorKind::Expression => None,
        // What contains the call failed before there was an answer.
        ErrorKind::Cancelled if !is_cancelled => Some(Reply::Pending),
        // The engine says again at which node it happens.
        _ => Some(Reply::Given(Err(RunError { node: None, ..error.clone() }))),
    }
}

/// Arguments are only kept where they tell calls apart.
fn keep_telling_args(answers: &mut [Answer]) {
    let is_same = answers.windows(2).all(|pair| pair[0].args == pair[1].args);
    if is_same {
        for answer in answers {
            answer.args = None;
        }
    }
}
