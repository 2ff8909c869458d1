use mcpgraph_journal::JournalError;
use mcpgraph_value::{Map, Value};

use super::super::args::HistoryArgs;
use super::super::args::runs::ImportArgs;
use super::super::document;
use super::{Exit, failed, output, print};

/// Takes in a run that was exported; the folder is made if there is none.
pub(super) fn import(args: &ImportArgs, history: &HistoryArgs, json: bool) -> anyhow::Result<Exit> {
    let name = args.file.display();
    let text = document::read(&args.file)
        .map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
    let document = Value::from_json(&text)
        .map_err(|error| failed(format!("`{name}` is not JSON: {error}")))?;
    let id = history.create()?.import(&document).map_err(|error| match error {
        JournalError::Import(_) | JournalError::Exists(_) => failed(format!("`{name}`: {error}")),
        other => other.into(),
    })?;
    if json {
        print(&Map::from_iter([("run", id.to_string())]).into())?;
    } else {
        output::data(&format!("{id}\n"))?;
    }
    Ok(Exit::Success)
}
