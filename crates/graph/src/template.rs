use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_config::model::ArgValue;
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
    /// The arguments of a file, whose expressions `compile` compiles; none if one of them cannot
    /// be. All of them are tried, so that `compile` can report each.
    pub fn new(
        args: &ArgValue,
        compile: &mut impl FnMut(&Text) -> Option<Jsonata>,
    ) -> Option<Self> {
        Some(match args {
            ArgValue::Literal(value) => Self::Literal(value.clone()),
            ArgValue::Expr(text) => Self::Expr(compile(text)?),
            ArgValue::Object(members) => {
                let members: Vec<Option<_>> = members
                    .iter()
                    .map(|(key, member)| Some((key.to_arc(), Self::new(&member.value, compile)?)))
                    .collect();
                Self::Object(members.into_iter().collect::<Option<_>>()?)
            }
            ArgValue::Array(items) => {
                let items: Vec<Option<_>> =
                    items.iter().map(|item| Self::new(&item.value, compile)).collect();
                Self::Array(items.into_iter().collect::<Option<_>>()?)
            }
        })
    }

    /// Fills every expression in; none where the template is an expression without a result.
    ///
    /// An error says at which place, as a pointer. A member without a result is left out of its object; an item without one becomes null, so
    /// that its neighbours keep their places.
    pub fn evaluate(&self, scope: &Arc<dyn Scope>, env: &Env) -> Result<Option<Value>, ExprError> {
        match self {
            Self::Literal(value) => Ok(Some(value.clone())),
            Self::Expr(expr) => expr.eval(scope, env),
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, member) in members {
                    let value = member.evaluate(scope, env).map_err(|error| error.inside(key))?;
                    if let Some(value) = value {
                        map.insert(Arc::clone(key), value);
                    }
                }
                Ok(Some(map.into()))
            }
            Self::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| match item.evaluate(scope, env) {
                    Ok(value) => Ok(value.unwrap_or_default()),
                    Err(error) => Err(error.inside(&index.to_string())),
                })
                .collect::<Result<Vec<_>, _>>()
                .map(|items| Some(items.into())),
        }
    }
}
