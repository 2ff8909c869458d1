//! What the three tools do.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use mcpgraph_diagnostics::{Diagnostics, codes, to_json};
use mcpgraph_engine::LogLevel;
use mcpgraph_gateway::origin;
use mcpgraph_mcp::server::Call;
use mcpgraph_sop::{Mode, Move, Procedure, Walk};
use mcpgraph_value::Value;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::answer::{self, Answer, Failure};
use crate::conversation::new_handle;
use crate::procedures::away;
use crate::record::new_trail;
use crate::tools::{self, CONVERSATION, GotoNode, LoadGraph, Todos};
use crate::trail::millis;
use crate::{Catalogue, Conversation, Key, Library, Procedures, StoreError};

/// The members of the answer to `load_graph` are put together from these.
struct Loaded {
    procedure: Arc<Procedure>,
    warnings: Diagnostics,
}

impl Procedures {
    /// `load_graph`: begins a walk.
    pub(crate) async fn load(
        &self,
        arguments: serde_json::Value,
        call: &Call,
        catalogue: &Catalogue,
    ) -> Answer {
        let (key, handle) = match self.key_of(call, &arguments) {
            Some(key) if !self.needs_handle(&call.client) => (key, None),
            // A handle that is not known is not taken: only ours are hard to guess.
            Some(key) if self.with(&key, |_| ()).await?.is_some() => (key, None),
            _ => {
                let handle = new_handle().ok_or_else(|| {
                    Failure::new(codes::RUN_INTERNAL, "the system gives no random numbers")
                })?;
                (Key::handle(&handle), Some(handle))
            }
        };
        let LoadGraph { sop_file } = parsed(tools::LOAD_GRAPH, arguments)?;
        let Loaded { procedure, warnings } = self.open(&sop_file, &*catalogue.library).await?;
        let mode = if catalogue.binds || procedure.front.enforce {
            Mode::Enforced
        } else if self.lenient {
            Mode::Lenient
        } else {
            Mode::Strict
        };
        // The walk that the conversation had before has ended.
        self.with(&key, |before| before.trail.end(None)).await?;
        let (walk, trail) = (Walk::new(Arc::clone(&procedure), mode), new_trail());
        let begun = Conversation { walk, trail: trail.clone() };
        let put = self.store.put(&key, begun, Instant::now()).await;
        put.map_err(|error| match error {
            StoreError::Full { .. } => Failure::new(codes::CONVERSATION_LIMIT, error.to_string()),
            StoreError::Away(_) => away(&error),
        })?;
        self.records.begin(&key, &trail, (&procedure, mode), &sop_file, origin(call)).await;
        self.tell_of_tools(mode, &call.client);
        let mut answer = answer::loaded(&procedure, mode, &warnings);
        if let Some(handle) = handle {
            answer[CONVERSATION] = handle.into();
        }
        Ok(answer)
    }

    /// Finds and reads a procedure.
    async fn open(&self, file: &str, library: &dyn Library) -> Result<Loaded, Failure> {
        let source = library.open(file).await.map_err(|problem| {
            Failure::new(problem.code, problem.message).with("sop_file", file)
        })?;
        // A large file takes a while, which others must not wait for.
        let read = tokio::task::spawn_blocking(move || mcpgraph_sop::read(&source)).await;
        let (procedure, diagnostics) = read.map_err(|error| Failure::internal(&error))?;
        let Some(procedure) = procedure else {
            let problems = to_json(&diagnostics)["diagnostics"].take();
            let first = diagnostics.iter().find(|problem| problem.is_error());
            let code = first.map_or(codes::PROCEDURE_REFUSED, |problem| problem.code);
            let message = format!("{file} has errors: {}", summary(&diagnostics));
            return Err(Failure::new(code, message)
                .with("sop_file", file)
                .with("diagnostics", problems));
        };
        let procedure = self.shared.lock().share(procedure);
        Ok(Loaded { procedure, warnings: diagnostics })
    }

    /// `todo`: plans.
    pub(crate) async fn plan(&self, arguments: serde_json::Value, call: &Call) -> Answer {
        let key = self.known(call, &arguments)?;
        let todos: Todos = parsed(tools::TODO, arguments)?;
        let drafts =
            todos.drafts().map_err(|(position, why)| answer::wrong_todo(position, &why))?;
        let planned = self.with(&key, |Conversation { walk, trail }| {
            walk.plan(drafts.clone()).map_err(|problem| answer::not_accepted(&problem))?;
            let answer = answer::planned(walk);
            let told = |value: serde_json::Value| Value::from_json(&value.to_string());
            let todos = told(json!({ "todos": answer["todos"] })).unwrap_or_default();
            trail.planned(todos, told(answer::summary(walk)).unwrap_or_default());
            Ok(answer)
        });
        planned.await?.ok_or_else(|| self.lost(call))?
    }

    /// `goto_node`: moves on.
    pub(crate) async fn go(&self, arguments: serde_json::Value, call: &Call) -> Answer {
        let key = self.known(call, &arguments)?;
        let GotoNode { node_id } = parsed(tools::GOTO_NODE, arguments)?;
        let now = millis(SystemTime::now());
        let moved = self.with(&key, |Conversation { walk, trail }| {
            let before: Vec<_> = walk.allowed().collect();
            let made = walk.go(&node_id, now);
            let answer = answer::moved(walk, &node_id, &made, now);
            let is_there = !matches!(made, Move::Refused(_));
            if is_there {
                trail.arrived(walk);
            }
            if !matches!(made, Move::Legal(_)) {
                trail.note(LogLevel::Warn, answer["error"].as_str().unwrap_or_default());
            }
            let changed = !walk.allowed().eq(before);
            (answer, changed.then_some(walk.mode()))
        });
        let (answer, changed) = moved.await?.ok_or_else(|| self.lost(call))?;
        if let Some(mode) = changed {
            self.tell_of_tools(mode, &call.client);
        }
        Ok(answer)
    }

    /// The conversation of a call that needs one.
    fn known(&self, call: &Call, arguments: &serde_json::Value) -> Result<Key, Failure> {
        self.key_of(call, arguments).ok_or_else(|| self.lost(call))
    }

    /// Why there is no walk.
    pub(crate) fn lost(&self, call: &Call) -> Failure {
        if self.needs_handle(&call.client) {
            let message = "The conversation is not known. Call load_graph first and give the \
                           `conversation` it returns to every later call.";
            return Failure::new(codes::CONVERSATION_UNKNOWN, message);
        }
        Failure::nothing_loaded()
    }
}

fn parsed<T: DeserializeOwned>(tool: &str, arguments: serde_json::Value) -> Result<T, Failure> {
    // A call without arguments is told which it needs.
    let arguments = if arguments.is_null() { json!({}) } else { arguments };
    serde_json::from_value(arguments).map_err(|error| {
        let message = format!("the arguments do not fit `{tool}`: {error}");
        Failure::new(codes::RUN_INVALID_INPUT, message)
    })
}

/// The first problems of a file, a line each.
fn summary(diagnostics: &Diagnostics) -> String {
    const SHOWN: usize = 5;
    let errors = diagnostics.iter().filter(|problem| problem.is_error());
    let lines = errors.take(SHOWN).map(|problem| match &problem.primary {
        Some(label) => {
            let start = label.start();
            format!("{}:{}: {}", start.line, start.column, problem.message)
        }
        None => problem.message.clone(),
    });
    lines.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_is_missing_is_named() {
        for arguments in [serde_json::Value::Null, json!({})] {
            let said = [
                parsed::<LoadGraph>(tools::LOAD_GRAPH, arguments.clone()).err(),
                parsed::<Todos>(tools::TODO, arguments.clone()).err(),
                parsed::<GotoNode>(tools::GOTO_NODE, arguments).err(),
            ]
            .map(|failure| failure.map(|failure| failure.into_error().message));
            let expected = [
                "the arguments do not fit `load_graph`: missing field `sop_file`",
                "the arguments do not fit `todo`: missing field `todos`",
                "the arguments do not fit `goto_node`: missing field `node_id`",
            ];
            assert_eq!(said, expected.map(|text| Some(text.to_owned())));
        }
    }
}
