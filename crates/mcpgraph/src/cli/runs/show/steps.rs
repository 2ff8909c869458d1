//! The steps of a run, put together from its record.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use mcpgraph_diagnostics::{printable, shortened};
use mcpgraph_engine::{PauseReason, StepId};
use mcpgraph_journal::{Parent, Payload, StepEnd, StepRecord, StoredEvent};
use mcpgraph_value::Value;

use super::super::text::{Side, count, duration, table};

/// How much of an error a line shows.
const SHOWN: usize = 80;

/// What the events of a run tell.
#[derive(Default)]
pub(super) struct Told {
    pub(super) started: Option<StoredEvent>,
    pub(super) finished: Option<StoredEvent>,
    steps: BTreeMap<StepId, Step>,
    /// Pauses, what ended them, and outputs that were changed; before the step of which number.
    interventions: Vec<(StepId, StoredEvent)>,
    /// Pauses before a step that has not begun yet.
    waiting: u32,
}

struct Step {
    record: StepRecord,
    retries: u32,
    log_lines: u32,
    pauses: u32,
    /// Until when it waits, or has waited, if it is a `wait` node.
    until: Option<String>,
}

/// How a node that waits says until when, in the record.
const WAITS_UNTIL: &str = "waits until ";

impl Told {
    /// Takes the next event.
    pub(super) fn take(&mut self, seq: u64, event: StoredEvent) {
        match event {
            StoredEvent::Started { .. } => self.started = Some(event),
            StoredEvent::Finished { .. } => self.finished = Some(event),
            StoredEvent::StepStarted { step, path, node, kind, input, began, .. } => {
                let record = StepRecord {
                    step,
                    path,
                    node,
                    kind,
                    input,
                    began,
                    began_seq: seq,
                    end: None,
                    between: Vec::new(),
                };
                let pauses = std::mem::take(&mut self.waiting);
                let (retries, log_lines, until) = (0, 0, None);
                self.steps.insert(step, Step { record, retries, log_lines, pauses, until });
            }
            StoredEvent::StepFinished { step, output, edge, at } => {
                self.end(step, StepEnd { outcome: Ok(output), edge, at, seq });
            }
            StoredEvent::StepFailed { step, error, edge, at } => {
                self.end(step, StepEnd { outcome: Err(error), edge, at, seq });
            }
            StoredEvent::Retrying { step, attempt, .. } => {
                if let Some(step) = self.steps.get_mut(&step) {
                    step.retries = attempt;
                }
            }
            StoredEvent::Log { step, message, .. } => {
                if let Some(step) = self.steps.get_mut(&step) {
                    step.say(&message);
                }
            }
            StoredEvent::Paused { ref why, .. } => {
                self.pause(why);
                self.interventions.push((self.steps.len() as StepId, event));
            }
            StoredEvent::Resumed { .. } | StoredEvent::OutputChanged { .. } => {
                self.interventions.push((self.steps.len() as StepId, event));
            }
        }
    }

    fn end(&mut self, step: StepId, end: StepEnd) {
        if let Some(step) = self.steps.get_mut(&step) {
            step.record.end = Some(end);
        }
    }

    /// Counts a pause for the step it came after, or else for the one that comes next.
    fn pause(&mut self, why: &PauseReason) {
        let after = match why {
            PauseReason::After(node) => {
                self.steps.values_mut().rev().find(|step| step.record.node == *node)
            }
            _ => None,
        };
        match after {
            Some(step) => step.pauses += 1,
            None => self.waiting += 1,
        }
    }

    /// Until when the run waits, and at which nodes.
    pub(super) fn waits(&self) -> impl Iterator<Item = String> {
        self.steps.values().filter(|step| step.record.end.is_none()).filter_map(|step| {
            let until = step.until.as_ref()?;
            Some(format!("until {until} (node `{}`)", step.record.node))
        })
    }

    /// Every step, for programs.
    pub(super) fn to_value(&self) -> Value {
        self.steps.values().map(Step::to_value).collect::<Vec<_>>().into()
    }

    /// The pauses, for programs.
    pub(super) fn pauses(&self) -> Value {
        self.interventions.iter().map(|(_, event)| event.to_value()).collect::<Vec<_>>().into()
    }

    /// Every step, for people.
    pub(super) fn table(&self) -> String {
        let heading = [
            ("STEP", Side::Right),
            ("PATH", Side::Left),
            ("NODE", Side::Left),
            ("TYPE", Side::Left),
            ("TOOK", Side::Right),
            ("THEN", Side::Left),
        ];
        table(heading, &self.steps.values().map(Step::row).collect::<Vec<_>>())
    }

    /// The pauses, for people; nothing if there are none. A run that goes on from the record of
    /// another stands still at that place, where nobody asked for it.
    pub(super) fn pauses_text(&self, parent: Option<&Parent>) -> String {
        let is_joint = |(next, event): &(StepId, StoredEvent)| {
            let is_asked = matches!(event, StoredEvent::Paused { why: PauseReason::Asked, .. });
            is_asked && parent.is_some_and(|parent| parent.from == *next)
        };
        let joint = self.interventions.iter().rposition(is_joint);
        let mut text = String::new();
        for (position, (_, event)) in self.interventions.iter().enumerate() {
            let what = match event {
                StoredEvent::Paused { .. } if joint == Some(position) => {
                    "what comes before is taken over from the parent".to_owned()
                }
                StoredEvent::Paused { why, .. } => match why {
                    PauseReason::Asked => "paused: somebody asked".to_owned(),
                    PauseReason::Stepped => "paused after one step".to_owned(),
                    PauseReason::Before(node) => format!("paused before `{node}`"),
                    PauseReason::After(node) => format!("paused after `{node}`"),
                },
                StoredEvent::Resumed { waited, .. } => {
                    format!("went on after {}", duration(*waited))
                }
                StoredEvent::OutputChanged { node, output, .. } => {
                    let output = shortened(&output.text(), SHOWN);
                    format!("output of `{node}` changed to {output}")
                }
                _ => continue,
            };
            let at = duration(event.at());
            // Writing to a text does not fail.
            writeln!(text, "at {at:>9}  {}", printable(&what)).unwrap_or_default();
        }
        if text.is_empty() { text } else { format!("\n{text}") }
    }
}

impl Step {
    /// Takes a line that it said.
    fn say(&mut self, line: &Payload) {
        let until = match line {
            Payload::Whole(Value::String(line)) if *self.record.kind == *"wait" => {
                line.strip_prefix(WAITS_UNTIL)
            }
            _ => None,
        };
        match until {
            Some(until) => self.until = Some(until.to_owned()),
            None => self.log_lines += 1,
        }
    }

    fn to_value(&self) -> Value {
        let value = self.record.to_value();
        let Value::Object(mut members) = value else { return value };
        let numbers =
            [("retries", self.retries), ("logLines", self.log_lines), ("pauses", self.pauses)];
        for (key, number) in numbers {
            members.make_mut().insert(key, u64::from(number));
        }
        if let Some(until) = &self.until {
            members.make_mut().insert("until", until.as_str());
        }
        Value::Object(members)
    }

    fn row(&self) -> [String; 6] {
        let StepRecord { step, path, node, kind, began, end, .. } = &self.record;
        let took = end.as_ref().map(|end| duration(end.at.saturating_sub(*began)));
        [
            step.to_string(),
            path.to_string(),
            node.to_string(),
            kind.to_string(),
            took.unwrap_or_default(),
            self.then(),
        ]
    }

    /// How it ended, where that led, and what happened on the way.
    fn then(&self) -> String {
        let mut parts = match &self.record.end {
            None => vec!["not finished".to_owned()],
            Some(StepEnd { outcome, edge, .. }) => {
                let failure = outcome.as_ref().err().map(|error| {
                    let message = shortened(&error.message.text(), SHOWN);
                    format!("failed: {message} [{}]", error.kind.code())
                });
                let edge = edge.as_ref().map(|edge: &Arc<str>| format!("→ {edge}"));
                failure.into_iter().chain(edge).collect()
            }
        };
        if let Some(until) = &self.until {
            let verb = if self.record.end.is_some() { "waited" } else { "waits" };
            parts.push(format!("({verb} until {until})"));
        }
        let numbers = [
            (self.retries, "retried", "time"),
            (self.log_lines, "said", "line"),
            (self.pauses, "paused", "time"),
        ];
        for (number, verb, word) in numbers {
            if number > 0 {
                parts.push(format!("({verb} {})", count(number as usize, word)));
            }
        }
        parts.join(" ")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use mcpgraph_engine::{LogLevel, StepPath};

    use super::*;

    fn told(events: Vec<StoredEvent>) -> Told {
        let mut told = Told::default();
        for (seq, event) in (0..).zip(events) {
            told.take(seq, event);
        }
        told
    }

    fn started(step: StepId, node: &str) -> StoredEvent {
        StoredEvent::StepStarted {
            step,
            path: StepPath::new(&[step as u32]),
            node: node.into(),
            kind: "transform".into(),
            input: None,
            item_name: None,
            began: Duration::ZERO,
            at: Duration::ZERO,
        }
    }

    fn paused(why: PauseReason) -> StoredEvent {
        StoredEvent::Paused { why, at: Duration::from_millis(2) }
    }

    #[test]
    fn pauses_and_log_lines_belong_to_steps() {
        let output = Payload::Whole(7.into());
        let at = Duration::from_millis(2);
        let told = told(vec![
            paused(PauseReason::Asked),
            StoredEvent::Resumed { waited: Duration::from_secs(3), at },
            started(0, "a"),
            StoredEvent::Log { step: 0, level: LogLevel::Info, message: output.clone(), at },
            StoredEvent::StepFinished {
                step: 0,
                output: output.clone(),
                edge: Some("b".into()),
                at,
            },
            paused(PauseReason::After("a".into())),
            StoredEvent::OutputChanged { scope: StepPath::new(&[]), node: "a".into(), output, at },
            paused(PauseReason::Before("b".into())),
            started(1, "b"),
        ]);
        let table = told.table();
        let lines: Vec<&str> = table.lines().collect();
        assert!(lines[1].ends_with("→ b (said 1 line) (paused 2 times)"), "{table}");
        assert!(lines[2].ends_with("not finished (paused 1 time)"), "{table}");
        assert_eq!(
            told.pauses_text(None),
            "\nat   2.00 ms  paused: somebody asked\nat   2.00 ms  went on after 3.00 s\n\
             at   2.00 ms  paused after `a`\nat   2.00 ms  output of `a` changed to 7\n\
             at   2.00 ms  paused before `b`\n"
        );
        let steps = told.to_value();
        assert_eq!(steps.pointer("/0/pauses"), Some(&2.into()));
        assert_eq!(steps.pointer("/0/logLines"), Some(&1.into()));
        assert_eq!(steps.pointer("/1/pauses"), Some(&1.into()));
    }
}
