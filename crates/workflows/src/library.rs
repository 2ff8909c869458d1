use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mcpgraph_diagnostics::Diagnostics;
use mcpgraph_graph::Graph;
use mcpgraph_journal::{Journal, KeptModule, KeptWorkflow, NewsReader};
use mcpgraph_value::Value;

use crate::check::{Checked, check, compile};
use crate::{LibraryError, Workflow};

/// The workflows of a store. Everything here blocks as files do.
#[derive(Clone)]
pub struct Library {
    pub(crate) journal: Arc<Journal>,
}

/// A workflow that was taken in.
#[derive(Debug)]
pub struct Imported {
    /// The workflow.
    pub workflow: Workflow,
    /// Whether it took the place of another.
    pub replaced: bool,
    /// What is doubtful about it, or wrong with one that is not enabled.
    pub diagnostics: Diagnostics,
}

impl Library {
    /// The workflows in this store.
    pub fn new(journal: Arc<Journal>) -> Self {
        Self { journal }
    }

    /// All workflows, by their ids.
    pub fn list(&self) -> Result<Vec<Workflow>, LibraryError> {
        Ok(self.journal.workflows()?.into_iter().filter_map(Workflow::kept).collect())
    }

    /// The workflow with this id, or the only one with this name.
    pub fn find(&self, id_or_name: &str) -> Result<Workflow, LibraryError> {
        let all = self.list()?;
        if let Some(found) = all.iter().find(|workflow| workflow.id == id_or_name) {
            return Ok(found.clone());
        }
        let named: Vec<&Workflow> =
            all.iter().filter(|workflow| workflow.name() == id_or_name).collect();
        match named[..] {
            [] => Err(LibraryError::NoWorkflow(id_or_name.to_owned())),
            [only] => Ok(only.clone()),
            _ => Err(LibraryError::Ambiguous {
                name: id_or_name.to_owned(),
                ids: named.iter().map(|workflow| workflow.id.clone()).collect(),
            }),
        }
    }

    /// Takes a workflow in, to the letter, in the place of the one with its id. One that is enabled
    /// must have no errors; a draft may.
    pub fn import(&self, definition: Value) -> Result<Imported, LibraryError> {
        self.take(Workflow::new(definition)?)
    }

    /// The same for a workflow that may have been read from a file, in whose places it is then
    /// spoken of.
    pub fn take(&self, workflow: Workflow) -> Result<Imported, LibraryError> {
        let diagnostics = self.check(&workflow)?;
        if workflow.is_enabled() && diagnostics.has_errors() {
            return Err(invalid(&workflow, diagnostics));
        }
        let replaced = self.list()?.iter().any(|known| known.id == workflow.id);
        self.keep(&workflow)?;
        Ok(Imported { workflow, replaced, diagnostics })
    }

    /// Enables or disables a workflow.
    pub fn set_enabled(&self, id_or_name: &str, enabled: bool) -> Result<Workflow, LibraryError> {
        let workflow = self.find(id_or_name)?;
        if enabled {
            let diagnostics = self.check(&workflow)?;
            if diagnostics.has_errors() {
                return Err(invalid(&workflow, diagnostics));
            }
        }
        if workflow.is_enabled() == enabled {
            return Ok(workflow);
        }
        let changed = workflow.with_enabled(enabled, now());
        self.keep(&changed)?;
        Ok(changed)
    }

    /// Forgets a workflow.
    pub fn remove(&self, id_or_name: &str) -> Result<Workflow, LibraryError> {
        let workflow = self.find(id_or_name)?;
        self.journal.remove_workflow(&workflow.id)?;
        Ok(workflow)
    }

    /// Everything that is wrong or doubtful about a workflow.
    pub fn check(&self, workflow: &Workflow) -> Result<Diagnostics, LibraryError> {
        Ok(compile(workflow, &self.modules()?).1)
    }

    /// A workflow as it would be used, with what its file says, so that it can be drawn.
    pub fn draft(&self, workflow: &Workflow) -> Result<Checked, LibraryError> {
        Ok(check(workflow, &self.modules()?))
    }

    /// The workflows in use, compiled. One that cannot be is an error: what guards calls must not
    /// go missing.
    pub fn in_use(&self) -> Result<Vec<Arc<Graph>>, LibraryError> {
        let modules = self.modules()?;
        let enabled = self.list()?.into_iter().filter(Workflow::is_enabled);
        enabled
            .map(|workflow| match compile(&workflow, &modules) {
                (Some(graph), _) => Ok(graph),
                (None, diagnostics) => Err(invalid(&workflow, diagnostics)),
            })
            .collect()
    }

    /// A number that is another one after every change, whichever process made it.
    pub fn version(&self) -> Result<i64, LibraryError> {
        Ok(self.journal.definitions_version()?)
    }

    /// Hears of changes, so far as the store tells of those that other processes make.
    pub fn news(&self) -> NewsReader {
        self.journal.news()
    }

    /// All modules, by their names.
    pub fn modules(&self) -> Result<Vec<KeptModule>, LibraryError> {
        Ok(self.journal.hook_modules()?)
    }

    fn keep(&self, workflow: &Workflow) -> Result<(), LibraryError> {
        let definition = workflow.definition.to_json();
        self.journal.put_workflow(&KeptWorkflow { id: workflow.id.clone(), definition })?;
        Ok(())
    }
}

pub(crate) fn invalid(workflow: &Workflow, diagnostics: Diagnostics) -> LibraryError {
    LibraryError::Invalid { name: workflow.name().to_owned(), diagnostics }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
