//! Bodies of HTTP requests: JSON and forms.

use std::sync::Arc;

use mcpgraph_value::{Map, Value};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Body;
use crate::fill::{Refusal, free};
use crate::template::{HoleKind, Piece, Template};

#[derive(Debug)]
pub(crate) enum BodyPlan {
    Json(JsonTemplate),
    Form(Vec<(String, Template)>),
}

/// JSON in whose texts values stand.
#[derive(Debug)]
pub(crate) enum JsonTemplate {
    Literal(Value),
    Text(Template),
    Array(Vec<JsonTemplate>),
    Object(Vec<(Arc<str>, JsonTemplate)>),
}

impl BodyPlan {
    pub(crate) fn fill(&self, arguments: &Value) -> Result<Body, Refusal> {
        match self {
            Self::Json(json) => Ok(Body {
                media_type: "application/json",
                text: json.fill(arguments)?.unwrap_or_default().to_json(),
            }),
            Self::Form(members) => {
                let mut text = String::new();
                for (name, template) in members {
                    let value = free(template, arguments)?;
                    if !text.is_empty() {
                        text.push('&');
                    }
                    text.extend(utf8_percent_encode(name, NON_ALPHANUMERIC));
                    text.push('=');
                    text.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
                }
                Ok(Body { media_type: "application/x-www-form-urlencoded", text })
            }
        }
    }
}

impl JsonTemplate {
    /// The value; none for a placeholder alone whose argument is not given, which leaves its
    /// member out.
    fn fill(&self, arguments: &Value) -> Result<Option<Value>, Refusal> {
        Ok(Some(match self {
            Self::Literal(value) => value.clone(),
            Self::Text(template) => match template.pieces.as_slice() {
                [Piece::Hole(hole)] if matches!(hole.kind, HoleKind::Plain | HoleKind::Raw) => {
                    return Ok(arguments.get(&hole.name).cloned());
                }
                _ => Value::from(free(template, arguments)?),
            },
            Self::Array(items) => items
                .iter()
                .map(|item| Ok(item.fill(arguments)?.unwrap_or_default()))
                .collect::<Result<Vec<_>, Refusal>>()?
                .into(),
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, member) in members {
                    if let Some(value) = member.fill(arguments)? {
                        map.insert(Arc::clone(key), value);
                    }
                }
                map.into()
            }
        }))
    }
}
