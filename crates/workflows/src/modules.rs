//! Scripts that several hooks use.

use mcpgraph_diagnostics::{Diagnostics, Source, Span};
use mcpgraph_graph::script_problem;
use mcpgraph_journal::KeptModule;

use crate::check::compile;
use crate::library::invalid;
use crate::{Library, LibraryError, Workflow};

/// How long the name of a module may be.
const MAX_NAME: usize = 100;

/// What is wrong with the script of a module, at its place in it.
pub fn check_module(script: &str) -> Diagnostics {
    let source = Source::new("", script);
    let mut problems = Diagnostics::new();
    if let Some((range, problem)) = script_problem(script) {
        let range = range.unwrap_or(0..script.len());
        problems.push(problem.at(&source, Span::new(range.start, range.end), ""));
    }
    problems
}

impl Library {
    /// The module with this id or name.
    pub fn module(&self, id_or_name: &str) -> Result<KeptModule, LibraryError> {
        let modules = self.modules()?;
        let by_id = modules.iter().find(|module| module.id == id_or_name);
        by_id
            .or_else(|| modules.iter().find(|module| module.name == id_or_name))
            .cloned()
            .ok_or_else(|| LibraryError::NoModule(id_or_name.to_owned()))
    }

    /// Keeps a module, in the place of the one with its id or name. A script that would break a
    /// workflow in use is refused.
    pub fn put_module(
        &self,
        id: Option<&str>,
        name: &str,
        script: &str,
    ) -> Result<KeptModule, LibraryError> {
        let refused = |why: String| Err(LibraryError::BadModule(why));
        if name.is_empty() || name.chars().count() > MAX_NAME {
            return refused(format!("the name of a hook module has 1 to {MAX_NAME} characters"));
        }
        if let Err(error) = mcpgraph_script::check(script) {
            let place = error.place.map(|place| format!(" at {place}")).unwrap_or_default();
            return refused(format!("the script of `{name}` cannot be read{place}: {error}"));
        }
        let mut modules = self.modules()?;
        let same_name = modules.iter().find(|module| module.name == name);
        let id = match (id, same_name) {
            (Some(id), Some(other)) if other.id != id => {
                return refused(format!("there is another hook module with the name `{name}`"));
            }
            (Some(id), _) => id.to_owned(),
            (None, Some(known)) => known.id.clone(),
            (None, None) => name.to_owned(),
        };
        let module = KeptModule { id, name: name.to_owned(), script: script.to_owned() };
        modules.retain(|known| known.id != module.id);
        modules.push(module.clone());
        self.check_users(&modules)?;
        self.journal.put_hook_module(&module)?;
        Ok(module)
    }

    /// Forgets a module that no workflow uses.
    pub fn remove_module(&self, id_or_name: &str) -> Result<KeptModule, LibraryError> {
        let module = self.module(id_or_name)?;
        let users: Vec<String> =
            self.users_of(&module)?.iter().map(|workflow| workflow.name().to_owned()).collect();
        if !users.is_empty() {
            return Err(LibraryError::InUse { module: module.name, users });
        }
        self.journal.remove_hook_module(&module.id)?;
        Ok(module)
    }

    /// The workflows whose hooks name a module, enabled or not.
    pub fn users_of(&self, module: &KeptModule) -> Result<Vec<Workflow>, LibraryError> {
        let mut all = self.list()?;
        all.retain(|workflow| {
            let names = workflow.modules();
            names.contains(&*module.id) || names.contains(&*module.name)
        });
        Ok(all)
    }

    /// Whether the workflows in use can be used with these modules.
    fn check_users(&self, modules: &[KeptModule]) -> Result<(), LibraryError> {
        for workflow in self.list()?.into_iter().filter(Workflow::is_enabled) {
            let diagnostics = compile(&workflow, modules).1;
            if diagnostics.has_errors() {
                return Err(invalid(&workflow, diagnostics));
            }
        }
        Ok(())
    }
}
