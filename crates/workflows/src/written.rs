//! Workflows as they stand in a file, so that what is wrong with them is shown there.

use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Label, Source, Span};
use mcpgraph_value::Value;
use serde_json::value::RawValue;

use crate::{LibraryError, Workflow};

/// Where a workflow was read from.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    source: Arc<Source>,
    span: Span,
    /// The way to it in the file, as an RFC 6901 pointer.
    pointer: String,
}

impl Workflow {
    /// The workflows of a JSON file: one, or a list of them.
    pub fn in_file(source: &Arc<Source>) -> Result<Vec<Self>, LibraryError> {
        let text = source.text();
        let not_json = |error: serde_json::Error| {
            LibraryError::NotAWorkflow(format!("`{}` is not JSON: {error}", source.name()))
        };
        let is_list = text.trim_start().starts_with('[');
        let all: Vec<&RawValue> = if is_list {
            serde_json::from_str(text).map_err(not_json)?
        } else {
            vec![serde_json::from_str(text).map_err(not_json)?]
        };
        let read = |(index, raw): (usize, &RawValue)| {
            let start = raw.get().as_ptr().addr() - text.as_ptr().addr();
            let span = Span::new(start, start + raw.get().len());
            let pointer = if is_list { format!("/{index}") } else { String::new() };
            let definition = Value::from_json(raw.get()).map_err(not_json)?;
            let written = Written { source: Arc::clone(source), span, pointer };
            Ok(Self { written: Some(written), ..Self::new(definition)? })
        };
        all.into_iter().enumerate().map(read).collect()
    }
}

impl Written {
    /// The workflow to the letter.
    pub(crate) fn text(&self) -> &str {
        self.source.slice(self.span)
    }

    /// Moves what was found in a document, in which the workflow begins at `begin` as its first
    /// one, to where it stands in its file.
    pub(crate) fn place(&self, document: &Arc<Source>, begin: usize, found: &mut Diagnostics) {
        let end = begin + self.text().len();
        let place = |label: &mut Label| {
            let Span { start, end: until } = label.span;
            // What is not in it is in a module that it uses.
            if Arc::ptr_eq(&label.source, document) && start >= begin && until <= end {
                let in_file = |offset: usize| offset - begin + self.span.start;
                label.span = Span::new(in_file(start), in_file(until));
                label.source = Arc::clone(&self.source);
            }
        };
        for diagnostic in found.iter_mut() {
            diagnostic.primary.iter_mut().chain(&mut diagnostic.secondary).for_each(place);
            if let Some(rest) =
                diagnostic.pointer.as_ref().and_then(|pointer| pointer.strip_prefix("/workflows/0"))
            {
                diagnostic.pointer = Some(format!("{}{rest}", self.pointer));
            }
        }
    }
}
