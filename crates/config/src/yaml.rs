//! From text to a [`Tree`](crate::Tree).
//!
//! The parser is `granit-parser`, the one below `serde-saphyr`, used by its events: through serde
//! a file has one error at most, numbers lose their digits, and a scalar does not say how it was
//! written, which is needed to find a place inside it. JSON is read by the same code.

mod compose;
pub(crate) mod scalar;
mod syntax;

use std::sync::Arc;

use granit_parser::{Options, Parser};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes};

use self::compose::Composer;
use crate::{Kind, Tree};

/// The largest file that is read: 16 MiB.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// How deep mappings and lists may nest, aliases included.
pub const MAX_DEPTH: usize = mcpgraph_value::MAX_DEPTH;

/// How many values a file may hold when every alias is counted in full.
pub const MAX_VALUES: usize = 1_000_000;

/// Reads a YAML or JSON text: the tree, unless its syntax is broken or a limit is hit, and
/// everything that is wrong with it.
pub(crate) fn parse(source: &Arc<Source>) -> (Option<Arc<Tree>>, Diagnostics) {
    parse_part(source, Span::new(0, source.text().len()))
}

/// Reads the YAML that is a part of a larger text, such as a block of a markdown file. All places
/// are those of the whole text.
pub(crate) fn parse_part(source: &Arc<Source>, part: Span) -> (Option<Arc<Tree>>, Diagnostics) {
    if part.len() > MAX_FILE_BYTES {
        return (None, too_large(source).into());
    }
    let mut composer = Composer::new(source, part.start);
    for event in Parser::new_from_str_with_options(source.slice(part), options(false)) {
        let outcome = match event {
            Ok((event, span)) => composer.event(event, &span),
            Err(error) => Err(syntax::diagnostic(source, &error, part.start).into()),
        };
        if let Err(fatal) = outcome {
            composer.diagnostics.push(*fatal);
            return (None, composer.diagnostics);
        }
    }
    // A text without any document, such as an empty one, stands for nothing.
    let nothing = || Arc::new(Tree::new(Span::empty(part.start), Kind::Null));
    (Some(composer.root.unwrap_or_else(nothing)), composer.diagnostics)
}

/// How texts are parsed; the places of anchors are told only to those who want them.
pub(crate) fn options(emit_anchor_events: bool) -> Options {
    granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: emit_anchor_events,
        emit_comments: false,
        flow_nesting_limit: MAX_DEPTH,
        block_nesting_limit: MAX_DEPTH,
    }
}

fn too_large(source: &Arc<Source>) -> Diagnostic {
    let message = format!(
        "the file has {} bytes; the limit is {MAX_FILE_BYTES} bytes (16 MiB)",
        source.text().len()
    );
    Diagnostic::error(codes::FILE_TOO_LARGE, message)
        .at(source, Span::empty(0), "")
        .hint("keep data out of the graph file, or split the tools over several files")
}

#[cfg(test)]
mod tests;
