//! The files, as the toolkit needs them.

use std::sync::Arc;

use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_graph::Graph;

/// Reads and saves the graph file. It is asked on threads that may block.
pub trait Documents: Send + Sync + 'static {
    /// The text of the graph file as it is now, whatever it says; the error says why it cannot be
    /// read.
    fn source(&self) -> Result<Arc<Source>, String>;

    /// The files as they are now.
    fn read(&self) -> Loaded;

    /// The files as they would be with another text of the graph file.
    fn with_text(&self, text: &str) -> Loaded;

    /// Changes the file, whole or not at all, while nobody else does. `edit` makes the new text of
    /// the present one, which need not be what the caller has `seen`; none if it will not.
    fn save(
        &self,
        seen: &Source,
        edit: &mut dyn FnMut(&Arc<Source>) -> Option<String>,
    ) -> Result<(), NotSaved>;
}

/// What came of reading the files.
#[derive(Debug)]
pub struct Loaded {
    /// The file as it was understood; none if it could not be.
    pub file: Option<GraphFile>,
    /// The graph; none if there are errors.
    pub graph: Option<Arc<Graph>>,
    /// Everything that is wrong or doubtful.
    pub diagnostics: Diagnostics,
}

/// Why a text was not saved.
#[derive(Debug)]
pub enum NotSaved {
    /// The edit would not.
    Declined,
    /// It cannot be written.
    Failed(String),
}
