use std::fmt;
use std::ops::Range;

use mcpgraph_value::Value;

use crate::Span;

/// Something in the source that is not JSONata.
#[derive(Clone, Debug, PartialEq)]
pub struct SyntaxError {
    /// The code the reference implementation uses, such as `S0202`.
    pub code: &'static str,
    /// What is wrong, in a sentence.
    pub message: String,
    /// The offending token, where one can be named.
    pub token: Option<String>,
    /// Where the reference implementation points, in bytes: mostly the end of the token. Some
    /// errors it cannot place.
    pub position: Option<usize>,
    /// The bytes of the source to underline.
    pub span: Range<usize>,
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

impl std::error::Error for SyntaxError {}

/// What is wrong, before it is put into words.
#[derive(Debug)]
pub(crate) enum Fault {
    UnterminatedString,
    NumberOutOfRange(String),
    UnknownEscape(String),
    BadUnicodeEscape,
    UnterminatedName,
    UnterminatedComment,
    TrailingToken(String),
    Expected { wanted: &'static str, got: String },
    ExpectedBeforeEnd { wanted: &'static str },
    UnknownOperator(String),
    UnexpectedEnd,
    ParameterNotVariable { index: usize, got: String },
    PredicateAfterGroup,
    SecondGroup,
    NotUnary(String),
    BindTarget(String),
    LiteralStep(Value),
    BindingName(&'static str),
    BindingAfterPredicate,
    BindingAfterSort,
    NoParent(&'static str),
    EmptyRegex,
    UnterminatedRegex,
    BadRegex { pattern: String, reason: String },
    TypeParameter(String),
    ChoiceOfParameterized(String),
    TooDeep,
    TooLong,
}

impl Fault {
    pub(crate) fn at(self, span: Span) -> SyntaxError {
        let (code, message) = self.describe();
        let position = Some(self.position(span));
        SyntaxError { code, message, token: self.token(), position, span: span.range() }
    }

    /// Where the reference implementation points, in what is underlined.
    fn position(&self, span: Span) -> usize {
        let Range { start, end } = span.range();
        match self {
            Self::NumberOutOfRange(_) | Self::UnterminatedComment => start,
            // Behind the backslash, or at the slash that closes.
            Self::UnknownEscape(_) | Self::BadUnicodeEscape | Self::EmptyRegex => start + 1,
            _ => end,
        }
    }

    fn describe(&self) -> (&'static str, String) {
        match self {
            Self::UnterminatedString => ("S0101", "the string has no closing quote".into()),
            Self::NumberOutOfRange(text) => ("S0102", format!("the number {text} is out of range")),
            Self::UnknownEscape(text) => {
                ("S0103", format!("`\\{text}` is not an escape sequence of a string"))
            }
            Self::BadUnicodeEscape => ("S0104", "`\\u` takes four hexadecimal digits".into()),
            Self::UnterminatedName => ("S0105", "the quoted name has no closing backtick".into()),
            Self::UnterminatedComment => ("S0106", "the comment has no closing `*/`".into()),
            Self::TrailingToken(token) => {
                ("S0201", format!("`{token}` does not belong here; the expression ended before it"))
            }
            Self::Expected { wanted, got } => {
                ("S0202", format!("expected `{wanted}`, got `{got}`"))
            }
            Self::ExpectedBeforeEnd { wanted } => {
                ("S0203", format!("expected `{wanted}` before the end of the expression"))
            }
            Self::UnknownOperator(token) => ("S0204", format!("`{token}` is not an operator")),
            Self::UnexpectedEnd => ("S0207", "the expression ends too early".into()),
            Self::ParameterNotVariable { index, .. } => (
                "S0208",
                format!("parameter {index} of the function must be a variable, such as `$x`"),
            ),
            Self::PredicateAfterGroup => {
                ("S0209", "a step that groups cannot be followed by a predicate".into())
            }
            Self::SecondGroup => ("S0210", "a step can group only once".into()),
            Self::NotUnary(token) => {
                ("S0211", format!("`{token}` cannot stand at the beginning of an expression"))
            }
            Self::BindTarget(_) => {
                ("S0212", "the left side of `:=` must be a variable, such as `$x`".into())
            }
            Self::LiteralStep(value) => {
                ("S0213", format!("the literal {value} cannot be a step of a path"))
            }
            Self::BindingName(operator) => (
                "S0214",
                format!("the right side of `{operator}` must be a variable, such as `$x`"),
            ),
            Self::BindingAfterPredicate => {
                ("S0215", "`@` must come before the predicates of its step".into())
            }
            Self::BindingAfterSort => {
                ("S0216", "`@` must come before the order-by clause of its step".into())
            }
            Self::NoParent(_) => ("S0217", "`%` has no parent that is known here".into()),
            Self::EmptyRegex => ("S0301", "a regular expression cannot be empty".into()),
            Self::UnterminatedRegex => {
                ("S0302", "the regular expression has no closing `/`".into())
            }
            Self::BadRegex { pattern, reason } => {
                ("S0303", format!("`/{pattern}/` is not a regular expression: {reason}"))
            }
            Self::TypeParameter(of) => {
                let message =
                    format!("only `a` and `f` in a signature take a type parameter, not `{of}`");
                ("S0401", message)
            }
            Self::ChoiceOfParameterized(choice) => {
                let message = format!(
                    "a choice in a signature cannot hold types with parameters, as `({choice})` does"
                );
                ("S0402", message)
            }
            Self::TooDeep => {
                ("S0501", format!("the expression nests deeper than {} levels", super::MAX_DEPTH))
            }
            Self::TooLong => (
                "S0502",
                format!("the expression is longer than {} bytes", super::MAX_SOURCE_BYTES),
            ),
        }
    }

    fn token(&self) -> Option<String> {
        match self {
            Self::NumberOutOfRange(token)
            | Self::UnknownEscape(token)
            | Self::TrailingToken(token)
            | Self::Expected { got: token, .. }
            | Self::UnknownOperator(token)
            | Self::ParameterNotVariable { got: token, .. }
            | Self::NotUnary(token)
            | Self::BindTarget(token)
            | Self::BadRegex { pattern: token, .. } => Some(token.clone()),
            Self::ExpectedBeforeEnd { .. } | Self::UnexpectedEnd => Some("(end)".to_owned()),
            Self::BindingName(token) | Self::NoParent(token) => Some((*token).to_owned()),
            _ => None,
        }
    }
}
