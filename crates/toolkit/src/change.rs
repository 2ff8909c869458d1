//! Changes of the graph file. Nothing invalid is ever saved.

use std::sync::Arc;

use mcpgraph_config::edit::{self, EditError};
use mcpgraph_diagnostics::Source;
use mcpgraph_files::unified_diff;
use mcpgraph_value::Value;
use serde_json::json;

use crate::answer::{Answer, Failure};
use crate::arguments::Arguments;
use crate::check;
use crate::definition::{Proposed, definition, name_of, problems};
use crate::documents::NotSaved;
use crate::toolkit::Toolkit;

/// How often an edit is made again on a file that changed in the meantime.
const MAX_ATTEMPTS: usize = 8;

/// A change of the file.
#[derive(Clone)]
enum Edit {
    Add(Value),
    Update(String, Value),
    Delete(String),
}

/// A change that was made on the text and checked, and not saved yet.
struct Prepared {
    old: Arc<Source>,
    new: String,
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

/// Makes a change, again on the new text where the file changed in between.
async fn save(toolkit: &Toolkit, edit: Edit) -> Answer {
    for _ in 0..MAX_ATTEMPTS {
        let prepared = prepare(toolkit, &edit).await?;
        let (old, new) = (Arc::clone(&prepared.old), prepared.new.clone());
        let saved = toolkit.off_thread(move |documents| Ok(documents.save(&old, &new))).await?;
        match saved {
            Ok(()) => return Ok(told(&prepared)),
            Err(NotSaved::Changed) => {}
            Err(NotSaved::Failed(why)) => {
                return Err(Failure::new(format!("the file was not saved: {why}")));
            }
        }
    }
    let prepared = prepare(toolkit, &edit).await?;
    Err(Failure::new(format!("the file changed {MAX_ATTEMPTS} times while it was to be saved"))
        .with("suggestion", "try again when nobody else writes it")
        .with("diff", diff_of(&prepared)))
}

/// Makes a change on the text of the file and checks the file that would result.
async fn prepare(toolkit: &Toolkit, edit: &Edit) -> Result<Prepared, Failure> {
    let file = toolkit.file().await?;
    let old = Arc::clone(&file.source);
    let (text, name) = match edit {
        Edit::Add(tool) => (edit::add_tool(&old, tool), name_of(tool)),
        Edit::Update(name, tool) => {
            definition(&file, name)?;
            (edit::update_tool(&old, name, tool), name_of(tool))
        }
        Edit::Delete(name) => {
            definition(&file, name)?;
            (edit::delete_tool(&old, name), None)
        }
    };
    let new = text.map_err(|error| not_edited(&error))?;
    let name = name.map(str::to_owned);
    let text = new.clone();
    let loaded = toolkit.off_thread(move |documents| Ok(documents.with_text(&text))).await?;
    let place = |loaded: &crate::Loaded| {
        let file = loaded.file.as_ref()?;
        file.tools.iter().position(|tool| Some(&*tool.name) == name.as_deref())
    };
    let found = match (place(&loaded), &name) {
        (Some(index), Some(name)) => {
            let proposed = Proposed { loaded, index, name: name.clone() };
            check::all_problems(toolkit, &proposed).await
        }
        _ => problems(&loaded.diagnostics, None),
    };
    if check::has_errors(&found) {
        return Err(check::refused(found));
    }
    Ok(Prepared { old, new, warnings: found })
}

fn not_edited(error: &EditError) -> Failure {
    Failure::new(error.to_string()).with("diagnostics", problems(&error.diagnostics(), None))
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
