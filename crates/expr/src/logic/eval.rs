use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use super::coerce::{Js, less_than, text_of};
use super::operand::Operand;
use super::{Iteration, JsonLogic, Place, Rule, Var};
use crate::bounds::{self, CELL};
use crate::budget::Meter;
use crate::{ExprError, PlainScope, Scope};

/// The name under which the body of a `reduce` finds what was computed so far.
const ACCUMULATOR: &str = "accumulator";

/// Evaluates a whole rule.
pub(super) fn run(
    logic: &JsonLogic,
    scope: &Arc<dyn Scope>,
    meter: &Meter<'_>,
) -> Result<Value, ExprError> {
    let frame = Frame { scope: Arc::clone(scope), accumulator: None };
    let value = Run { logic, meter }.eval(&logic.rule, &frame)?.into_json();
    // What a `var` gives is in the context already, and has been measured there.
    if !matches!(logic.rule, Rule::Var(_)) {
        bounds::check(&value, meter)?;
    }
    Ok(value)
}

/// What is around the part of a rule at hand.
struct Frame {
    scope: Arc<dyn Scope>,
    /// The accumulator of a `reduce`, where it is a number that JSON cannot write.
    accumulator: Option<f64>,
}

/// One evaluation. It recurses as deep as the rule nests, which has a limit.
struct Run<'a> {
    logic: &'a JsonLogic,
    meter: &'a Meter<'a>,
}

impl Run<'_> {
    fn eval(&self, rule: &Rule, frame: &Frame) -> Result<Js, ExprError> {
        match rule {
            Rule::Literal(value) => Ok(value.clone()),
            Rule::List(items) => self.list(items, frame),
            Rule::Var(var) => self.var(var, frame),
            Rule::If(branches) => self.branch(branches, frame),
            Rule::And(rules) => self.until(rules, false, frame),
            Rule::Or(rules) => self.until(rules, true, frame),
            Rule::Each(iteration, parts) => self.each(*iteration, parts, frame),
            Rule::Reduce(parts) => self.reduce(parts, frame),
            Rule::Missing(keys) => {
                let keys = self.list(keys, frame)?.into_json();
                // One list of keys counts as the keys themselves.
                let keys = match keys.at(0) {
                    Some(list @ Value::Array(_)) => list.clone(),
                    _ => keys,
                };
                Ok(Js::Json(Value::array(self.missing(&keys, frame)?)))
            }
            Rule::MissingSome(parts) => self.missing_some(parts, frame),
            Rule::Call(operator, operands) => {
                let operands: Result<Vec<Js>, _> =
                    operands.iter().map(|operand| self.eval(operand, frame)).collect();
                operator.apply(operands?, self.meter)
            }
        }
    }

    fn list(&self, items: &[Rule], frame: &Frame) -> Result<Js, ExprError> {
        self.meter.spend(items.len() * CELL)?;
        let items: Result<Vec<Value>, ExprError> =
            items.iter().map(|item| Ok(self.eval(item, frame)?.into_json())).collect();
        Ok(Js::Json(Value::array(items?)))
    }

    fn var(&self, var: &Var, frame: &Frame) -> Result<Js, ExprError> {
        let found = match (&var.place, frame.accumulator) {
            (Place::Known(operand), Some(number)) if operand.is_name(ACCUMULATOR) => {
                Ok(Js::Number(number))
            }
            (Place::Known(operand), _) => operand.find(&frame.scope, self.meter),
            (Place::Computed(rule), _) => {
                let place = self.eval(rule, frame)?;
                self.find(&place, frame)
            }
        };
        let found = found.map_err(|error| error.at_pointer(&var.pointer))?;
        Ok(match (found, &var.default) {
            (Js::Undefined, Some(default)) => self.eval(default, frame)?.or_null(),
            (found, _) => found.or_null(),
        })
    }

    /// What a computed operand points at.
    fn find(&self, place: &Js, frame: &Frame) -> Result<Js, ExprError> {
        match place {
            place if place.is_nullish() => Operand::Whole.find(&frame.scope, self.meter),
            Js::Json(Value::String(text)) => {
                self.logic.computed.operand(text)?.find(&frame.scope, self.meter)
            }
            place => Operand::path(&text_of(place, self.meter)?).find(&frame.scope, self.meter),
        }
    }

    /// `if`: pairs of a condition and a result, and perhaps one more result.
    fn branch(&self, branches: &[Rule], frame: &Frame) -> Result<Js, ExprError> {
        let mut pairs = branches.chunks_exact(2);
        for pair in &mut pairs {
            if self.eval(&pair[0], frame)?.truthy() {
                return self.eval(&pair[1], frame);
            }
        }
        match pairs.remainder() {
            [otherwise] => self.eval(otherwise, frame),
            _ => Ok(Js::Json(Value::Null)),
        }
    }

    /// `and` and `or`: the first value that decides, or the last.
    fn until(&self, rules: &[Rule], deciding: bool, frame: &Frame) -> Result<Js, ExprError> {
        let mut last = Js::Undefined;
        for rule in rules {
            last = self.eval(rule, frame)?;
            if last.truthy() == deciding {
                break;
            }
        }
        Ok(last)
    }

    fn each(
        &self,
        iteration: Iteration,
        [list, body]: &[Rule; 2],
        frame: &Frame,
    ) -> Result<Js, ExprError> {
        let list = self.eval(list, frame)?;
        let items = match &list {
            Js::Json(Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let mut results = Vec::new();
        for item in items {
            let result = self.inside(body, item.clone(), None, frame)?;
            match iteration {
                Iteration::Map => {
                    self.meter.spend(CELL)?;
                    results.push(result.into_json());
                }
                Iteration::Filter if result.truthy() => results.push(item.clone()),
                Iteration::Filter => {}
                Iteration::All if !result.truthy() => return Ok(false.into()),
                Iteration::Some if result.truthy() => return Ok(true.into()),
                Iteration::None if result.truthy() => return Ok(false.into()),
                Iteration::All | Iteration::Some | Iteration::None => {}
            }
        }
        Ok(match iteration {
            Iteration::Map | Iteration::Filter => Js::Json(Value::array(results)),
            // Not even all of nothing is true.
            Iteration::All => (!items.is_empty()).into(),
            Iteration::Some => false.into(),
            Iteration::None => true.into(),
        })
    }

    fn reduce(&self, [list, body, initial]: &[Rule; 3], frame: &Frame) -> Result<Js, ExprError> {
        let list = self.eval(list, frame)?;
        let mut accumulator = match initial {
            Rule::Literal(Js::Undefined) => Js::Json(Value::Null),
            initial => self.eval(initial, frame)?,
        };
        if let Js::Json(Value::Array(items)) = &list {
            for item in items.iter() {
                let unwritable = match accumulator {
                    Js::Number(number) => Some(number),
                    _ => None,
                };
                let mut members = Map::with_capacity(2);
                members.insert("current", item.clone());
                members.insert(ACCUMULATOR, accumulator.into_json());
                accumulator = self.inside(body, Value::object(members), unwritable, frame)?;
            }
        }
        Ok(accumulator)
    }

    /// Evaluates the body of an iteration with one value as its scope.
    fn inside(
        &self,
        body: &Rule,
        value: Value,
        accumulator: Option<f64>,
        frame: &Frame,
    ) -> Result<Js, ExprError> {
        self.meter.remaining()?;
        let scope = PlainScope::inside(&frame.scope, value);
        self.eval(body, &Frame { scope, accumulator })
    }

    /// The keys at which there is nothing, null or an empty text.
    fn missing(&self, keys: &Value, frame: &Frame) -> Result<Vec<Value>, ExprError> {
        let keys = keys.as_array().map_or(std::slice::from_ref(keys), |keys| keys.as_slice());
        let mut missing = Vec::new();
        for key in keys {
            let found = self.find(&Js::Json(key.clone()), frame)?;
            if found.is_nullish()
                || matches!(&found, Js::Json(Value::String(text)) if text.is_empty())
            {
                missing.push(key.clone());
            }
        }
        Ok(missing)
    }

    /// All missing keys, or none if enough of them are there.
    fn missing_some(&self, [needed, keys]: &[Rule; 2], frame: &Frame) -> Result<Js, ExprError> {
        let needed = self.eval(needed, frame)?;
        let keys = self.eval(keys, frame)?.into_json();
        let missing = self.missing(&keys, frame)?;
        let there = keys.as_array().map_or(1, |keys| keys.len()) - missing.len();
        let enough = less_than(&Js::number(there as f64), &needed, self.meter)? == Some(false);
        Ok(Js::Json(Value::array(if enough { Vec::new() } else { missing })))
    }
}
