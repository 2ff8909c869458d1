//! Functions as values.

use std::any::Any;
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use mcpgraph_value::Value;

use crate::builtins::Builtin;
use crate::error::EvalError;
use crate::eval::Place;
use crate::frame::Scope;
use crate::item::Item;
use crate::plan::{LambdaPlan, TransformPlan};
use crate::regex::Regex;
use crate::signature::Signature;

/// The arguments of a call; one that is undefined is `None`.
pub(crate) type Arguments = Vec<Option<Item>>;

/// A function.
pub(crate) enum Function {
    Builtin(&'static Builtin),
    Host(Arc<HostFunction>),
    Lambda(Closure),
    /// Some arguments are given, some are open.
    Partial {
        function: Rc<Function>,
        arguments: Vec<PartialArgument>,
    },
    /// The first, and then the second on its result.
    Chain(Rc<Function>, Rc<Function>),
    Transform {
        plan: Arc<TransformPlan>,
        scope: Scope,
    },
    /// A regular expression: takes a string, returns its first match.
    Matcher(Arc<Regex>),
    /// The function `next` of a match.
    NextMatch {
        regex: Arc<Regex>,
        text: Arc<str>,
        from: Place,
    },
}

/// A lambda and what it was made in.
pub(crate) struct Closure {
    pub(crate) plan: Arc<LambdaPlan>,
    pub(crate) input: Option<Item>,
    pub(crate) scope: Scope,
}

pub(crate) enum PartialArgument {
    Given(Option<Item>),
    Open,
}

/// A function that the host offers to expressions.
pub struct HostFunction {
    pub(crate) name: Arc<str>,
    pub(crate) signature: Signature,
    pub(crate) call: Box<HostCall>,
}

/// What host functions work on, in one evaluation.
pub type HostState = dyn Any + Send + Sync;

/// What a host function does: takes the state of the evaluation and its arguments, `None` for one
/// that is undefined, and returns a value or nothing.
pub type HostCall =
    dyn Fn(Option<&HostState>, &[Option<Value>]) -> Result<Option<Value>, EvalError> + Send + Sync;

impl Function {
    /// How many arguments it takes; functions such as `$map` pass no more.
    pub(crate) fn arity(&self) -> usize {
        match self {
            Self::Builtin(builtin) => builtin.arity,
            Self::Host(host) => host.signature.parameters.len(),
            Self::Lambda(closure) => closure.plan.parameters.len(),
            Self::Partial { arguments, .. } => arguments
                .iter()
                .filter(|argument| matches!(argument, PartialArgument::Open))
                .count(),
            Self::Chain(..) | Self::Transform { .. } => 1,
            // A position to start from may follow the string.
            Self::Matcher(_) => 2,
            Self::NextMatch { .. } => 0,
        }
    }
}

impl fmt::Debug for HostFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}{}", self.name, self.signature)
    }
}
