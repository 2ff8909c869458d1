//! Expressions that are nothing but a path from the context: `a.b`, `$.a.b`, `$$.a`.

use std::sync::Arc;

use mcpgraph_jsonata::ast::{BinaryOp, Expr, ExprKind, Literal};
use mcpgraph_value::Value;

use crate::Scope;

/// The names from the context down.
pub(super) struct PlainPath(Vec<Arc<str>>);

/// What following a path came to.
pub(super) enum Followed {
    Found(Value),
    Missing,
    /// There is an array on the way, over which JSONata maps: the engine's job.
    Unclear,
}

impl PlainPath {
    /// The path that an expression is, if it is one.
    pub(super) fn of(mut expr: &Expr) -> Option<Self> {
        let mut names = Vec::new();
        while let ExprKind::Binary { op: BinaryOp::Map, lhs, rhs } = &expr.kind {
            if expr.keep_array {
                return None;
            }
            names.push(name(rhs)?);
            expr = lhs;
        }
        match &expr.kind {
            ExprKind::Variable(variable) if matches!(&**variable, "" | "$") && !expr.keep_array => {
            }
            // A string is a name only where steps follow it.
            ExprKind::Literal(_) if names.is_empty() => return None,
            _ => names.push(name(expr)?),
        }
        names.reverse();
        Some(Self(names))
    }

    /// Follows the names on the shared values themselves, as long as JSONata would not map.
    pub(super) fn follow(&self, scope: &dyn Scope) -> Followed {
        if !scope.is_object() {
            return Followed::Unclear;
        }
        let Some((first, rest)) = self.0.split_first() else {
            return Followed::Found(scope.context());
        };
        let Some(output) = scope.output(first) else {
            return Followed::Missing;
        };
        let mut value = &output;
        for name in rest {
            value = match value {
                Value::Object(members) => match members.get(name) {
                    Some(member) => member,
                    None => return Followed::Missing,
                },
                Value::Array(_) => return Followed::Unclear,
                _ => return Followed::Missing,
            };
        }
        Followed::Found(value.clone())
    }
}

fn name(step: &Expr) -> Option<Arc<str>> {
    match &step.kind {
        ExprKind::Name(name) | ExprKind::Literal(Literal::String(name)) if !step.keep_array => {
            Some(Arc::clone(name))
        }
        _ => None,
    }
}
