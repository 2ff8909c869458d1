use std::cmp::Ordering;

use super::Evaluator;
use super::path::Straight;
use super::tuple::Stream;
use crate::error::{Outcome, fail, place};
use crate::frame::Scope;
use crate::item::Item;
use crate::js;
use crate::plan::{Node, NodeKind, SortKey};

/// How many items are sorted without looking at the clock in between.
const SORTED_AT_ONCE: usize = 16 * 1024;

/// The value of one term for one item, once it has been needed.
type Known = Option<Option<Item>>;

impl Evaluator<'_> {
    /// Sorts the items of an array by the terms of an order-by clause.
    pub(super) fn sort_items(
        &mut self,
        step: &Node,
        terms: &[SortKey],
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Item> {
        let Some(items) = input.and_then(Item::items) else {
            return Ok(Item::sequence(Vec::new()));
        };
        if items.len() <= 1 {
            return Ok(input.cloned().unwrap_or(Item::Hole));
        }
        let mut items = items.to_vec();
        let order = match self.order_by_numbers(terms, &items, scope)? {
            Some(order) => order,
            None => self.order(step, terms, items.len(), |evaluator, place, key| {
                let context = Some(&items[place]).filter(|item| !matches!(item, Item::Hole));
                evaluator.eval(key, context, scope)
            })?,
        };
        let mut sorted = Vec::with_capacity(items.len());
        for place in order {
            let item = std::mem::replace(&mut items[place], Item::Hole);
            self.push(&mut sorted, item)?;
        }
        Ok(Item::array(sorted))
    }

    /// The places in sorted order, if a single term leads straight to a number in every item: then
    /// nothing can fail, and the numbers are sorted by themselves.
    fn order_by_numbers(
        &mut self,
        terms: &[SortKey],
        items: &[Item],
        scope: &Scope,
    ) -> Outcome<Option<Vec<usize>>> {
        let [SortKey { descending, key }] = terms else { return Ok(None) };
        let NodeKind::Path { steps, keep_singleton: false } = &key.kind else { return Ok(None) };
        if !key.is_bare() || items.len() > SORTED_AT_ONCE {
            return Ok(None);
        }
        self.budget.steps(items.len() * 2)?;
        self.budget.allocate(size_of_val(items))?;
        let number = |item| match self.straight(steps, Some(item), scope) {
            Straight::Whole(Some(item)) => item.as_f64(),
            _ => None,
        };
        let Some(numbers) = items.iter().map(number).collect::<Option<Vec<f64>>>() else {
            return Ok(None);
        };
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = if *descending { (b, a) } else { (a, b) };
            numbers[a].partial_cmp(&numbers[b]).unwrap_or(Ordering::Equal)
        });
        Ok(Some(order))
    }

    pub(super) fn sort_stream(
        &mut self,
        step: &Node,
        terms: &[SortKey],
        stream: Stream,
        scope: &Scope,
    ) -> Outcome<Stream> {
        let order = self.order(step, terms, stream.len(), |evaluator, place, key| {
            let tuple = &stream[place];
            let inner = evaluator.new_scope(scope, tuple.bindings.clone())?;
            evaluator.eval(key, tuple.item.as_ref(), &inner)
        })?;
        Ok(order.into_iter().map(|place| stream[place].clone()).collect())
    }

    /// The places in sorted order. Each term is evaluated at most once per item.
    fn order(
        &mut self,
        step: &Node,
        terms: &[SortKey],
        count: usize,
        mut evaluate: impl FnMut(&mut Self, usize, &Node) -> Outcome<Option<Item>>,
    ) -> Outcome<Vec<usize>> {
        let mut known: Vec<Known> = vec![None; count * terms.len()];
        self.budget.allocate(known.len() * size_of::<Known>())?;
        self.merge_sort((0..count).collect(), |evaluator, &a, &b| {
            for (index, term) in terms.iter().enumerate() {
                for place in [a, b] {
                    let slot = place * terms.len() + index;
                    if known[slot].is_none() {
                        known[slot] = Some(evaluate(evaluator, place, &term.key)?);
                    }
                }
                let key = |place: usize| {
                    known[place * terms.len() + index].as_ref().and_then(Option::as_ref)
                };
                let ordering = compare_keys(step, key(a), key(b))?;
                match ordering {
                    Verdict::Same => {}
                    Verdict::NoValueLast(ordering) => return Ok(ordering.is_gt()),
                    Verdict::Order(ordering) => return Ok(ordering.is_gt() != term.descending),
                }
            }
            Ok(false)
        })
    }

    /// A stable sort with a comparison that may fail; `after(a, b)` says that `a` comes after `b`.
    pub(crate) fn merge_sort<T: Clone>(
        &mut self,
        items: Vec<T>,
        mut after: impl FnMut(&mut Self, &T, &T) -> Outcome<bool>,
    ) -> Outcome<Vec<T>> {
        self.split_and_merge(&items, &mut after)
    }

    fn split_and_merge<T: Clone>(
        &mut self,
        items: &[T],
        after: &mut impl FnMut(&mut Self, &T, &T) -> Outcome<bool>,
    ) -> Outcome<Vec<T>> {
        match items {
            [] | [_] => return Ok(items.to_vec()),
            [a, b] => {
                self.budget.step()?;
                let (first, second) = if after(self, a, b)? { (b, a) } else { (a, b) };
                return Ok(vec![first.clone(), second.clone()]);
            }
            _ => {}
        }
        let (left, right) = items.split_at(items.len() / 2);
        let left = self.split_and_merge(left, after)?;
        let right = self.split_and_merge(right, after)?;
        let mut merged = Vec::with_capacity(items.len());
        let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            self.budget.step()?;
            let next = if after(self, a, b)? { right.next() } else { left.next() };
            merged.extend(next);
        }
        merged.extend(left);
        merged.extend(right);
        Ok(merged)
    }
}

enum Verdict {
    Same,
    Order(Ordering),
    /// One of them has no value and comes last, whatever the direction.
    NoValueLast(Ordering),
}

fn compare_keys(step: &Node, a: Option<&Item>, b: Option<&Item>) -> Outcome<Verdict> {
    let (a, b) = match (a, b) {
        (None, None) => return Ok(Verdict::Same),
        (None, Some(_)) => return Ok(Verdict::NoValueLast(Ordering::Greater)),
        (Some(_), None) => return Ok(Verdict::NoValueLast(Ordering::Less)),
        (Some(a), Some(b)) => (a, b),
    };
    let ordering = match (a.as_f64(), b.as_f64(), a.as_str(), b.as_str()) {
        (Some(a), Some(b), ..) if a == b => Ordering::Equal,
        (Some(a), Some(b), ..) => {
            if a < b {
                Ordering::Less
            } else {
                Ordering::Greater
            }
        }
        (.., Some(a), Some(b)) => js::text::compare(a, b),
        (None, _, None, _) | (_, None, _, None) => {
            let message = "the terms of an order-by clause must be numbers or strings";
            let odd = if a.as_f64().is_none() && a.as_str().is_none() { a } else { b };
            return Err(failed(step, "T2008", message, odd));
        }
        _ => {
            let message = "the terms of an order-by clause must all be numbers or all strings";
            return Err(failed(step, "T2007", message, a));
        }
    };
    Ok(if ordering.is_eq() { Verdict::Same } else { Verdict::Order(ordering) })
}

fn failed(step: &Node, code: &'static str, message: &str, value: &Item) -> crate::error::Failure {
    let mut failure = fail(code, message);
    failure.value = value.clone().into_value();
    place(&mut failure, step.token, step.token);
    failure
}
