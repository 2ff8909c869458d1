use std::rc::Rc;

use mcpgraph_value::Value;

use super::tuple::Stream;
use super::{Evaluator, collapse};
use crate::compare::{as_number, truth};
use crate::error::Outcome;
use crate::frame::Scope;
use crate::item::{Item, Items, List};
use crate::plan::{Node, NodeKind, Stage};
use crate::syntax::ast::Literal;

/// What a path gives: items, or tuples for the path around it.
pub(super) enum PathResult {
    Item(Option<Item>),
    Stream(Stream),
}

impl Evaluator<'_> {
    pub(super) fn path(
        &mut self,
        node: &Node,
        steps: &[Node],
        keep_singleton: bool,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        match self.path_or_stream(node, steps, keep_singleton, input, scope)? {
            PathResult::Item(item) => Ok(item),
            PathResult::Stream(stream) => self.stream_items(stream).map(Some),
        }
    }

    pub(super) fn path_or_stream(
        &mut self,
        node: &Node,
        steps: &[Node],
        keep_singleton: bool,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<PathResult> {
        let Some(first) = steps.first() else { return Ok(PathResult::Item(None)) };
        let mut start = 0;
        let mut current = None;
        if node.group.is_none() && !keep_singleton {
            match self.straight(steps, input, scope) {
                Straight::Whole(result) => return Ok(PathResult::Item(result)),
                Straight::Up(taken, array) => (start, current) = (taken, Some(array)),
                Straight::Not => {}
            }
        }
        // A path that starts with a variable does not go through the items of its context.
        let is_absolute = matches!(first.kind, NodeKind::Variable(_) | NodeKind::Context);
        if start == 0 {
            current = match input {
                Some(item) if item.is_array() && !is_absolute => Some(item.clone()),
                input => Some(Item::sequence(vec![input.cloned().unwrap_or(Item::Hole)])),
            };
        }
        let mut stream: Option<Stream> = None;
        let mut is_stream = false;
        for (index, step) in steps.iter().enumerate().skip(start) {
            is_stream |= step.step.tuple;
            if index == 0 && step.cons_array {
                current = self.eval(step, current.as_ref(), scope)?;
            } else if is_stream {
                stream = Some(self.tuple_step(step, current.as_ref(), stream.take(), scope)?);
                continue;
            } else {
                let last = index == steps.len() - 1;
                current = Some(self.step(step, current.as_ref(), scope, last)?);
            }
            let is_empty = match &current {
                None => true,
                Some(item) => item.items().is_some_and(Items::is_empty),
            };
            if is_empty && !is_stream {
                break;
            }
        }
        if let Some(stream) = &mut stream {
            if let Some(group) = &node.group {
                return self.group_stream(group, stream, scope).map(|o| PathResult::Item(Some(o)));
            }
            if node.step.tuple {
                return Ok(PathResult::Stream(std::mem::take(stream)));
            }
            let stream = std::mem::take(stream);
            current = Some(self.stream_items(stream)?);
        }
        if keep_singleton {
            current = current.map(keep_as_array);
        }
        if let Some(group) = &node.group {
            return self.group(group, current.as_ref(), scope).map(|o| PathResult::Item(Some(o)));
        }
        Ok(PathResult::Item(current))
    }

    /// Follows names from object to object, which needs no sequences. Only what is found at the end
    /// is shared.
    pub(super) fn straight(&self, steps: &[Node], input: Option<&Item>, scope: &Scope) -> Straight {
        match steps.first() {
            Some(Node { kind: NodeKind::Variable(variable), .. }) if is_plain(&steps[0]) => {
                if variable.may_be_local
                    && let Some(found) = scope.look(&variable.name, |item| follow(steps, 1, item))
                {
                    return found;
                }
                follow(steps, 1, self.outer_variable(variable).as_ref())
            }
            Some(Node { kind: NodeKind::Context, .. }) if is_plain(&steps[0]) => match input {
                Some(Item::List(list)) if list.is_wrapper => follow(steps, 1, list.items.first()),
                input => follow(steps, 1, input),
            },
            Some(Node { kind: NodeKind::Name(_), .. }) => match input {
                Some(Item::Value(Value::Object(_))) => follow(steps, 0, input),
                _ => Straight::Not,
            },
            _ => Straight::Not,
        }
    }

    /// Takes every item of `input` through a step.
    fn step(
        &mut self,
        step: &Node,
        input: Option<&Item>,
        scope: &Scope,
        last: bool,
    ) -> Outcome<Item> {
        if let NodeKind::Sort(terms) = &step.kind {
            let mut sorted = self.sort_items(step, terms, input, scope)?;
            for stage in &step.step.stages {
                if let Stage::Filter(predicate) = stage {
                    sorted = self.filter(predicate, Some(sorted), scope)?;
                }
            }
            return Ok(sorted);
        }
        let mut results = Flattened::default();
        let is_plain_name = step.step.stages.is_empty() && step.predicates.is_empty();
        match (&step.kind, input.and_then(Item::items)) {
            (_, None) => {}
            (NodeKind::Name(name), Some(Items::Values(values))) if is_plain_name => {
                for value in values {
                    self.budget.step()?;
                    match value {
                        Value::Object(members) => {
                            if let Some(member) = members.get(name) {
                                results.add(self, Item::Value(member.clone()))?;
                            }
                        }
                        Value::Array(_) => {
                            let found = self.lookup(Some(&Item::Value(value.clone())), name)?;
                            if let Some(found) = collapse(found, step.keep_array) {
                                results.add(self, found)?;
                            }
                        }
                        _ => {}
                    }
                }
            }
            (_, Some(Items::Values(values))) => {
                for value in values {
                    self.step_item(step, Some(&Item::Value(value.clone())), scope, &mut results)?;
                }
            }
            (NodeKind::Name(name), Some(Items::Items(items))) if is_plain_name => {
                for item in items {
                    match item {
                        Item::Value(Value::Object(members)) => {
                            self.budget.step()?;
                            if let Some(member) = members.get(name) {
                                results.add(self, Item::Value(member.clone()))?;
                            }
                        }
                        Item::Hole => {}
                        item => self.step_item(step, Some(item), scope, &mut results)?,
                    }
                }
            }
            (_, Some(Items::Items(items))) => {
                for item in items {
                    let item = if matches!(item, Item::Hole) { None } else { Some(item) };
                    self.step_item(step, item, scope, &mut results)?;
                }
            }
        }
        results.finish(self, last)
    }

    fn step_item(
        &mut self,
        step: &Node,
        item: Option<&Item>,
        scope: &Scope,
        results: &mut Flattened,
    ) -> Outcome<()> {
        let mut result = self.eval(step, item, scope)?;
        for stage in &step.step.stages {
            if let Stage::Filter(predicate) = stage {
                result = Some(self.filter(predicate, result, scope)?);
            }
        }
        match result {
            Some(result) => results.add(self, result),
            None => Ok(()),
        }
    }

    /// The items for which a predicate holds, or those at the positions it gives.
    pub(super) fn filter(
        &mut self,
        predicate: &Node,
        input: Option<Item>,
        scope: &Scope,
    ) -> Outcome<Item> {
        let single;
        let items = match input.as_ref().and_then(Item::items) {
            Some(items) => items,
            None => {
                single = [input.clone().unwrap_or(Item::Hole)];
                Items::Items(&single)
            }
        };
        let length = items.len();
        if let NodeKind::Literal(Literal::Number(number)) = predicate.kind {
            let found = position(number, length).and_then(|index| items.get(index));
            return Ok(match found {
                Some(item) if item.is_array() => item,
                found => Item::sequence(found.into_iter().collect()),
            });
        }
        let mut results = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let context = if matches!(item, Item::Hole) { None } else { Some(&item) };
            let verdict = self.eval(predicate, context, scope)?;
            let times = self.times_selected(verdict, index, length)?;
            for _ in 1..times {
                self.push(&mut results, item.clone())?;
            }
            if times > 0 {
                self.push(&mut results, item)?;
            }
        }
        Ok(Item::sequence(results))
    }

    /// How often the verdict of a predicate selects the item at `index`.
    pub(super) fn times_selected(
        &mut self,
        verdict: Option<Item>,
        index: usize,
        length: usize,
    ) -> Outcome<usize> {
        let Some(verdict) = verdict else { return Ok(0) };
        if let Item::Value(Value::Bool(flag)) = verdict {
            return Ok(usize::from(flag));
        }
        if let Some(number) = as_number(&verdict)? {
            return Ok(usize::from(position(number, length) == Some(index)));
        }
        if let Some(items) = verdict.items() {
            let mut count = 0;
            let mut all_numbers = true;
            for item in items.iter() {
                match as_number(&item)? {
                    Some(number) => {
                        count += usize::from(position(number, length) == Some(index));
                    }
                    None => {
                        all_numbers = false;
                        break;
                    }
                }
            }
            if all_numbers {
                return Ok(count);
            }
        }
        Ok(usize::from(truth(Some(&verdict), &mut self.budget)?))
    }
}

/// How far a path goes straight on.
pub(super) enum Straight {
    /// To its end.
    Whole(Option<Item>),
    /// Through so many steps, to an array.
    Up(usize, Item),
    /// Not at all.
    Not,
}

/// Follows the names from a step on, beginning at `start`.
fn follow(steps: &[Node], mut taken: usize, start: Option<&Item>) -> Straight {
    let mut value = match start {
        None => return Straight::Whole(None),
        Some(Item::Value(value)) => value,
        Some(Item::List(_)) => return Straight::Not,
        Some(item) if taken == steps.len() => return Straight::Whole(Some(item.clone())),
        Some(_) => return Straight::Not,
    };
    while let Some(step) = steps.get(taken) {
        let NodeKind::Name(name) = &step.kind else { break };
        if !is_plain(step) {
            break;
        }
        value = match value {
            Value::Array(_) => break,
            value => match value.get(name) {
                Some(member) => member,
                None => return Straight::Whole(None),
            },
        };
        taken += 1;
    }
    match value {
        value if taken == steps.len() => Straight::Whole(Some(Item::Value(value.clone()))),
        _ if taken == 0 => Straight::Not,
        // Nothing is left for the other steps.
        Value::Array(items) if items.is_empty() => Straight::Whole(None),
        Value::Array(_) => Straight::Up(taken, Item::Value(value.clone())),
        value => Straight::Up(taken, Item::sequence(vec![Item::Value(value.clone())])),
    }
}

/// Whether a step does nothing but select.
fn is_plain(step: &Node) -> bool {
    step.predicates.is_empty()
        && step.group.is_none()
        && step.step.stages.is_empty()
        && !step.step.tuple
        && !step.keep_array
}

/// A position as a predicate gives it: rounded down, negative ones from the end.
pub(super) fn position(number: f64, length: usize) -> Option<usize> {
    let floor = number.floor();
    let index = if floor < 0.0 { floor + length as f64 } else { floor };
    (index >= 0.0 && index < length as f64).then_some(index as usize)
}

/// `[]` at the end of a path.
fn keep_as_array(item: Item) -> Item {
    match item {
        Item::List(list) if list.is_cons && !list.is_sequence => {
            let mut kept = List::sequence(vec![Item::List(list)]);
            kept.keep_singleton = true;
            Item::List(Rc::new(kept))
        }
        Item::List(mut list) => {
            Rc::make_mut(&mut list).keep_singleton = true;
            Item::List(list)
        }
        item => item,
    }
}

/// The results of a step, arrays among them flattened into one sequence.
///
/// The first is held back: if it stays the only one and is an array of the data, it is the result
/// of the path as it is.
#[derive(Default)]
struct Flattened {
    held: Option<Item>,
    is_started: bool,
    items: Vec<Item>,
}

impl Flattened {
    fn add(&mut self, evaluator: &mut Evaluator<'_>, item: Item) -> Outcome<()> {
        if !std::mem::replace(&mut self.is_started, true) && item.is_array() {
            self.held = Some(item);
            return Ok(());
        }
        if let Some(held) = self.held.take() {
            self.flatten(evaluator, held)?;
        }
        self.flatten(evaluator, item)
    }

    fn flatten(&mut self, evaluator: &mut Evaluator<'_>, item: Item) -> Outcome<()> {
        match &item {
            Item::List(list) if list.is_cons => evaluator.push(&mut self.items, item),
            _ => evaluator.extend(&mut self.items, item),
        }
    }

    fn finish(mut self, evaluator: &mut Evaluator<'_>, last: bool) -> Outcome<Item> {
        match self.held.take() {
            Some(held) if last && !held.is_sequence() => return Ok(held),
            Some(held) => self.flatten(evaluator, held)?,
            None => {}
        }
        Ok(Item::sequence(self.items))
    }
}
