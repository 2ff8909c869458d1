use std::fmt;
use std::sync::Arc;

use super::ast::Literal;
use crate::js;

/// One word of the source.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    End,
    Name(Arc<str>),
    Variable(Arc<str>),
    Literal(Literal),
    Regex { pattern: Arc<str>, flags: RegexFlags },
    Symbol(Symbol),
}

/// What follows the closing slash of a regular expression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct RegexFlags {
    /// `i`
    pub ignore_case: bool,
    /// `m`
    pub multi_line: bool,
}

macro_rules! symbols {
    ($($name:ident $text:literal,)*) => {
        /// Punctuation and the operators that are words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Symbol { $($name,)* }

        impl Symbol {
            pub(crate) fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

symbols! {
    Dot ".", BracketOpen "[", BracketClose "]", BraceOpen "{", BraceClose "}",
    ParenOpen "(", ParenClose ")", Comma ",", At "@", Hash "#", Semicolon ";", Colon ":",
    Question "?", Plus "+", Minus "-", Star "*", Slash "/", Percent "%", Bar "|",
    Equal "=", Less "<", Greater ">", Caret "^", StarStar "**", DotDot "..", Assign ":=",
    NotEqual "!=", LessEqual "<=", GreaterEqual ">=", Chain "~>", Elvis "?:", Coalesce "??",
    And "and", Or "or", In "in", Ampersand "&",
}

impl Symbol {
    /// How strongly the symbol binds to what stands left of it; zero if it cannot stand there.
    pub(crate) fn binding_power(self) -> u8 {
        match self {
            Self::BracketOpen | Self::ParenOpen | Self::At | Self::Hash => 80,
            Self::Dot => 75,
            Self::BraceOpen => 70,
            Self::Star | Self::Slash | Self::Percent => 60,
            Self::Plus | Self::Minus | Self::Ampersand => 50,
            Self::Equal
            | Self::NotEqual
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual
            | Self::Caret
            | Self::Chain
            | Self::Elvis
            | Self::Coalesce
            | Self::In => 40,
            Self::And => 30,
            Self::Or => 25,
            Self::Question => 20,
            Self::Assign => 10,
            Self::BracketClose
            | Self::BraceClose
            | Self::ParenClose
            | Self::Comma
            | Self::Semicolon
            | Self::Colon
            | Self::Bar
            | Self::StarStar
            | Self::DotDot => 0,
        }
    }

    /// Whether the symbol ends or separates parts of a bracketed list.
    pub(crate) fn is_delimiter(self) -> bool {
        matches!(
            self,
            Self::BracketClose
                | Self::BraceClose
                | Self::ParenClose
                | Self::Comma
                | Self::Semicolon
                | Self::Colon
        )
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("(end)"),
            Self::Name(name) | Self::Variable(name) => f.write_str(name),
            Self::Literal(Literal::String(text)) => f.write_str(text),
            Self::Literal(Literal::Number(number)) => f.write_str(&js::number::to_string(*number)),
            Self::Literal(literal) => write!(f, "{literal}"),
            Self::Regex { pattern, .. } => write!(f, "/{pattern}/"),
            Self::Symbol(symbol) => f.write_str(symbol.as_str()),
        }
    }
}
