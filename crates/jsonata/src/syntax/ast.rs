//! The syntax tree: the expression as it was written, with the place of every part.

use std::fmt;
use std::sync::Arc;

use mcpgraph_value::Value;

pub use super::token::RegexFlags;
use crate::Span;
use crate::signature::Signature;

/// One node.
#[derive(Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Everything from its first to its last token.
    pub span: Span,
    /// The token that makes it what it is: the operator, the opening bracket, the name.
    ///
    /// The reference implementation gives the end of this token as the position of an error.
    pub token: Span,
    /// Whether `[]` follows: a single result stays in its array.
    pub keep_array: bool,
    /// How many nodes lie on the longest way down from here.
    pub(crate) height: u32,
}

/// The kinds of node.
#[derive(Debug, PartialEq)]
pub enum ExprKind {
    /// A number, string, boolean or null.
    Literal(Literal),
    /// `/pattern/flags`
    Regex {
        /// What stands between the slashes.
        pattern: Arc<str>,
        /// What stands behind them.
        flags: RegexFlags,
    },
    /// `name` or `` `quoted name` ``
    Name(Arc<str>),
    /// `$name`; the empty name is the context `$`, the name `$` the root `$$`.
    Variable(Arc<str>),
    /// `*`
    Wildcard,
    /// `**`
    Descendants,
    /// `%`
    Parent,
    /// `?` among the arguments of a call.
    Placeholder,
    /// Nothing, where an expression was expected at the end of the source.
    Missing,
    /// `-operand`
    Negate(Box<Expr>),
    /// `lhs op rhs`
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left of it.
        lhs: Box<Expr>,
        /// Right of it.
        rhs: Box<Expr>,
    },
    /// `input[predicate]`
    Filter {
        /// What is filtered.
        input: Box<Expr>,
        /// The condition or index.
        predicate: Box<Expr>,
    },
    /// `input{key: value, …}`
    Group {
        /// What is grouped.
        input: Box<Expr>,
        /// Keys and values.
        pairs: Vec<(Expr, Expr)>,
    },
    /// `input^(<term, >term)`
    Sort {
        /// What is sorted.
        input: Box<Expr>,
        /// The terms, most important first.
        terms: Vec<SortTerm>,
    },
    /// `input@$name`
    Focus {
        /// The step.
        input: Box<Expr>,
        /// The variable that holds its value.
        name: Arc<str>,
    },
    /// `input#$name`
    Index {
        /// The step.
        input: Box<Expr>,
        /// The variable that holds the position.
        name: Arc<str>,
    },
    /// `$name := value`
    Bind {
        /// The variable.
        name: Arc<str>,
        /// Its value.
        value: Box<Expr>,
    },
    /// `condition ? then : otherwise`
    Condition {
        /// What decides.
        condition: Box<Expr>,
        /// The result if it holds.
        then: Box<Expr>,
        /// The result if not.
        otherwise: Option<Box<Expr>>,
    },
    /// `value ?: default`: the default if the value is false as a boolean.
    Elvis {
        /// The value.
        value: Box<Expr>,
        /// The default.
        default: Box<Expr>,
    },
    /// `value ?? default`: the default if there is no value.
    Coalesce {
        /// The value.
        value: Box<Expr>,
        /// The default.
        default: Box<Expr>,
    },
    /// `(a; b; c)`
    Block(Vec<Expr>),
    /// `[a, b..c]`
    Array(Vec<Expr>),
    /// `{key: value, …}`
    Object(Vec<(Expr, Expr)>),
    /// `function(arguments)`, or a partial application if an argument is a placeholder.
    Call {
        /// What is called.
        function: Box<Expr>,
        /// With what.
        arguments: Vec<Expr>,
    },
    /// `function($a, $b)<signature>{body}`
    Lambda(Lambda),
    /// `|pattern|update,delete|`
    Transform {
        /// What is changed.
        pattern: Box<Expr>,
        /// The members that are set.
        update: Box<Expr>,
        /// The names of those that are removed.
        delete: Option<Box<Expr>>,
    },
}

/// A function in the source.
#[derive(Debug, PartialEq)]
pub struct Lambda {
    /// The parameters, without `$`.
    pub parameters: Vec<Arc<str>>,
    /// The types of the arguments, if given.
    pub signature: Option<Arc<Signature>>,
    /// What it computes.
    pub body: Box<Expr>,
}

/// One term of an order-by clause.
#[derive(Debug, PartialEq)]
pub struct SortTerm {
    /// Whether `>` stands before it.
    pub descending: bool,
    /// What is compared.
    pub key: Expr,
}

/// A value in the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    String(Arc<str>),
}

/// The operators between two expressions that are alike in form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// `.`
    Map,
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterEqual,
    /// `&`
    Concat,
    /// `and`
    And,
    /// `or`
    Or,
    /// `in`
    In,
    /// `..`
    Range,
    /// `~>`
    Chain,
}

impl BinaryOp {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Map => ".",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Concat => "&",
            Self::And => "and",
            Self::Or => "or",
            Self::In => "in",
            Self::Range => "..",
            Self::Chain => "~>",
        }
    }
}

impl Literal {
    /// The value it stands for.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::from(*number),
            Self::String(text) => Value::String(text.clone()),
        }
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.to_value(), f)
    }
}

impl Expr {
    /// The nodes directly below, in the order they are written.
    pub fn children(&self) -> Vec<&Self> {
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::Variable(_)
            | ExprKind::Wildcard
            | ExprKind::Descendants
            | ExprKind::Parent
            | ExprKind::Placeholder
            | ExprKind::Missing => Vec::new(),
            ExprKind::Negate(inner)
            | ExprKind::Focus { input: inner, .. }
            | ExprKind::Index { input: inner, .. }
            | ExprKind::Bind { value: inner, .. }
            | ExprKind::Lambda(Lambda { body: inner, .. }) => vec![inner],
            ExprKind::Binary { lhs: first, rhs: second, .. }
            | ExprKind::Filter { input: first, predicate: second }
            | ExprKind::Elvis { value: first, default: second }
            | ExprKind::Coalesce { value: first, default: second } => vec![first, second],
            ExprKind::Group { input, pairs } => {
                std::iter::once(&**input).chain(flat(pairs)).collect()
            }
            ExprKind::Object(pairs) => flat(pairs).collect(),
            ExprKind::Sort { input, terms } => {
                std::iter::once(&**input).chain(terms.iter().map(|term| &term.key)).collect()
            }
            ExprKind::Condition { condition, then, otherwise } => {
                [Some(condition), Some(then), otherwise.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|child| &**child)
                    .collect()
            }
            ExprKind::Block(items) | ExprKind::Array(items) => items.iter().collect(),
            ExprKind::Call { function, arguments } => {
                std::iter::once(&**function).chain(arguments).collect()
            }
            ExprKind::Transform { pattern, update, delete } => {
                [Some(pattern), Some(update), delete.as_ref()]
                    .into_iter()
                    .flatten()
                    .map(|child| &**child)
                    .collect()
            }
        }
    }
}

fn flat(pairs: &[(Expr, Expr)]) -> impl Iterator<Item = &Expr> {
    pairs.iter().flat_map(|(key, value)| [key, value])
}
