use std::cmp::Ordering;

use mcpgraph_value::Value;

use super::Evaluator;
use crate::compare::{as_number, deep_equal, truth};
use crate::error::{Failure, Outcome, fail, replace};
use crate::frame::Scope;
use crate::item::Item;
use crate::js;
use crate::json;
use crate::plan::Node;
use crate::syntax::ast::BinaryOp;

/// How many items `..` makes at most.
const MAX_RANGE: f64 = 1e7;

impl Evaluator<'_> {
    pub(super) fn binary(
        &mut self,
        node: &Node,
        op: BinaryOp,
        lhs: &Node,
        rhs: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let lhs = self.eval(lhs, input, scope)?;
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self
                .either(op == BinaryOp::Or, lhs, rhs, input, scope)
                .map_err(|failure| placed(failure, node, op));
        }
        let rhs = self.eval(rhs, input, scope)?;
        self.apply_operator(op, lhs, rhs).map_err(|failure| placed(failure, node, op))
    }

    /// `and` and `or`: the right side counts only if the left does not decide.
    fn either(
        &mut self,
        decisive: bool,
        lhs: Option<Item>,
        rhs: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        if truth(lhs.as_ref(), &mut self.budget)? == decisive {
            return Ok(Some(Item::bool(decisive)));
        }
        let rhs = self.eval(rhs, input, scope)?;
        Ok(Some(Item::bool(truth(rhs.as_ref(), &mut self.budget)?)))
    }

    fn apply_operator(
        &mut self,
        op: BinaryOp,
        lhs: Option<Item>,
        rhs: Option<Item>,
    ) -> Outcome<Option<Item>> {
        match op {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => arithmetic(op, lhs, rhs),
            BinaryOp::Equal | BinaryOp::NotEqual => {
                let (Some(lhs), Some(rhs)) = (lhs, rhs) else { return Ok(Some(Item::bool(false))) };
                let equal = deep_equal(&lhs, &rhs, &mut self.budget)?;
                Ok(Some(Item::bool(equal == (op == BinaryOp::Equal))))
            }
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                compare(op, lhs, rhs)
            }
            BinaryOp::Concat => self.concat(lhs, rhs).map(Some),
            BinaryOp::Range => self.range(lhs, rhs),
            BinaryOp::In => {
                let (Some(lhs), Some(rhs)) = (lhs, rhs) else { return Ok(Some(Item::bool(false))) };
                self.contained(&lhs, &rhs).map(|found| Some(Item::bool(found)))
            }
            // The others are no operators on two values.
            BinaryOp::And | BinaryOp::Or | BinaryOp::Map | BinaryOp::Chain => Ok(None),
        }
    }

    fn concat(&mut self, lhs: Option<Item>, rhs: Option<Item>) -> Outcome<Item> {
        let mut text = match lhs {
            Some(lhs) => json::to_text(&lhs, false, &mut self.budget)?,
            None => String::new(),
        };
        match &rhs {
            Some(Item::Value(Value::String(rhs))) => {
                self.budget.allocate(rhs.len())?;
                text.push_str(rhs);
            }
            Some(rhs) => text.push_str(&json::to_text(rhs, false, &mut self.budget)?),
            None => {}
        }
        self.string(text)
    }

    fn range(&mut self, lhs: Option<Item>, rhs: Option<Item>) -> Outcome<Option<Item>> {
        let first = whole(lhs, "T2003", "left")?;
        let last = whole(rhs, "T2004", "right")?;
        let (Some(first), Some(last)) = (first, last) else { return Ok(None) };
        if first > last {
            return Ok(None);
        }
        let size = last - first + 1.0;
        if size > MAX_RANGE {
            let message = format!("a range has {size} items, more than {MAX_RANGE}");
            let mut failure = fail("D2014", message);
            failure.value = Some(Value::from(size));
            return Err(failure);
        }
        let count = size as usize;
        self.budget.sequence(count)?;
        self.budget.allocate(count * size_of::<Item>())?;
        let mut items = Vec::with_capacity(count);
        for index in 0..count {
            self.budget.step()?;
            items.push(Item::number(first + index as f64));
        }
        Ok(Some(Item::sequence(items)))
    }

    /// Whether `lhs` is among the items of `rhs`; arrays and objects never are.
    fn contained(&mut self, lhs: &Item, rhs: &Item) -> Outcome<bool> {
        let Some(items) = rhs.items() else { return Ok(identical(lhs, rhs)) };
        self.budget.steps(items.len())?;
        Ok(items.iter().any(|item| identical(lhs, &item)))
    }
}

/// `===` of JavaScript: containers and functions are equal only to themselves.
fn identical(a: &Item, b: &Item) -> bool {
    match (a, b) {
        (Item::Value(Value::Array(a)), Item::Value(Value::Array(b))) => a.is_same(b),
        (Item::Value(Value::Object(a)), Item::Value(Value::Object(b))) => a.is_same(b),
        (Item::Value(Value::Number(a)), Item::Value(Value::Number(b))) => a.as_f64() == b.as_f64(),
        (Item::Value(a), Item::Value(b)) => a == b,
        (Item::Function(a), Item::Function(b)) => std::rc::Rc::ptr_eq(a, b),
        _ => false,
    }
}

fn placed(mut failure: Failure, node: &Node, op: BinaryOp) -> Failure {
    replace(&mut failure, node.token, op.as_str());
    failure
}

fn arithmetic(op: BinaryOp, lhs: Option<Item>, rhs: Option<Item>) -> Outcome<Option<Item>> {
    let lhs = operand(lhs, "T2001", "left", op)?;
    let rhs = operand(rhs, "T2002", "right", op)?;
    let (Some(lhs), Some(rhs)) = (lhs, rhs) else { return Ok(None) };
    Ok(Some(Item::number(match op {
        BinaryOp::Add => lhs + rhs,
        BinaryOp::Subtract => lhs - rhs,
        BinaryOp::Multiply => lhs * rhs,
        BinaryOp::Divide => lhs / rhs,
        _ => lhs % rhs,
    })))
}

fn operand(
    item: Option<Item>,
    code: &'static str,
    side: &str,
    op: BinaryOp,
) -> Outcome<Option<f64>> {
    let Some(item) = item else { return Ok(None) };
    let number = as_number(&item)?;
    if number.is_none() {
        let message = format!("the {side} side of `{}` must be a number", op.as_str());
        let mut failure = fail(code, message);
        failure.value = item.into_value();
        return Err(failure);
    }
    Ok(number)
}

fn compare(op: BinaryOp, lhs: Option<Item>, rhs: Option<Item>) -> Outcome<Option<Item>> {
    if let (Some(a), Some(b)) =
        (lhs.as_ref().and_then(Item::as_f64), rhs.as_ref().and_then(Item::as_f64))
    {
        return Ok(Some(Item::bool(holds(op, a.partial_cmp(&b)))));
    }
    let comparable = |item: &Option<Item>| match item {
        None => true,
        Some(item) => item.as_f64().is_some() || item.as_str().is_some(),
    };
    for side in [&lhs, &rhs] {
        if !comparable(side) {
            let message =
                format!("the values on both sides of `{}` must be numbers or strings", op.as_str());
            let mut failure = fail("T2010", message);
            failure.value = side.clone().and_then(Item::into_value);
            return Err(failure);
        }
    }
    let (Some(lhs), Some(rhs)) = (lhs, rhs) else { return Ok(None) };
    let (Some(a), Some(b)) = (lhs.as_str(), rhs.as_str()) else {
        let message =
            format!("the values on both sides of `{}` must be of the same type", op.as_str());
        let mut failure = fail("T2009", message);
        failure.value = lhs.into_value();
        return Err(failure);
    };
    Ok(Some(Item::bool(holds(op, Some(js::text::compare(a, b))))))
}

/// Whether an order is the one that an operator asks for; NaN has none.
fn holds(op: BinaryOp, ordering: Option<Ordering>) -> bool {
    ordering.is_some_and(|ordering| match op {
        BinaryOp::Less => ordering.is_lt(),
        BinaryOp::LessEqual => ordering.is_le(),
        BinaryOp::Greater => ordering.is_gt(),
        _ => ordering.is_ge(),
    })
}

fn whole(item: Option<Item>, code: &'static str, side: &str) -> Outcome<Option<f64>> {
    let Some(item) = item else { return Ok(None) };
    match item.as_f64() {
        Some(number) if number.fract() == 0.0 => Ok(Some(number)),
        _ => {
            let message = format!("the {side} side of `..` must be a whole number");
            let mut failure = fail(code, message);
            failure.value = item.into_value();
            Err(failure)
        }
    }
}
