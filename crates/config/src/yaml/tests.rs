mod limits;
mod places;
mod values;

use std::sync::Arc;

use mcpgraph_diagnostics::{Colour, Diagnostics, Source, to_terminal};

use super::parse;
use crate::Tree;

/// The tree of a text that has no problems.
fn tree(text: &str) -> (Arc<Source>, Arc<Tree>) {
    let source = Source::new("test.yaml", text);
    let (tree, diagnostics) = parse(&source);
    assert!(diagnostics.is_empty(), "{}", to_terminal(&diagnostics, Colour::Plain));
    (source, tree.expect("a tree"))
}

/// The value of a text that has no problems, as JSON.
fn json(text: &str) -> String {
    tree(text).1.to_value().to_json()
}

/// What is wrong with a text, as a person sees it.
fn problems(text: &str) -> String {
    to_terminal(&found(text), Colour::Plain)
}

fn found(text: &str) -> Diagnostics {
    parse(&Source::new("test.yaml", text)).1
}
