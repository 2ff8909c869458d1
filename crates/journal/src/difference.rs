//! What differs between a record and what happens now.

use std::fmt::Write as _;
use std::sync::Arc;

use mcpgraph_diagnostics::{printable, shortened};
use mcpgraph_engine::{Divergence, Event, StepId, StepPath};
use mcpgraph_value::{Map, Value};

use crate::compare::{self, told};
use crate::targets::Targets;
use crate::{Calls, StoredEvent};

/// How many differences of two events are shown.
const MAX_SHOWN: usize = 12;

/// How much of a value a line shows.
const SHOWN: usize = 200;

/// A place where two values differ.
#[derive(Debug, PartialEq)]
struct Difference {
    /// An RFC 6901 pointer.
    pointer: String,
    recorded: Option<Value>,
    now: Option<Value>,
}

/// The first thing that happened otherwise, for people and for programs.
#[derive(Debug)]
pub struct DivergenceReport {
    position: usize,
    step: Option<(StepId, StepPath, Arc<str>)>,
    recorded: Option<Value>,
    now: Option<Value>,
    differences: Vec<Difference>,
}

impl DivergenceReport {
    /// What a divergence from a record is; the events were compared by [`Calls::is_same`].
    pub fn new(divergence: &Divergence, record: &[Event], calls: &Calls) -> Self {
        let mut recorded = divergence.recorded.as_ref().map(told);
        let mut now = divergence.replayed.as_ref().map(told);
        if let Some((before, after)) = changed_target(divergence, &calls.targets) {
            put_target(&mut recorded, before);
            put_target(&mut now, after);
        }
        let mut differences = Vec::new();
        if let (Some(recorded), Some(now)) = (&recorded, &now) {
            differ(recorded, now, &mut String::new(), &mut differences);
        }
        let step = [&divergence.recorded, &divergence.replayed]
            .into_iter()
            .flatten()
            .find_map(|event| place(event, record));
        Self { position: divergence.position, step, recorded, now, differences }
    }

    /// The step it happened at, if it was one.
    pub fn step(&self) -> Option<StepId> {
        self.step.as_ref().map(|(step, ..)| *step)
    }

    /// For programs.
    pub fn to_value(&self) -> Value {
        let mut map = Map::from_iter([("event", self.position as u64)]);
        if let Some((step, path, node)) = &self.step {
            map.insert("step", *step);
            map.insert("path", path.to_string());
            map.insert("node", Arc::clone(node));
        }
        map.insert("recorded", self.recorded.clone());
        map.insert("now", self.now.clone());
        let differences = self.differences.iter().map(|difference| {
            let mut map = Map::from_iter([("pointer", difference.pointer.as_str())]);
            for (key, value) in [("recorded", &difference.recorded), ("now", &difference.now)] {
                if let Some(value) = value {
                    map.insert(key, value.clone());
                }
            }
            Value::from(map)
        });
        map.insert("differences", differences.collect::<Vec<_>>());
        map.into()
    }

    /// Where it happened, for people.
    pub fn place(&self) -> String {
        match &self.step {
            Some((step, path, node)) => {
                format!("at step {step} `{}` (path {path})", printable(node))
            }
            None => format!("at event {}", self.position),
        }
    }

    /// For people.
    pub fn text(&self) -> String {
        let place = self.place();
        let name = |event: &Option<Value>, none: &str| {
            let name = event.as_ref().and_then(|event| event.get("type")).and_then(Value::as_str);
            match (name, event.as_ref().and_then(|event| event.get("node"))) {
                (Some(name), Some(Value::String(node))) => format!("{name} `{}`", printable(node)),
                (Some(name), _) => name.to_owned(),
                (None, _) => none.to_owned(),
            }
        };
        let mut text = format!(
            "different {place}\n  recorded  {}\n  now       {}\n",
            name(&self.recorded, "the end"),
            name(&self.now, "nothing more")
        );
        for difference in self.differences.iter().take(MAX_SHOWN) {
            let line = |value: &Option<Value>| match value {
                Some(value) => shortened(&value.to_json(), SHOWN),
                None => "nothing".to_owned(),
            };
            // Writing to a text does not fail.
            writeln!(
                text,
                "  {}\n    recorded  {}\n    now       {}",
                printable(&difference.pointer),
                line(&difference.recorded),
                line(&difference.now)
            )
            .unwrap_or_default();
        }
        let more = self.differences.len().saturating_sub(MAX_SHOWN);
        if more > 0 {
            writeln!(text, "  and {more} more").unwrap_or_default();
        }
        text
    }
}

/// What the node of a step called and what it calls now, where both events are its beginning.
fn changed_target<'t>(divergence: &Divergence, targets: &'t Targets) -> Option<&'t (Value, Value)> {
    match (&divergence.recorded, &divergence.replayed) {
        (
            Some(Event::StepStarted { step, path, node, .. }),
            Some(Event::StepStarted { path: same_path, node: same_node, .. }),
        ) if path == same_path && node == same_node => targets.of(*step),
        _ => None,
    }
}

fn put_target(told: &mut Option<Value>, target: &Value) {
    if let Some(Value::Object(members)) = told {
        members.make_mut().insert("target", target.clone());
    }
}

/// The step an event belongs to; that of the node it names if it is about one.
fn place(event: &Event, record: &[Event]) -> Option<(StepId, StepPath, Arc<str>)> {
    if let Event::StepStarted { step, path, node, .. } = event {
        return Some((*step, path.clone(), Arc::clone(node)));
    }
    let wanted = StoredEvent::from(event.clone()).step()?;
    record.iter().find_map(|event| match event {
        Event::StepStarted { step, path, node, .. } if *step == wanted => {
            Some((wanted, path.clone(), Arc::clone(node)))
        }
        _ => None,
    })
}

/// Collects where two values differ, as deep as they are alike. What was masked does not differ.
fn differ(recorded: &Value, now: &Value, pointer: &mut String, found: &mut Vec<Difference>) {
    if compare::matches(recorded, now) {
        return;
    }
    let length = pointer.len();
    let mut inside = |name: &str, recorded: Option<&Value>, now: Option<&Value>| {
        pointer.push('/');
        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
        match (recorded, now) {
            (Some(recorded), Some(now)) => differ(recorded, now, pointer, found),
            _ => found.push(Difference {
                pointer: pointer.clone(),
                recorded: recorded.cloned(),
                now: now.cloned(),
            }),
        }
        pointer.truncate(length);
    };
    match (recorded, now) {
        (Value::Object(recorded), Value::Object(now)) => {
            for (key, member) in recorded.iter() {
                inside(key, Some(member), now.get(key));
            }
            for (key, member) in now.iter().filter(|(key, _)| !recorded.contains_key(key)) {
                inside(key, None, Some(member));
            }
        }
        (Value::Array(recorded), Value::Array(now)) => {
            for index in 0..recorded.len().max(now.len()) {
                inside(&index.to_string(), recorded.get(index), now.get(index));
            }
        }
        _ => found.push(Difference {
            pointer: pointer.clone(),
            recorded: Some(recorded.clone()),
            now: Some(now.clone()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differences(recorded: &str, now: &str) -> Vec<(String, String, String)> {
        let json = |text| Value::from_json(text).unwrap();
        let mut found = Vec::new();
        differ(&json(recorded), &json(now), &mut String::new(), &mut found);
        let text = |value: Option<Value>| value.map_or("-".to_owned(), |value| value.to_json());
        found
            .into_iter()
            .map(|found| (found.pointer, text(found.recorded), text(found.now)))
            .collect()
    }

    fn difference(pointer: &str, recorded: &str, now: &str) -> (String, String, String) {
        (pointer.to_owned(), recorded.to_owned(), now.to_owned())
    }

    #[test]
    fn only_what_differs_is_told() {
        assert_eq!(differences(r#"{"a": [1, 2]}"#, r#"{"a": [1, 2]}"#), []);
        assert_eq!(
            differences(
                r#"{"a": {"x/y": 1}, "b": [1, 2], "c": 0}"#,
                r#"{"a": {"x/y": 2}, "b": [1], "d": 0}"#
            ),
            [
                difference("/a/x~1y", "1", "2"),
                difference("/b/1", "2", "-"),
                difference("/c", "0", "-"),
                difference("/d", "-", "0"),
            ]
        );
        assert_eq!(differences("1", "[1]"), [difference("", "1", "[1]")]);
        assert_eq!(
            differences(r#"{"t": "[redacted]", "n": 1}"#, r#"{"t": "x", "n": 2}"#),
            [difference("/n", "1", "2")]
        );
    }
}
