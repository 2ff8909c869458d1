//! Changes of the graph file. Nothing invalid is ever saved.

use std::sync::Arc;

use mcpgraph_config::edit::{self, EditError};
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::{Source, codes};
use mcpgraph_files::unified_diff;
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::check;
use crate::definition::{Proposed, definition, name_of, problems, propose};
use crate::documents::{Documents, Loaded, NotSaved};
use crate::toolkit::Toolkit;

/// How often a change is prepared anew because the file changed in a way that may matter to it.
const MAX_ATTEMPTS: usize = 8;

/// A change of the file.
#[derive(Clone)]
enum Edit {
    Add(Value),
    Update(String, Value),
    Delete(String),
}

/// A change that was made on the text and checked, and not saved yet.
#[derive(Clone)]
struct Prepared {
    old: Arc<Source>,
    new: String,
    /// The servers of the file that were asked.
    servers: Option<Value>,
    warnings: Vec<serde_json::Value>,
}

/// `addGraphTool`.
pub(crate) async fn add(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    save(toolkit, Edit::Add(tool(arguments))).await
}

/// `updateGraphTool`.
pub(crate) async fn update(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    save(toolkit, Edit::Update(arguments.required("toolName").to_owned(), tool(arguments))).await
}

/// `deleteGraphTool`.
pub(crate) async fn delete(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    save(toolkit, Edit::Delete(arguments.required("toolName").to_owned())).await
}

/// `diffGraphTool`.
pub(crate) async fn diff(toolkit: &Toolkit, arguments: &Arguments) -> Answer {
    let edit = Edit::Update(arguments.required("toolName").to_owned(), tool(arguments));
    let prepared = prepare(toolkit, &edit).await?;
    Ok(told(&prepared))
}

fn tool(arguments: &Arguments) -> Value {
    arguments.get("tool").cloned().unwrap_or_default()
}

/// Makes a change. Where somebody else changed the file since, it is made on the new text.
async fn save(toolkit: &Toolkit, edit: Edit) -> Answer {
    for _ in 0..MAX_ATTEMPTS {
        let prepared = prepare(toolkit, &edit).await?;
        let (edit, mut saved) = (edit.clone(), prepared.clone());
        let outcome = toolkit.off_thread(move |documents| {
            let seen = Arc::clone(&saved.old);
            let outcome = documents.save(&seen, &mut |now| {
                if now.text() != seen.text() {
                    saved = again(documents, &edit, &prepared, now)?;
                }
                Some(saved.new.clone())
            });
            Ok(outcome.map(|()| saved))
        });
        match outcome.await? {
            Ok(saved) => return Ok(told(&saved)),
            Err(NotSaved::Declined) => {}
            Err(NotSaved::Failed(why)) => {
                let message = format!("the file was not saved: {why}");
                return Err(Failure::new(codes::TOOLKIT_NOT_SAVED, message));
            }
        }
    }
    let prepared = prepare(toolkit, &edit).await?;
    let message = format!("the file changed {MAX_ATTEMPTS} times while it was to be saved");
    Err(Failure::new(codes::TOOLKIT_NOT_SAVED, message)
        .with("suggestion", "try again when nobody else writes it")
        .with("diff", diff_of(&prepared)))
}

/// Makes a change on the text of the file and checks the file that would result.
async fn prepare(toolkit: &Toolkit, edit: &Edit) -> Result<Prepared, Failure> {
    let file = toolkit.file().await?;
    let old = Arc::clone(&file.source);
    let servers = servers_of(&file);
    if let Edit::Add(tool) | Edit::Update(_, tool) = edit
        && name_of(tool).is_none_or(str::is_empty)
    {
        return Err(unnamed(toolkit, file, tool.clone()).await);
    }
    let new = edit.apply(&file)?;
    let text = new.clone();
    let loaded = toolkit.off_thread(move |documents| Ok(documents.with_text(&text))).await?;
    let found = match edit.place(&loaded) {
        Some((index, name)) => {
            let proposed = Proposed { loaded, index, name };
            check::all_problems(toolkit, &proposed).await
        }
        None => problems(&loaded.diagnostics, loaded.file.as_ref(), None),
    };
    if check::has_errors(&found) {
        return Err(check::refused(found));
    }
    Ok(Prepared { old, new, servers, warnings: found })
}

/// Why a definition without a name is not saved: everything that is wrong with it.
async fn unnamed(toolkit: &Toolkit, file: GraphFile, tool: Value) -> Failure {
    let proposed = toolkit.off_thread(move |documents| Ok(propose(documents, &file, &tool))).await;
    match proposed {
        Ok(proposed) => check::refused(check::all_problems(toolkit, &proposed).await),
        Err(failure) => failure,
    }
}

/// Makes a change that was prepared on a text that is another by now. None if it has to be prepared
/// anew: it does not fit, the file would have errors, or other servers would have to be asked.
fn again(
    documents: &dyn Documents,
    edit: &Edit,
    prepared: &Prepared,
    now: &Arc<Source>,
) -> Option<Prepared> {
    let file = documents.with_text(now.text()).file?;
    if servers_of(&file) != prepared.servers {
        return None;
    }
    let new = edit.apply(&file).ok()?;
    documents.with_text(&new).graph?;
    Some(Prepared { old: Arc::clone(now), new, ..prepared.clone() })
}

fn servers_of(file: &GraphFile) -> Option<Value> {
    file.tree.get("mcpServers").map(|servers| servers.value.to_value())
}

impl Edit {
    /// The text of a file with the change.
    fn apply(&self, file: &GraphFile) -> Result<String, Failure> {
        let text = match self {
            Self::Add(tool) => edit::add_tool(&file.source, tool),
            Self::Update(name, tool) => {
                definition(file, name)?;
                edit::update_tool(&file.source, name, tool)
            }
            Self::Delete(name) => {
                definition(file, name)?;
                edit::delete_tool(&file.source, name)
            }
        };
        text.map_err(|error| not_edited(&error))
    }

    /// The tool it adds or changes, in the file that results.
    fn place(&self, loaded: &Loaded) -> Option<(usize, String)> {
        let (Self::Add(tool) | Self::Update(_, tool)) = self else { return None };
        let name = name_of(tool)?;
        let tools = &loaded.file.as_ref()?.tools;
        Some((tools.iter().position(|tool| *tool.name == *name)?, name.to_owned()))
    }
}

fn not_edited(error: &EditError) -> Failure {
    Failure::new(codes::TOOLKIT_REFUSED, error.to_string())
        .with("diagnostics", problems(&error.diagnostics(), None, None))
}

fn told(prepared: &Prepared) -> serde_json::Value {
    json!({
        "changed": prepared.old.text() != prepared.new,
        "diff": diff_of(prepared),
        "diagnostics": prepared.warnings,
    })
}

fn diff_of(prepared: &Prepared) -> String {
    unified_diff(prepared.old.text(), &prepared.new, prepared.old.name())
}
