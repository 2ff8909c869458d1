use mcpgraph_diagnostics::{Code, Diagnostics, codes};
use mcpgraph_journal::JournalError;

/// Why something could not be done with workflows.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// There is no workflow of this id or name.
    #[error("there is no workflow `{0}` in the store")]
    NoWorkflow(String),
    /// There is no module of this id or name.
    #[error("there is no hook module `{0}` in the store")]
    NoModule(String),
    /// A name stands for several workflows.
    #[error("several workflows are named `{name}`: give one of the ids {}", ids.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// A module cannot be deleted while it is used.
    #[error("the hook module `{module}` is used by {}", users.join(", "))]
    InUse {
        /// The module.
        module: String,
        /// The names of the workflows that use it.
        users: Vec<String>,
    },
    /// A workflow that is or would be in use has errors.
    #[error("the workflow `{name}` has errors, so it cannot be enabled")]
    Invalid {
        /// The workflow.
        name: String,
        /// What is wrong.
        diagnostics: Diagnostics,
    },
    /// What was given is no workflow.
    #[error("this is not a workflow: {0}")]
    NotAWorkflow(String),
    /// A module's name or script cannot be used.
    #[error("{0}")]
    BadModule(String),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] JournalError),
}

impl LibraryError {
    /// The code under which the documentation explains it.
    pub fn code(&self) -> Option<Code> {
        match self {
            Self::NoWorkflow(_) | Self::NoModule(_) => Some(codes::WORKFLOW_UNKNOWN),
            Self::InUse { .. } => Some(codes::HOOK_MODULE_IN_USE),
            Self::Invalid { .. } => Some(codes::WORKFLOW_INVALID),
            Self::BadModule(_) => Some(codes::SCRIPT_SYNTAX),
            Self::Ambiguous { .. } | Self::NotAWorkflow(_) | Self::Store(_) => None,
        }
    }

    /// What is wrong with the workflow, where that is why.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        match self {
            Self::Invalid { diagnostics, .. } => Some(diagnostics),
            _ => None,
        }
    }
}
