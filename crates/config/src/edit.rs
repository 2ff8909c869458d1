//! Changes of a graph file that leave the rest of its text as it is, byte for byte.
//!
//! A text is changed by its layout: where each value stands, with its dashes, colons and comments.
//! Every changed text is read again before it is given away, and compared with what was wanted;
//! see `docs/decisions/0004-editing-yaml.md`.

mod editor;
mod emit;
mod error;
mod items;
mod layout;
mod lines;
mod matching;
mod revise;
mod scalar;
mod splices;
mod style;

use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use mcpgraph_value::Value;

pub use self::error::EditError;
use self::items::{Items, TOOLS, WORKFLOWS};

/// What a file begins with that says nothing yet: what every file has to say.
const BEGINNING: &str = "\
version: \"1.0\"

server:
  name: starter
  version: \"1.0.0\"
";

/// The text with one more tool, behind the others and written like them. A text that says nothing
/// is begun.
pub fn add_tool(source: &Arc<Source>, tool: &Value) -> Result<String, EditError> {
    let begun = is_blank(source.text()).then(|| begun(source));
    Items::read(TOOLS, begun.as_ref().unwrap_or(source))?.add(tool)
}

/// Whether a text has no lines, or only comments.
fn is_blank(text: &str) -> bool {
    text.lines().map(str::trim_start).all(|line| line.is_empty() || line.starts_with('#'))
}

/// A text that says nothing, with what a file has to say below its comments.
fn begun(source: &Source) -> Arc<Source> {
    let comments = source.text().trim();
    let gap = if comments.is_empty() { "" } else { "\n\n" };
    Source::new(source.name(), format!("{comments}{gap}{BEGINNING}"))
}

/// The text with another definition of the tool `name`. Of the old text everything stays that says
/// what is wanted, comments included; the name may change.
pub fn update_tool(source: &Arc<Source>, name: &str, tool: &Value) -> Result<String, EditError> {
    Items::read(TOOLS, source)?.update(name, tool)
}

/// The text without the tool `name`, its comment directly above, and the empty lines that set it
/// apart.
pub fn delete_tool(source: &Arc<Source>, name: &str) -> Result<String, EditError> {
    Items::read(TOOLS, source)?.delete(name)
}

/// The text with another definition of the workflow `name`, as [`update_tool`] makes it.
pub fn update_workflow(
    source: &Arc<Source>,
    name: &str,
    workflow: &Value,
) -> Result<String, EditError> {
    Items::read(WORKFLOWS, source)?.update(name, workflow)
}

/// The text without the workflow `name`, as [`delete_tool`] makes it.
pub fn delete_workflow(source: &Arc<Source>, name: &str) -> Result<String, EditError> {
    Items::read(WORKFLOWS, source)?.delete(name)
}

#[cfg(test)]
mod tests;
