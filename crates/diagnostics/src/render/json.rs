use serde_json::{Map, Value, json};

use crate::{Diagnostic, Diagnostics, Label};

/// The problems as one JSON object, for editors and agents.
///
/// `diagnostics` is the list; each entry has `code`, `severity` and `message`, and as far as they
/// are known `file`, `line`, `column`, `endLine`, `endColumn` (from 1, in characters, the end being
/// the first place behind), `label`, `hint`, `pointer` (RFC 6901) and `related` places. `errors`
/// and `warnings` count them; `leftOut` says how many more there were.
pub fn to_json(diagnostics: &Diagnostics) -> Value {
    let list: Vec<Value> = diagnostics.iter().map(entry).collect();
    let mut report = Map::new();
    report.insert("diagnostics".into(), list.into());
    report.insert("errors".into(), diagnostics.error_count().into());
    report.insert("warnings".into(), diagnostics.warning_count().into());
    if diagnostics.left_out() > 0 {
        report.insert("leftOut".into(), diagnostics.left_out().into());
    }
    report.into()
}

fn entry(diagnostic: &Diagnostic) -> Value {
    let mut entry = Map::new();
    entry.insert("code".into(), diagnostic.code.id().into());
    entry.insert("severity".into(), diagnostic.severity.as_str().into());
    entry.insert("message".into(), diagnostic.message.as_str().into());
    text("file", diagnostic.file.as_deref().unwrap_or_default(), &mut entry);
    if let Some(label) = &diagnostic.primary {
        place(label, &mut entry);
        text("label", &label.text, &mut entry);
    }
    text("pointer", diagnostic.pointer.as_deref().unwrap_or_default(), &mut entry);
    text("hint", diagnostic.hint.as_deref().unwrap_or_default(), &mut entry);
    if !diagnostic.secondary.is_empty() {
        let related: Vec<Value> = diagnostic.secondary.iter().map(related).collect();
        entry.insert("related".into(), related.into());
    }
    entry.into()
}

fn related(label: &Label) -> Value {
    let mut entry = Map::new();
    place(label, &mut entry);
    entry.insert("message".into(), json!(label.text));
    entry.into()
}

fn place(label: &Label, entry: &mut Map<String, Value>) {
    let (start, end) = (label.start(), label.end());
    entry.insert("file".into(), label.source.name().into());
    entry.insert("line".into(), start.line.into());
    entry.insert("column".into(), start.column.into());
    entry.insert("endLine".into(), end.line.into());
    entry.insert("endColumn".into(), end.column.into());
}

fn text(key: &str, text: &str, entry: &mut Map<String, Value>) {
    if !text.is_empty() {
        entry.insert(key.into(), text.into());
    }
}
