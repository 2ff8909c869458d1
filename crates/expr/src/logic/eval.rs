use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use super::coerce::{Js, less_than, text_of};
use super::operand::Operand;
use super::{Iteration, JsonLogic, Place, Rule, Var};
use crate::bounds::{self, CELL};
use crate::budget::Meter;
use crate::{ExprError, PlainScope, Scope};

/// Evaluates a whole rule.
pub(super) fn run(
    logic: &JsonLogic,
    scope: &Arc<dyn Scope>,
    meter: &Meter<'_>,
) -> Result<Value, ExprError> {
    let value = Run { logic, meter }.eval(&logic.rule, scope)?.into_json();
    // What a `var` gives is in the context already, and has been measured there.
    if !matches!(logic.rule, Rule::Var(_)) {
        bounds::check(&value, meter)?;
    }
    Ok(value)
}

/// One evaluation. It recurses as deep as the rule nests, which has a limit.
struct Run<'a> {
    logic: &'a JsonLogic,
    meter: &'a Meter<'a>,
}

impl Run<'_> {
    fn eval(&self, rule: &Rule, scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        match rule {
            Rule::Literal(value) => Ok(value.clone()),
            Rule::List(items) => self.list(items, scope),
            Rule::Var(var) => self.var(var, scope),
            Rule::If(branches) => self.branch(branches, scope),
            Rule::And(rules) => self.until(rules, false, scope),
            Rule::Or(rules) => self.until(rules, true, scope),
            Rule::Each(iteration, parts) => self.each(*iteration, parts, scope),
            Rule::Reduce(parts) => self.reduce(parts, scope),
            Rule::Missing(keys) => {
                let keys = self.list(keys, scope)?.into_json();
                // One list of keys counts as the keys themselves.
                let keys = match keys.at(0) {
                    Some(list @ Value::Array(_)) => list.clone(),
                    _ => keys,
                };
                Ok(Js::Json(Value::array(self.missing(&keys, scope)?)))
            }
            Rule::MissingSome(parts) => self.missing_some(parts, scope),
            Rule::Call(operator, operands) => {
                let operands: Result<Vec<Js>, _> =
                    operands.iter().map(|operand| self.eval(operand, scope)).collect();
                operator.apply(operands?, self.meter)
            }
        }
    }

    fn list(&self, items: &[Rule], scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        self.meter.spend(items.len() * CELL)?;
        let items: Result<Vec<Value>, ExprError> =
            items.iter().map(|item| Ok(self.eval(item, scope)?.into_json())).collect();
        Ok(Js::Json(Value::array(items?)))
    }

    fn var(&self, var: &Var, scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        let found = match &var.place {
            Place::Known(operand) => operand.find(scope, self.meter),
            Place::Computed(rule) => {
                let place = self.eval(rule, scope)?;
                self.find(&place, scope)
            }
        };
        let found = found.map_err(|error| error.at_pointer(&var.pointer))?;
        Ok(match (found, &var.default) {
            (Js::Undefined, Some(default)) => Js::Json(self.eval(default, scope)?.into_json()),
            (Js::Undefined, None) => Js::Json(Value::Null),
            (found, _) => found,
        })
    }

    /// What a computed operand points at.
    fn find(&self, place: &Js, scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        match place {
            place if place.is_nullish() => Operand::Whole.find(scope, self.meter),
            Js::Json(Value::String(text)) => {
                self.logic.computed.operand(text)?.find(scope, self.meter)
            }
            place => Operand::path(&text_of(place, self.meter)?).find(scope, self.meter),
        }
    }

    /// `if`: pairs of a condition and a result, and perhaps one more result.
    fn branch(&self, branches: &[Rule], scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        let mut pairs = branches.chunks_exact(2);
        for pair in &mut pairs {
            if self.eval(&pair[0], scope)?.truthy() {
                return self.eval(&pair[1], scope);
            }
        }
        match pairs.remainder() {
            [otherwise] => self.eval(otherwise, scope),
            _ => Ok(Js::Json(Value::Null)),
        }
    }

    /// `and` and `or`: the first value that decides, or the last.
    fn until(
        &self,
        rules: &[Rule],
        deciding: bool,
        scope: &Arc<dyn Scope>,
    ) -> Result<Js, ExprError> {
        let mut last = Js::Undefined;
        for rule in rules {
            last = self.eval(rule, scope)?;
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
        scope: &Arc<dyn Scope>,
    ) -> Result<Js, ExprError> {
        let list = self.eval(list, scope)?;
        let items = match &list {
            Js::Json(Value::Array(items)) => items.as_slice(),
            _ => &[],
        };
        let mut results = Vec::new();
        for item in items {
            let result = self.inside(body, item.clone(), scope)?;
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

    fn reduce(
        &self,
        [list, body, initial]: &[Rule; 3],
        scope: &Arc<dyn Scope>,
    ) -> Result<Js, ExprError> {
        let list = self.eval(list, scope)?;
        let mut accumulator = match initial {
            Rule::Literal(Js::Undefined) => Js::Json(Value::Null),
            initial => self.eval(initial, scope)?,
        };
        if let Js::Json(Value::Array(items)) = &list {
            for item in items.iter() {
                let mut members = Map::with_capacity(2);
                members.insert("current", item.clone());
                members.insert("accumulator", accumulator.into_json());
                accumulator = self.inside(body, Value::object(members), scope)?;
            }
        }
        Ok(accumulator)
    }

    /// Evaluates the body of an iteration with one value as its scope.
    fn inside(&self, body: &Rule, value: Value, scope: &Arc<dyn Scope>) -> Result<Js, ExprError> {
        self.meter.remaining()?;
        self.eval(body, &PlainScope::inside(scope, value))
    }

    /// The keys at which there is nothing, null or an empty text.
    fn missing(&self, keys: &Value, scope: &Arc<dyn Scope>) -> Result<Vec<Value>, ExprError> {
        let keys = keys.as_array().map_or(std::slice::from_ref(keys), |keys| keys.as_slice());
        let mut missing = Vec::new();
        for key in keys {
            let found = self.find(&Js::Json(key.clone()), scope)?;
            if found.is_nullish()
                || matches!(&found, Js::Json(Value::String(text)) if text.is_empty())
            {
                missing.push(key.clone());
            }
        }
        Ok(missing)
    }

    /// All missing keys, or none if enough of them are there.
    fn missing_some(
        &self,
        [needed, keys]: &[Rule; 2],
        scope: &Arc<dyn Scope>,
    ) -> Result<Js, ExprError> {
        let needed = self.eval(needed, scope)?;
        let keys = self.eval(keys, scope)?.into_json();
        let missing = self.missing(&keys, scope)?;
        let there = keys.as_array().map_or(1, |keys| keys.len()) - missing.len();
        let enough = less_than(&Js::number(there as f64), &needed, self.meter)? == Some(false);
        Ok(Js::Json(Value::array(if enough { Vec::new() } else { missing })))
    }
}
