//! JSONata behind one face: [`Jsonata`].
//!
//! A plain path such as `$.node.field` is followed on the scope itself, without even a context being
//! put together. Everything else goes to the engine.

mod engine;
mod path;

use std::sync::Arc;

use mcpgraph_jsonata::{Program, SyntaxError};
use mcpgraph_value::Value;

use crate::budget::Meter;
use crate::{Env, ExprError, Reads, Scope};
use path::{Followed, PlainPath};

/// A compiled JSONata expression; compiled once, evaluated by any number of threads.
pub struct Jsonata {
    program: Program,
    path: Option<PlainPath>,
    reads: Reads,
    uses_history: bool,
}

impl Jsonata {
    /// Compiles an expression; the error is the first of [`problems`](Self::problems).
    pub fn compile(source: &str) -> Result<Self, ExprError> {
        let program = mcpgraph_jsonata::parse(source).map_err(|errors| {
            let first = errors.into_iter().next().map(described);
            first.unwrap_or_else(|| ExprError::new("S0201", "the expression is not JSONata"))
        })?;
        Ok(Self {
            path: PlainPath::of(program.syntax()),
            reads: program.reads().into(),
            uses_history: engine::uses_history(source),
            program,
        })
    }

    /// Everything that is wrong with the text of an expression.
    pub fn problems(source: &str) -> Vec<ExprError> {
        let errors = mcpgraph_jsonata::parse(source).err().unwrap_or_default();
        errors.into_iter().map(described).collect()
    }

    /// The text it was compiled from.
    pub fn source(&self) -> &str {
        self.program.source()
    }

    /// What it reads of its context.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Evaluates it; none where JSONata says undefined.
    pub fn eval(&self, scope: &Arc<dyn Scope>, env: &Env) -> Result<Option<Value>, ExprError> {
        self.eval_metered(scope, &Meter::start(env))
    }

    /// Evaluates it as a part of something larger, within what is left of its budget.
    pub(crate) fn eval_metered(
        &self,
        scope: &Arc<dyn Scope>,
        meter: &Meter<'_>,
    ) -> Result<Option<Value>, ExprError> {
        match self.path.as_ref().map(|path| path.follow(scope.as_ref())) {
            Some(Followed::Found(value)) => Ok(Some(value)),
            Some(Followed::Missing) => Ok(None),
            Some(Followed::Unclear) | None => {
                engine::evaluate(&self.program, self.uses_history, scope, meter)
            }
        }
    }
}

impl std::fmt::Debug for Jsonata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Jsonata").field(&self.source()).finish()
    }
}

fn described(error: SyntaxError) -> ExprError {
    ExprError {
        position: Some(error.span.start),
        token: error.token,
        ..ExprError::new(error.code, error.message)
    }
}

#[cfg(test)]
mod tests;
