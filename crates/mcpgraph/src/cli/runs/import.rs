use std::fs::File;
use std::io::{Read, stdin};
use std::path::Path;

use mcpgraph_journal::JournalError;
use mcpgraph_value::{Map, Value};

use super::super::args::HistoryArgs;
use super::super::args::runs::ImportArgs;
use super::{Exit, failed, output, print};

/// The largest document that is read.
const MAX_DOCUMENT_BYTES: u64 = 1024 * 1024 * 1024;

/// Takes in a run that was exported; the folder is made if there is none.
pub(super) fn import(args: &ImportArgs, history: &HistoryArgs, json: bool) -> anyhow::Result<Exit> {
    let name = args.file.display();
    let text = if args.file == Path::new("-") {
        read(stdin().lock())
    } else {
        File::open(&args.file).and_then(read)
    };
    let text = text.map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
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

fn read(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    // One byte more than allowed is enough to see that it is too large.
    from.take(MAX_DOCUMENT_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_DOCUMENT_BYTES {
        let why = format!("it is larger than {MAX_DOCUMENT_BYTES} bytes");
        return Err(std::io::Error::other(why));
    }
    Ok(text)
}
