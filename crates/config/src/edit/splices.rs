//! Changes of a text, collected and then applied at once.

use mcpgraph_diagnostics::Span;

use super::layout::{Alias, Anchor, Layout};

/// Pieces of a text and what takes their place.
#[derive(Default)]
pub(super) struct Splices(Vec<(Span, String)>);

impl Splices {
    /// Puts `text` at an offset, behind what was put there before.
    pub(super) fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.replace(at, at, text);
    }

    /// Takes the bytes from `start` to `end` out.
    pub(super) fn remove(&mut self, start: usize, end: usize) {
        self.replace(start, end, "");
    }

    /// Puts `text` in place of the bytes from `start` to `end`.
    pub(super) fn replace(&mut self, start: usize, end: usize, text: impl Into<String>) {
        let text = text.into();
        if end > start || !text.is_empty() {
            self.0.push((Span::new(start, end), text));
        }
    }

    /// The changed text; none if two changes are of the same bytes.
    pub(super) fn apply(mut self, text: &str) -> Option<String> {
        self.0.sort_by_key(|(span, _)| *span);
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        for (span, new) in &self.0 {
            out.push_str(text.get(at..span.start)?);
            out.push_str(new);
            at = span.end;
        }
        out.push_str(text.get(at..)?);
        Some(out)
    }

    /// A value that is changed or taken away here, and used by its name where nothing changes.
    pub(super) fn shared_value<'l>(
        &self,
        layout: &'l Layout<'_>,
    ) -> Option<(&'l Anchor, &'l Alias)> {
        let is_gone = |span: Span| {
            self.0.iter().any(|(change, _)| !change.is_empty() && change.contains(span))
        };
        let is_touched = |anchor: &Anchor| {
            let whole = Span::new(anchor.span.start, anchor.end);
            self.0.iter().any(|(change, _)| {
                change.contains(anchor.span) && !change.is_empty()
                    || change.start > whole.start && change.start < whole.end
            })
        };
        layout.aliases.iter().find_map(|alias| {
            let anchor = layout.anchors.iter().find(|anchor| anchor.id == alias.id)?;
            (is_touched(anchor) && !is_gone(alias.span)).then_some((anchor, alias))
        })
    }
}
