//! Conditions that decide nothing: data where a rule should stand.
//!
//! JSON Logic takes what is no operation as data, and an object with several keys is none. As a value
//! that is right; as a condition it always holds, or never, which nobody means who writes more than
//! `true` or `false`.

use mcpgraph_value::Value;

use super::compile::{OPERATORS, Operands, pointer_of};
use super::{MAX_RULE_DEPTH, truthy};
use crate::{ExprError, code};

/// What of a condition is data, and should not be.
pub(super) fn faults(rule: &Value) -> Vec<ExprError> {
    let mut search = Search::default();
    search.visit(rule, Meaning::Condition);
    search.faults
}

/// What the part at hand is there for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// It decides something.
    Condition,
    /// It decides something, by a value that its author may well have written down.
    Verdict,
    /// It is compared, computed with, or given.
    Value,
}

#[derive(Default)]
struct Search {
    faults: Vec<ExprError>,
    /// The keys and indexes from the condition down to the part at hand.
    path: Vec<String>,
}

impl Search {
    fn visit(&mut self, part: &Value, meaning: Meaning) {
        // What nests deeper is refused when it is compiled.
        if self.path.len() > MAX_RULE_DEPTH {
            return;
        }
        match (part, meaning) {
            (Value::Object(members), _) if members.len() == 1 => {
                if let Some((operator, operands)) = members.iter().next() {
                    let operands = Operands::new(operands);
                    self.below(operator.to_string(), |this| {
                        this.operands(operator, &operands, meaning);
                    });
                }
            }
            (Value::Object(members), _) => {
                let operators: Vec<&str> = members.keys().map(|key| &**key).collect();
                if meaning != Meaning::Value || operators.iter().any(|key| OPERATORS.contains(key))
                {
                    self.object_as_rule(&operators);
                }
            }
            (Value::Bool(_), _) | (_, Meaning::Verdict) => {}
            (data, Meaning::Condition) => self.data_as_rule(data),
            (Value::Array(items), Meaning::Value) => {
                for (index, item) in items.iter().enumerate() {
                    self.below(index.to_string(), |this| this.visit(item, Meaning::Value));
                }
            }
            (_, Meaning::Value) => {}
        }
    }

    fn operands(&mut self, operator: &str, operands: &Operands<'_>, meaning: Meaning) {
        let verdict = if meaning == Meaning::Value { Meaning::Value } else { Meaning::Verdict };
        for (index, operand) in operands.items.iter().enumerate() {
            let decides = match operator {
                "!" | "!!" => true,
                "and" | "or" => meaning != Meaning::Value,
                "if" | "?:" => index % 2 == 0 && index + 1 < operands.items.len(),
                "filter" | "all" | "some" | "none" => index == 1,
                _ => false,
            };
            let meaning = match operator {
                _ if decides => Meaning::Condition,
                "if" | "?:" => verdict,
                _ => Meaning::Value,
            };
            if operands.listed {
                self.below(index.to_string(), |this| this.visit(operand, meaning));
            } else {
                self.visit(operand, meaning);
            }
        }
    }

    fn object_as_rule(&mut self, keys: &[&str]) {
        let what = match keys {
            [] => String::from("an empty object"),
            [first, second, rest @ ..] => {
                let others = if rest.is_empty() { "" } else { ", …" };
                format!("an object with {} keys (`{first}`, `{second}`{others})", keys.len())
            }
            [only] => format!("an object with the key `{only}`"),
        };
        self.fail(format!(
            "{what} is data and no rule, and data that is an object always holds; a rule has one \
             operator, and `and` joins several rules"
        ));
    }

    fn data_as_rule(&mut self, data: &Value) {
        let what = match data {
            Value::Null => "null",
            Value::Number(_) => "a number",
            Value::String(_) => "a text",
            _ => "a list",
        };
        let when = if truthy(data) { "always" } else { "never" };
        self.fail(format!(
            "{what} is data and no rule, so it {when} holds; a rule is an object with an operator, \
             such as {{\"==\": [{{\"var\": \"node.field\"}}, 1]}}"
        ));
    }

    fn fail(&mut self, message: String) {
        let error = ExprError::new(code::NOT_A_RULE, message);
        self.faults.push(error.at_pointer(&pointer_of(&self.path)));
    }

    fn below(&mut self, key: String, work: impl FnOnce(&mut Self)) {
        self.path.push(key);
        work(self);
        self.path.pop();
    }
}
