use std::sync::Arc;

use crate::{Code, Position, Source, Span};

/// Whether a problem keeps the file from being used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file cannot be used.
    Error,
    /// The file can be used, and probably does not do what was meant.
    Warning,
}

impl Severity {
    /// The word shown to people and tools.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A marked place with a few words beside it.
#[derive(Clone, Debug)]
pub struct Label {
    /// The text the span points into.
    pub source: Arc<Source>,
    /// What is underlined.
    pub span: Span,
    /// The words beside the underline; may be empty.
    pub text: String,
}

impl Label {
    /// Where the marked text begins.
    pub fn start(&self) -> Position {
        self.source.position(self.span.start)
    }

    /// Where the marked text ends: the first place behind it.
    pub fn end(&self) -> Position {
        self.source.position(self.span.end)
    }
}

/// One problem.
///
/// Messages say what is wrong without blame, start with a small letter, end without a full stop
/// and put names in backticks. Hints say what to do.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Which kind of problem it is.
    pub code: Code,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// Where it is wrong; none for a problem of a whole file.
    pub primary: Option<Label>,
    /// The file that it is a problem of as a whole.
    pub file: Option<String>,
    /// Other places that belong to it, such as the first of two duplicates.
    pub secondary: Vec<Label>,
    /// What to do about it.
    pub hint: Option<String>,
    /// The place as an RFC 6901 pointer into the document, for agents that edit it as data.
    pub pointer: Option<String>,
}

impl Diagnostic {
    /// A problem that keeps the file from being used.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, message.into())
    }

    /// A problem the file can be used with.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, message.into())
    }

    fn new(code: Code, severity: Severity, message: String) -> Self {
        Self {
            code,
            severity,
            message,
            primary: None,
            file: None,
            secondary: Vec::new(),
            hint: None,
            pointer: None,
        }
    }

    /// Says where the problem is, with a few words (or none) beside the underline.
    #[must_use]
    pub fn at(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Self {
        self.primary = Some(Label { source: Arc::clone(source), span, text: text.into() });
        self
    }

    /// Says which file as a whole it is a problem of.
    #[must_use]
    pub fn of_file(mut self, name: impl Into<String>) -> Self {
        self.file = Some(name.into());
        self
    }

    /// Adds another place that belongs to the problem.
    #[must_use]
    pub fn also(mut self, source: &Arc<Source>, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { source: Arc::clone(source), span, text: text.into() });
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says what to do about it, if there is something to say.
    #[must_use]
    pub fn maybe_hint(mut self, hint: Option<String>) -> Self {
        self.hint = hint.or(self.hint);
        self
    }

    /// Gives the place as an RFC 6901 pointer.
    #[must_use]
    pub fn pointer(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = Some(pointer.into());
        self
    }

    /// Whether this is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}
