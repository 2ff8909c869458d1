//! Debugging as the faces are asked for it and tell of it, in JSON.

use std::sync::Arc;

use mcpgraph_diagnostics::suggest::did_you_mean;
use mcpgraph_engine::PauseReason;
use mcpgraph_expr::JsonLogic;
use mcpgraph_value::{Map, Value};

use crate::{Breakpoint, DebugState, Move, When};

/// How many breakpoints a run may have.
pub const MAX_BREAKPOINTS: usize = 256;

/// A request that does not say what it should.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unclear(String);

impl Unclear {
    fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// Refuses what is not an object, and members that nobody reads: a name that is misspelt would
/// leave its value out, and something else be done than was asked for.
pub fn only_known(value: &Value, what: &str, known: &[&str]) -> Result<(), Unclear> {
    let Value::Object(members) = value else {
        return Err(Unclear(format!("{what} must be an object")));
    };
    let Some(stray) = members.keys().find(|key| !known.contains(&&***key)) else { return Ok(()) };
    let hint = did_you_mean(stray, known.iter().copied()).unwrap_or_else(|| match known {
        [] => "there is nothing to say in it".to_owned(),
        known => format!("there are {}", known.join(", ")),
    });
    Err(Unclear(format!("`{stray}` is not known in {what}; {hint}")))
}

/// A member that is there; null is as good as none.
fn given<'v>(value: &'v Value, key: &str) -> Option<&'v Value> {
    value.get(key).filter(|given| !matches!(given, Value::Null))
}

impl Breakpoint {
    /// Reads a list of breakpoints: `{node, when, condition, hits}` each. Nothing is none.
    pub fn read_all(list: Option<&Value>) -> Result<Vec<Self>, Unclear> {
        let list = match list {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(_) => return Err(Unclear::new("`breakpoints` must be a list")),
        };
        if list.len() > MAX_BREAKPOINTS {
            let message = format!("there are more than {MAX_BREAKPOINTS} breakpoints, the limit");
            return Err(Unclear(message));
        }
        list.iter().map(Self::read).collect()
    }

    fn read(value: &Value) -> Result<Self, Unclear> {
        only_known(value, "a breakpoint", &["node", "when", "condition", "hits"])?;
        let node = value
            .get("node")
            .and_then(Value::as_str)
            .ok_or_else(|| Unclear::new("a breakpoint needs a `node`"))?;
        let when = match given(value, "when").map(Value::as_str) {
            None | Some(Some("before")) => When::Before,
            Some(Some("after")) => When::After,
            Some(_) => return Err(Unclear::new("`when` is `before` or `after`")),
        };
        let hits = match given(value, "hits") {
            None => 1,
            Some(hits) => hits
                .as_i64()
                .and_then(|hits| u64::try_from(hits).ok())
                .filter(|hits| *hits > 0)
                .ok_or_else(|| Unclear::new("`hits` is a whole number from 1"))?,
        };
        let condition = given(value, "condition").map(|rule| {
            JsonLogic::condition(rule).map(Arc::new).map_err(|errors| {
                let errors = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
                Unclear(format!("the condition of the breakpoint at `{node}`: {errors}"))
            })
        });
        Ok(Self { node: node.into(), when, condition: condition.transpose()?, hits })
    }
}

impl Move {
    /// Every move with the word for it.
    pub const NAMES: [(&'static str, Self); 5] = [
        ("pause", Self::Pause),
        ("resume", Self::Resume),
        ("step", Self::Step),
        ("stepOver", Self::StepOver),
        ("stop", Self::Stop),
    ];

    /// The move with this word.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, how)| *how)
    }
}

impl DebugState {
    /// How the run stands: its `state`, and where it is paused `why`, the `node` that made it pause,
    /// what comes `next`, the `error` of that node if nothing takes care of it, a `problem` with the
    /// condition of the breakpoint, and `inside` where a run inside it stands still.
    pub fn to_map(&self) -> Map {
        let (why, next, error, problem, inside) = match self {
            Self::Running => return Map::from_iter([("state", "running")]),
            Self::Replaced => return Map::from_iter([("state", "replaced")]),
            Self::Ended => return Map::from_iter([("state", "ended")]),
            Self::Paused { why, next, error, problem, inside } => {
                (why, next, error, problem, *inside)
            }
        };
        let (why, node) = match why {
            PauseReason::Asked => ("asked", None),
            PauseReason::Stepped => ("stepped", None),
            PauseReason::Before(node) => ("before", Some(node)),
            PauseReason::After(node) => ("after", Some(node)),
        };
        let mut map: Map = Map::from_iter([("state", "paused"), ("why", why)]);
        if let Some(node) = node {
            map.insert("node", Arc::clone(node));
        }
        if let Some(next) = next {
            let next: Map = Map::from_iter([
                ("node", Value::from(Arc::clone(&next.node))),
                ("kind", next.kind.into()),
                ("path", next.path.to_string().into()),
            ]);
            map.insert("next", next);
        }
        if let Some(error) = error {
            map.insert("error", error.to_value());
        }
        if let Some(problem) = problem {
            map.insert("problem", Arc::clone(problem));
        }
        if inside {
            map.insert("inside", true);
        }
        map
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn breakpoints_are_read_or_refused_with_a_reason() {
        let read = |json: &str| {
            Breakpoint::read_all(Some(&Value::from_json(json).expect("JSON")))
                .map(|points| points.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(r#"[{"node":"a"},{"node":"a","when":"after","hits":3}]"#), Ok(2));
        assert_eq!(read("null"), Ok(0));
        assert_eq!(read(r#"[{"node":"a","when":null,"hits":null,"condition":null}]"#), Ok(1));
        for (json, part) in [
            ("{}", "a list"),
            ("[{}]", "`node`"),
            ("[7]", "a breakpoint must be an object"),
            (
                r#"[{"node":"a","hit":1}]"#,
                "`hit` is not known in a breakpoint; did you mean `hits`?",
            ),
            (r#"[{"node":"a","line":1}]"#, "there are node, when, condition, hits"),
            (r#"[{"node":"a","when":"during"}]"#, "`when`"),
            (r#"[{"node":"a","hits":0}]"#, "`hits`"),
            (r#"[{"node":"a","condition":{"grater":[1,2]}}]"#, "breakpoint at `a`"),
        ] {
            let refused = read(json).expect_err(json);
            assert!(refused.contains(part), "{json}: {refused}");
        }
    }
}
