mod codes;
mod collection;
mod json;
mod source;
mod suggest;
mod terminal;

use std::sync::Arc;

use crate::{Diagnostic, Diagnostics, Source, Span, codes::UNKNOWN_KEY};

/// A source and the span of the text between `«` and `»`, which are taken out.
fn marked(text: &str) -> (Arc<Source>, Span) {
    let start = text.find('«').expect("an opening mark");
    let end = text.find('»').expect("a closing mark") - '«'.len_utf8();
    let source = Source::new("graph.yaml", text.replace(['«', '»'], ""));
    (source, Span::new(start, end))
}

/// One problem at the marked place.
fn problem(text: &str) -> Diagnostics {
    let (source, span) = marked(text);
    Diagnostic::error(UNKNOWN_KEY, "something is wrong").at(&source, span, "here").into()
}
