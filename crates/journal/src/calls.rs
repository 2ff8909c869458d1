//! What a record called, held against the version of the graph that it is done again on.

use mcpgraph_config::read_graph_alone;
use mcpgraph_diagnostics::{Diagnostics, Source, printable};
use mcpgraph_engine::Event;
use mcpgraph_graph::Graph;

use crate::targets::Targets;
use crate::{Journal, JournalError, RunSummary, compare};

/// What the steps of a record called, held against what they call in the version that it is done
/// again on or gone on from.
#[derive(Debug, Default)]
pub struct Calls {
    pub(crate) targets: Targets,
    /// Why they could not be compared, if so.
    unknown: Option<String>,
}

impl Calls {
    /// Those of the recorded version itself, which calls what was called.
    pub fn same() -> Self {
        Self::default()
    }

    /// Whether an event of the record (the first) is what happened now: it tells the same as far as
    /// it was not masked, and is not the beginning of a step that calls something else.
    pub fn is_same(&self, recorded: &Event, now: &Event) -> bool {
        !self.targets.is_changed(recorded) && compare::is_same(recorded, now)
    }

    /// Whether they could be compared.
    pub fn are_known(&self) -> bool {
        self.unknown.is_none()
    }

    /// What is to be said of a comparison that could not be made.
    pub fn note(&self) -> Option<String> {
        let why = self.unknown.as_ref()?;
        Some(format!(
            "whether nodes call what they called when it was recorded is not known: {why}"
        ))
    }

    fn unknown(why: String) -> Self {
        Self { unknown: Some(why), ..Self::default() }
    }
}

impl Journal {
    /// Compares what the events of a run called with what they would call in another version of the
    /// graph, as far as the recorded version can still be read.
    pub fn calls(
        &self,
        run: &RunSummary,
        record: &[Event],
        now: &Graph,
    ) -> Result<Calls, JournalError> {
        let Some(text) = self.definition_of(run)? else {
            return Ok(Calls::unknown(format!("the graph of run {} was not kept", run.id)));
        };
        Ok(match compile(&text) {
            Ok(recorded) if recorded.runnable(&run.tool).is_none() => {
                Calls::unknown(format!("the recorded graph has no `{}`", printable(&run.tool)))
            }
            Ok(recorded) => Calls {
                targets: Targets::compare(record, &run.tool, &recorded, now),
                unknown: None,
            },
            Err(diagnostics) => {
                let first = diagnostics.iter().find(|diagnostic| diagnostic.is_error());
                let first = first.map_or(String::new(), |diagnostic| {
                    format!(": {} [{}]", printable(&diagnostic.message), diagnostic.code)
                });
                Calls::unknown(format!("the recorded graph cannot be compiled any more{first}"))
            }
        })
    }
}

/// The graph of a recorded text, of which nothing outside is called; what is wrong with it if it
/// cannot be had.
pub(crate) fn compile(text: &str) -> Result<Graph, Diagnostics> {
    let (file, mut diagnostics) = read_graph_alone(&Source::new("recorded", text));
    let graph = file.and_then(|file| {
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        graph
    });
    match graph {
        Some(graph) if !diagnostics.has_errors() => Ok(graph),
        _ => Err(diagnostics),
    }
}
