use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes, shortened, suggest};

/// Why a graph file was not changed.
#[derive(Clone, Debug)]
pub enum EditError {
    /// The text is not YAML, or its list is not one.
    Unreadable(Diagnostics),
    /// The definition is not a mapping with a name, or nests too deeply.
    NotADefinition(Box<Diagnostic>),
    /// Another item has the name already.
    NameTaken(Box<Diagnostic>),
    /// There is no item of this name.
    Unknown(Box<Diagnostic>),
    /// A value that would change is used in other places through an anchor.
    Shared(Box<Diagnostic>),
    /// The changed text did not say what was wanted, or something else had changed with it.
    Unfaithful(Box<Diagnostic>),
}

impl EditError {
    /// What is wrong, with places and hints.
    pub fn diagnostics(&self) -> Diagnostics {
        match self {
            Self::Unreadable(diagnostics) => diagnostics.clone(),
            Self::NotADefinition(diagnostic)
            | Self::NameTaken(diagnostic)
            | Self::Unknown(diagnostic)
            | Self::Shared(diagnostic)
            | Self::Unfaithful(diagnostic) => (**diagnostic).clone().into(),
        }
    }

    pub(super) fn not_a_definition(message: &str, hint: &str) -> Self {
        let diagnostic = Diagnostic::error(codes::MISSING_KEY, message).hint(hint).pointer("");
        Self::NotADefinition(diagnostic.into())
    }

    pub(super) fn name_taken(noun: &str, source: &Arc<Source>, name: &str, place: Span) -> Self {
        let message = format!("the file has a {noun} `{}` already", shortened(name, 60));
        let diagnostic = Diagnostic::error(codes::DUPLICATE_TOOL, message)
            .at(source, place, "defined here")
            .hint(format!("choose another name, or update the {noun} that is there"));
        Self::NameTaken(diagnostic.into())
    }

    pub(super) fn unknown(noun: &str, name: &str, known: &[&str]) -> Self {
        let message = format!("the file has no {noun} `{}`", shortened(name, 60));
        let near = suggest::did_you_mean(name, known.iter().copied());
        let listed = || match known {
            [] => format!("the file has no {noun}s"),
            _ => format!("the {noun}s are {}", list(known)),
        };
        let diagnostic =
            Diagnostic::error(codes::EDIT_UNKNOWN_TOOL, message).hint(near.unwrap_or_else(listed));
        Self::Unknown(diagnostic.into())
    }

    pub(super) fn shared(source: &Arc<Source>, anchor: Span, alias: Span) -> Self {
        let name = shortened(source.slice(anchor), 40);
        let message = format!("the change takes away or changes `{name}`, which is used elsewhere");
        let line = source.position(alias.start).line;
        let diagnostic = Diagnostic::error(codes::ANCHOR_IN_USE, message)
            .at(source, anchor, "named here")
            .also(source, alias, "used here")
            .hint(format!("write the value out in line {line} first"));
        Self::Shared(diagnostic.into())
    }

    pub(super) fn unfaithful(source: &Arc<Source>, why: &str) -> Self {
        let message = format!("the change cannot be written into `{}`: {why}", source.name());
        let diagnostic = Diagnostic::error(codes::EDIT_UNFAITHFUL, message)
            .hint("nothing was changed; edit the file by hand");
        Self::Unfaithful(diagnostic.into())
    }
}

/// The first few names.
fn list(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<String> =
        names.iter().take(SHOWN).map(|name| format!("`{}`", shortened(name, 60))).collect();
    if names.len() > SHOWN {
        shown.push(format!("{} more", names.len() - SHOWN));
    }
    shown.join(", ")
}

impl std::fmt::Display for EditError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.diagnostics().iter().next() {
            Some(first) => f.write_str(&first.message),
            None => f.write_str("the file cannot be changed"),
        }
    }
}

impl std::error::Error for EditError {}
