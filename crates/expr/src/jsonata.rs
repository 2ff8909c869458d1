//! JSONata behind one face: [`Jsonata`].
//!
//! A plain path such as `$.node.field` is followed on the shared values themselves. Everything else
//! goes to the engine in `core_engine`, the only module that names it.

mod core_engine;

use std::sync::Arc;

use mcpgraph_value::Value;

use crate::budget::Meter;
use crate::{Env, ExprError, Reads, Scope};

/// A compiled JSONata expression; compiled once, evaluated by any number of threads.
pub struct Jsonata {
    source: Arc<str>,
    program: core_engine::Program,
    /// The names of an expression that is nothing but a path from the context.
    path: Option<Vec<Arc<str>>>,
    reads: Reads,
}

/// What following a path on the shared values came to.
enum Followed {
    Found(Value),
    Missing,
    /// There is an array on the way, over which JSONata maps: the engine's job.
    Unclear,
}

impl Jsonata {
    /// Compiles an expression.
    pub fn compile(source: &str) -> Result<Self, ExprError> {
        let program = core_engine::Program::compile(source)?;
        let path = program.plain_path();
        let reads = program.reads();
        Ok(Self { source: source.into(), program, path, reads })
    }

    /// The text it was compiled from.
    pub fn source(&self) -> &str {
        &self.source
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
        if let Some(path) = &self.path {
            match follow(scope.as_ref(), path) {
                Followed::Found(value) => return Ok(Some(value)),
                Followed::Missing => return Ok(None),
                Followed::Unclear => {}
            }
        }
        self.program.eval(scope, &self.reads, meter)
    }
}

impl std::fmt::Debug for Jsonata {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Jsonata").field(&self.source).finish()
    }
}

/// Follows names down from the context as JSONata does, as long as it does so without mapping.
fn follow(scope: &dyn Scope, path: &[Arc<str>]) -> Followed {
    if !scope.is_object() {
        return Followed::Unclear;
    }
    let Some((first, rest)) = path.split_first() else {
        return Followed::Found(scope.context());
    };
    let Some(mut value) = scope.output(first) else {
        return Followed::Missing;
    };
    for name in rest {
        let member = match &value {
            Value::Object(members) => members.get(name).cloned(),
            Value::Array(_) => return Followed::Unclear,
            _ => None,
        };
        match member {
            Some(member) => value = member,
            None => return Followed::Missing,
        }
    }
    Followed::Found(value)
}

#[cfg(test)]
mod tests;
