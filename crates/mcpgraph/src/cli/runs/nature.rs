//! What was executed in a recorded run.

use mcpgraph_graph::Workflow;
use mcpgraph_journal::{Journal, JournalError, Payload, RunSummary, StoredEvent};

/// What a run was of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Nature {
    /// A tool of a graph file.
    Tool,
    /// A workflow, around a call or a list.
    Workflow,
    /// A procedure that an agent walked.
    Walk,
}

impl Nature {
    pub(in crate::cli) fn of(journal: &Journal, run: &RunSummary) -> Result<Self, JournalError> {
        if run.tool.starts_with(&Workflow::run_name("")) {
            return Ok(Self::Workflow);
        }
        // The version of a procedure is its whole text, that of a tool only a part of its file.
        if run.definition.is_some_and(|definition| definition != run.digest) {
            return Ok(Self::Tool);
        }
        let first = journal.events(run.id, 0, 1)?.into_iter().next();
        let is_walk = match first {
            Some((0, StoredEvent::Started { input: Payload::Whole(input), .. })) => {
                ["sop_file", "mode"].iter().all(|key| input.get(key).is_some())
            }
            _ => false,
        };
        Ok(if is_walk { Self::Walk } else { Self::Tool })
    }

    /// Why such a run is not to be done again from its beginning, or made a test of.
    pub(in crate::cli) fn objection(self, run: &RunSummary) -> Option<String> {
        let why = match self {
            Self::Tool => return None,
            Self::Workflow => {
                "it is a run of a workflow, which needs the call of a client that it was put \
                 around; `mcpgraph runs replay` goes through it without that"
            }
            Self::Walk => {
                "it is a walk of a procedure: an agent decided what came next, and no graph can"
            }
        };
        Some(format!("{why}; `mcpgraph runs show {}` shows what happened in it", run.id))
    }
}
