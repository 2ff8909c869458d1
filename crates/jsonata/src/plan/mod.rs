//! The form of an expression that is evaluated: paths are lists of steps, every `%` knows the step
//! it refers to, and calls in tail position can be told from others.

mod ancestry;
mod lower;

use std::sync::Arc;

pub(crate) use lower::{Embedding, lower};

use crate::Span;
use crate::builtins::Builtin;
use crate::regex::Regex;
use crate::signature::Signature;
use crate::syntax::ast::{BinaryOp, Literal};

/// A whole expression, ready to be evaluated.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) root: Node,
}

/// The number of one `%` of the source.
pub(crate) type Slot = usize;

/// One node.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// The token that errors point at.
    pub(crate) token: Span,
    /// All of it.
    pub(crate) span: Span,
    pub(crate) keep_array: bool,
    /// Whether the array it makes is kept as one item by the path around it.
    pub(crate) cons_array: bool,
    /// Filters of a node that is not a step.
    pub(crate) predicates: Vec<Node>,
    pub(crate) group: Option<Box<Group>>,
    pub(crate) step: Step,
    /// The slots that look for their parent outside this node.
    pub(crate) seeking: Vec<Slot>,
}

/// What a node is as a step of a path.
#[derive(Debug, Default)]
pub(crate) struct Step {
    pub(crate) stages: Vec<Stage>,
    /// The variable of `@`.
    pub(crate) focus: Option<Arc<str>>,
    /// The variable of `#`.
    pub(crate) index: Option<Arc<str>>,
    /// The slots whose parent is the input of this step.
    pub(crate) ancestors: Vec<Slot>,
    /// Whether the path carries variables from this step on.
    pub(crate) tuple: bool,
}

/// What happens to the result of a step before the next.
#[derive(Debug)]
pub(crate) enum Stage {
    Filter(Node),
    Index(Arc<str>),
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) pairs: Vec<(Node, Node)>,
    pub(crate) token: Span,
}

#[derive(Debug)]
pub(crate) struct SortKey {
    pub(crate) descending: bool,
    pub(crate) key: Node,
}

#[derive(Debug)]
pub(crate) struct LambdaPlan {
    pub(crate) parameters: Vec<Arc<str>>,
    pub(crate) signature: Option<Arc<Signature>>,
    pub(crate) body: Node,
}

#[derive(Debug)]
pub(crate) struct TransformPlan {
    pub(crate) pattern: Node,
    pub(crate) update: Node,
    pub(crate) delete: Option<Node>,
    pub(crate) token: Span,
}

/// A reference to a variable.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: Arc<str>,
    /// Whether a scope of the expression may hold it; if not, scopes need not be searched.
    pub(crate) may_be_local: bool,
    pub(crate) builtin: Option<&'static Builtin>,
}

#[derive(Debug)]
pub(crate) struct Block {
    pub(crate) items: Vec<Node>,
    /// Whether it binds variables, so that it needs a scope.
    pub(crate) is_scope: bool,
}

#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) function: Node,
    pub(crate) arguments: Vec<Node>,
}

#[derive(Debug)]
pub(crate) enum NodeKind {
    Path {
        steps: Vec<Node>,
        keep_singleton: bool,
    },
    Literal(Literal),
    Regex(Arc<Regex>),
    Name(Arc<str>),
    /// `$`
    Context,
    Variable(Variable),
    Wildcard,
    Descendants,
    Parent(Slot),
    Placeholder,
    Sort(Vec<SortKey>),
    Negate(Box<Node>),
    Binary {
        op: BinaryOp,
        lhs: Box<Node>,
        rhs: Box<Node>,
    },
    Chain {
        lhs: Box<Node>,
        rhs: Box<Node>,
    },
    Bind {
        name: Arc<str>,
        value: Box<Node>,
    },
    Condition {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Option<Box<Node>>,
    },
    Elvis {
        value: Box<Node>,
        default: Box<Node>,
    },
    Coalesce {
        value: Box<Node>,
        default: Box<Node>,
    },
    Block(Block),
    Array(Vec<Node>),
    Object(Group),
    Call(Box<Call>),
    Partial(Box<Call>),
    Lambda(Arc<LambdaPlan>),
    Transform(Arc<TransformPlan>),
}

impl Node {
    fn new(kind: NodeKind, token: Span, span: Span) -> Self {
        Self {
            kind,
            token,
            span,
            keep_array: false,
            cons_array: false,
            predicates: Vec::new(),
            group: None,
            step: Step::default(),
            seeking: Vec::new(),
        }
    }

    /// Whether nothing is attached to it.
    pub(crate) fn is_bare(&self) -> bool {
        self.predicates.is_empty() && self.group.is_none()
    }

    /// Where the reference implementation places it; paths and parents have no place there.
    pub(crate) fn position(&self) -> Option<usize> {
        match self.kind {
            NodeKind::Path { .. } | NodeKind::Parent(_) => None,
            _ => Some(self.token.end as usize),
        }
    }

    /// The word by which the reference implementation names it: its operator, or its name.
    pub(crate) fn word(&self) -> Option<String> {
        let word = match &self.kind {
            NodeKind::Path { steps, .. } => return steps.first().and_then(Self::word),
            NodeKind::Name(name) => name,
            NodeKind::Variable(variable) => &*variable.name,
            NodeKind::Literal(Literal::String(text)) => text,
            NodeKind::Literal(literal) => return Some(literal.to_string()),
            NodeKind::Context => "",
            NodeKind::Wildcard => "*",
            NodeKind::Descendants => "**",
            NodeKind::Placeholder => "?",
            NodeKind::Negate(_) => "-",
            NodeKind::Binary { op, .. } => op.as_str(),
            NodeKind::Chain { .. } => "~>",
            NodeKind::Bind { .. } => ":=",
            NodeKind::Array(_) => "[",
            NodeKind::Object(_) => "{",
            NodeKind::Call(_) | NodeKind::Partial(_) => "(",
            NodeKind::Regex(_)
            | NodeKind::Parent(_)
            | NodeKind::Sort(_)
            | NodeKind::Condition { .. }
            | NodeKind::Elvis { .. }
            | NodeKind::Coalesce { .. }
            | NodeKind::Block(_)
            | NodeKind::Lambda(_)
            | NodeKind::Transform(_) => return None,
        };
        Some(word.to_owned())
    }

    /// The steps, if it is a path.
    fn steps_mut(&mut self) -> Option<&mut Vec<Self>> {
        if let NodeKind::Path { steps, .. } = &mut self.kind { Some(steps) } else { None }
    }

    /// Works on the node that predicates and variables behind this one belong to.
    fn with_last_step<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        if let Some(last) = self.steps_mut().and_then(|steps| steps.last_mut()) {
            return work(last);
        }
        work(self)
    }
}
