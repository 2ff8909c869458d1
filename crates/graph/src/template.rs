use std::sync::Arc;

use mcpgraph_expr::{Env, ExprError, Jsonata, Scope};
use mcpgraph_value::{Map, Value};

/// Arguments in which some places are expressions.
#[derive(Debug)]
pub enum Template {
    /// As the author wrote it.
    Literal(Value),
    /// To be evaluated.
    Expr(Jsonata),
    /// An object with an expression somewhere inside.
    Object(Vec<(Arc<str>, Template)>),
    /// An array with an expression somewhere inside.
    Array(Vec<Template>),
}

impl Template {
    /// Fills every expression in; none where the template is an expression without a result.
    ///
    /// A member without a result is left out of its object; an item without one becomes null, so
    /// that its neighbours keep their places.
    pub fn evaluate(&self, scope: &Arc<dyn Scope>, env: &Env) -> Result<Option<Value>, ExprError> {
        match self {
            Self::Literal(value) => Ok(Some(value.clone())),
            Self::Expr(expr) => expr.eval(scope, env),
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, member) in members {
                    if let Some(value) = member.evaluate(scope, env)? {
                        map.insert(Arc::clone(key), value);
                    }
                }
                Ok(Some(map.into()))
            }
            Self::Array(items) => items
                .iter()
                .map(|item| Ok(item.evaluate(scope, env)?.unwrap_or_default()))
                .collect::<Result<Vec<_>, _>>()
                .map(|items| Some(items.into())),
        }
    }
}
