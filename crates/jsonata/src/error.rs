use std::fmt;
use std::ops::{Deref, DerefMut};

use mcpgraph_value::Value;

use crate::Span;

/// Why an evaluation failed.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalError {
    /// The code the reference implementation uses, such as `T2001`; `D1012` and `U1xxx` name limits.
    pub code: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The operator or function concerned.
    pub token: Option<String>,
    /// Where the reference implementation points, in bytes: the end of the operator, or of the
    /// bracket of the outermost call the error passed through. Some errors it cannot place.
    pub position: Option<usize>,
    /// What to underline in the source: the innermost part that failed.
    pub span: Option<Span>,
    /// The offending value.
    pub value: Option<Value>,
}

impl EvalError {
    /// An error with a code and a message; the engine adds the place.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), token: None, position: None, span: None, value: None }
    }

    /// The same with the offending value.
    #[must_use]
    pub fn with_value(mut self, value: Option<Value>) -> Self {
        self.value = value;
        self
    }

    /// Whether a limit or a cancellation ended the evaluation, not the expression itself.
    pub fn is_limit(&self) -> bool {
        matches!(self.code, "D1011" | "D1012" | "D2015" | "U1001" | "U1002" | "U1003" | "U1004")
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for EvalError {}

/// An error on its way up; boxed, so that results stay small.
#[derive(Debug)]
pub(crate) struct Failure(Box<EvalError>);

impl Failure {
    pub(crate) fn into_error(self) -> EvalError {
        *self.0
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        Self(Box::new(error))
    }
}

impl Deref for Failure {
    type Target = EvalError;

    fn deref(&self) -> &EvalError {
        &self.0
    }
}

impl DerefMut for Failure {
    fn deref_mut(&mut self) -> &mut EvalError {
        &mut self.0
    }
}

/// The result of evaluating something; `None` is JSONata's "undefined".
pub(crate) type Outcome<T> = Result<T, Failure>;

pub(crate) fn fail(code: &'static str, message: impl Into<String>) -> Failure {
    EvalError::new(code, message).into()
}

/// Places an error that has no place yet.
pub(crate) fn place(failure: &mut Failure, token: Span, span: Span) {
    failure.position.get_or_insert(token.end as usize);
    failure.span.get_or_insert(span);
}

/// Places an error at an operator, whatever position it had.
pub(crate) fn replace(failure: &mut Failure, token: Span, text: &str) {
    failure.position = Some(token.end as usize);
    failure.span.get_or_insert(token);
    failure.token = Some(text.to_owned());
}
