use std::fmt;
use std::sync::Arc;

use crate::Excerpt;

/// Why an expression could not be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct ExprError {
    /// JSONata's own code such as `T2001`, or one of [`code`].
    pub code: &'static str,
    /// What happened, for people and models.
    pub message: String,
    /// Where in the text of the expression, as a byte offset.
    pub position: Option<usize>,
    /// The word or sign at that place.
    pub token: Option<String>,
    /// The text of the expression, where one that can be read fails.
    pub expression: Option<Arc<str>>,
    /// Where in a JSON Logic rule, or in what else has expressions in it, as an RFC 6901 pointer.
    pub pointer: Option<Box<str>>,
    /// The limit that was exceeded, if that was the reason.
    pub limit: Option<Limit>,
}

/// What an evaluation has a limit for; the names are those of the fields of [`Budget`](crate::Budget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The time it takes.
    Time,
    /// How deep calls and values nest.
    Depth,
    /// The bytes it builds.
    Bytes,
    /// The items of one sequence.
    Sequence,
}

/// The codes that are used beside JSONata's own.
pub mod code {
    /// The evaluation took longer than it may; the code is JSONata's.
    pub const TIME: &str = "D1012";
    /// A sequence grew longer than it may; the code is JSONata's.
    pub const SEQUENCE: &str = "D2015";
    /// The evaluation was cancelled.
    pub const CANCELLED: &str = "X0001";
    /// The evaluation built more bytes than it may.
    pub const BYTES: &str = "X0002";
    /// A value nests deeper than JSON texts may.
    pub const DEPTH: &str = "X0003";
    /// The engine failed in a way it has no code for.
    pub const INTERNAL: &str = "X0004";
    /// A JSON Logic rule uses an operator that does not exist.
    pub const UNKNOWN_OPERATOR: &str = "L0101";
    /// A JSON Logic rule nests too deep.
    pub const RULE_DEPTH: &str = "L0102";
    /// Data stands where a JSON Logic rule is to decide something.
    pub const NOT_A_RULE: &str = "L0103";
    /// A JSON Logic operator got operands it cannot work with.
    pub const OPERANDS: &str = "L0201";
    /// A JSONPath query is not one.
    pub const JSONPATH: &str = "P0101";
    /// A JSONPath query would take too many steps on the given value.
    pub const JSONPATH_COST: &str = "P0201";
}

impl ExprError {
    /// An error with a code and a message.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            position: None,
            token: None,
            expression: None,
            pointer: None,
            limit: None,
        }
    }

    /// What would have been right, where that can be said.
    pub fn hint(&self) -> Option<String> {
        let token = self.token.as_deref().filter(|_| self.code == code::UNKNOWN_OPERATOR)?;
        Some(crate::logic::operator_hint(token))
    }

    /// The error of an exceeded limit; the message names it.
    pub(crate) fn exceeded(code: &'static str, limit: Limit, message: impl Into<String>) -> Self {
        Self { limit: Some(limit), ..Self::new(code, message) }
    }

    /// What the error was in is the member `key` of something larger.
    #[must_use]
    pub fn inside(mut self, key: &str) -> Self {
        let mut pointer = String::from("/") + &key.replace('~', "~0").replace('/', "~1");
        pointer.push_str(self.pointer.as_deref().unwrap_or_default());
        self.pointer = Some(pointer.into());
        self
    }

    /// Where it happened in the text of the expression, for people: the place and the text around it.
    pub fn excerpt(&self) -> Option<Excerpt<'_>> {
        Excerpt::of(self.expression.as_deref()?, self.position)
    }

    /// Says where in a rule the error happened, unless that is known already.
    pub(crate) fn at_pointer(mut self, pointer: &str) -> Self {
        self.pointer.get_or_insert_with(|| pointer.into());
        self
    }
}

impl Limit {
    /// The limit's name in settings and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Depth => "depth",
            Self::Bytes => "bytes",
            Self::Sequence => "sequence",
        }
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
