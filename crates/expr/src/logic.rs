//! JSON Logic as the JavaScript reference has it, with JSONata in `var`.
//!
//! A rule is compiled once. It is evaluated lazily: `and`, `or`, `if` and the iterators evaluate
//! only what they need. Operands are coerced as JavaScript does. Data is never read as a rule.
//!
//! # What `var` sees
//!
//! The operand of `var` is JSONata on the local scope: the context of the run, inside `map`,
//! `filter`, `all`, `some` and `none` the element, inside `reduce` `{current, accumulator}`. Where
//! JSONata says undefined the default counts, and where there is none, null.
//!
//! Three kinds of operand are not JSONata, because the standard gives them another meaning:
//! an empty text or null is the whole scope; an operand that is not a text is a path of JSON Logic,
//! so that `{"var": 1}` is the second item; and so is a text of names and numbers with dots between
//! them of which at least one is a number (`1`, `items.0.name`), which JSONata could not read.

mod coerce;
mod compile;
mod condition;
mod eval;
mod operand;
mod operator;

use std::sync::Arc;

use mcpgraph_value::Value;

use crate::budget::Meter;
use crate::{Env, ExprError, Reads, Scope};
use coerce::Js;
pub(crate) use compile::operator_hint;
use operand::{Computed, Operand};
use operator::Operator;

/// How deep the lists and objects of a rule may nest.
pub const MAX_RULE_DEPTH: usize = mcpgraph_value::MAX_DEPTH;

/// A compiled JSON Logic rule.
pub struct JsonLogic {
    rule: Rule,
    reads: Reads,
    computed: Computed,
}

/// One part of a compiled rule.
enum Rule {
    Literal(Js),
    List(Vec<Rule>),
    Var(Box<Var>),
    If(Vec<Rule>),
    And(Vec<Rule>),
    Or(Vec<Rule>),
    Each(Iteration, Box<[Rule; 2]>),
    /// The list, the body and the initial value.
    Reduce(Box<[Rule; 3]>),
    Missing(Vec<Rule>),
    MissingSome(Box<[Rule; 2]>),
    Call(Operator, Vec<Rule>),
}

/// A `var` and where it stands in the rule.
struct Var {
    place: Place,
    default: Option<Rule>,
    pointer: String,
}

/// What a `var` points at.
enum Place {
    Known(Operand),
    Computed(Rule),
}

/// What is done with each element of a list.
#[derive(Clone, Copy)]
enum Iteration {
    Map,
    Filter,
    All,
    Some,
    None,
}

impl JsonLogic {
    /// Compiles a rule; all its faults are reported, each with a pointer into the rule.
    pub fn compile(rule: &Value) -> Result<Self, Vec<ExprError>> {
        let (rule, reads, errors) = compile::compile(rule);
        if errors.is_empty() {
            Ok(Self { rule, reads, computed: Computed::default() })
        } else {
            Err(errors)
        }
    }

    /// Compiles a rule that decides something. Data in its place, or in that of a rule that it joins,
    /// is a fault: JSON Logic would let it hold always, or never.
    pub fn condition(rule: &Value) -> Result<Self, Vec<ExprError>> {
        let mut faults = condition::faults(rule);
        match Self::compile(rule) {
            Ok(compiled) if faults.is_empty() => Ok(compiled),
            Ok(_) => Err(faults),
            Err(mut errors) => {
                errors.append(&mut faults);
                Err(errors)
            }
        }
    }

    /// What a rule reads of its context, as far as it can be read.
    pub fn reads_of(rule: &Value) -> Reads {
        compile::compile(rule).1
    }

    /// What the rule reads of its context.
    pub fn reads(&self) -> &Reads {
        &self.reads
    }

    /// Evaluates the rule. What JSON cannot write (undefined, NaN, the infinities) is null.
    pub fn eval(&self, scope: &Arc<dyn Scope>, env: &Env) -> Result<Value, ExprError> {
        eval::run(self, scope, &Meter::start(env))
    }
}

/// Whether the result of a rule counts as true: all but null, false, 0, an empty text and an empty
/// list.
pub fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(_) => true,
    }
}

impl std::fmt::Debug for JsonLogic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonLogic").field("reads", &self.reads).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
