use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use mcpgraph_value::Value;

use crate::error::EvalError;
use crate::eval::{self, Environment};
use crate::plan::{self, Embedding, Plan};
use crate::reads::{self, Reads};
use crate::syntax;
use crate::syntax::ast::Expr;
use crate::syntax::error::SyntaxError;

/// A compiled expression: made once, cheap to clone, evaluated by any number of threads.
#[derive(Clone)]
pub struct Program(Arc<Compiled>);

struct Compiled {
    source: Box<str>,
    syntax: Expr,
    plan: Plan,
}

/// Compiles an expression, or says everything that is wrong with it.
///
/// The first error is the one the reference implementation reports.
pub fn parse(source: &str) -> Result<Program, Vec<SyntaxError>> {
    let syntax = syntax::parse(source)?;
    let plan = plan::lower(&syntax, Embedding::Whole)?;
    Ok(Program(Arc::new(Compiled { source: source.into(), syntax, plan })))
}

impl Program {
    /// The text it was made from.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The syntax tree of that text.
    pub fn syntax(&self) -> &Expr {
        &self.0.syntax
    }

    /// What it reads of its input, as far as its text tells.
    pub fn reads(&self) -> Reads {
        reads::reads(&self.0.syntax)
    }

    /// Evaluates it on an input; `None` stands for JSONata's "undefined" on both sides.
    pub fn evaluate(
        &self,
        input: Option<&Value>,
        environment: &Environment,
    ) -> Result<Option<Value>, EvalError> {
        eval::evaluate(&self.0.plan, input, environment)
    }
}

impl FromStr for Program {
    type Err = Vec<SyntaxError>;

    fn from_str(source: &str) -> Result<Self, Self::Err> {
        parse(source)
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Program").field(&self.source()).finish()
    }
}
