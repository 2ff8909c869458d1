use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_diagnostics::{Code, Source};
use mcpgraph_sop::Procedure;

/// What agents can walk.
pub struct Catalogue {
    /// Finds files.
    pub library: Arc<dyn Library>,
    /// The procedures the operator named. If one of them binds, all do.
    pub procedures: Vec<Arc<Procedure>>,
    /// Whether every procedure binds.
    pub binds: bool,
}

/// Where procedures come from.
#[async_trait]
pub trait Library: Send + Sync {
    /// The file of this name: a path or an address, as the agent wrote it.
    async fn open(&self, name: &str) -> Result<Arc<Source>, NotLoaded>;
}

/// Why a file was not given out.
#[derive(Clone, Debug)]
pub struct NotLoaded {
    /// Which kind of problem it is.
    pub code: Code,
    /// What is wrong, and what to do.
    pub message: String,
}
