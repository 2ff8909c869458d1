//! Paths that carry variables: `@`, `#` and `%`.

use super::Evaluator;
use super::path::{PathResult, position};
use crate::error::Outcome;
use crate::frame::{Key, Scope};
use crate::item::{Item, Items};
use crate::plan::{Node, NodeKind, Stage};
use crate::stack;
use crate::syntax::ast::Literal;

/// One item on its way along a path, with the variables it has picked up.
#[derive(Clone, Default)]
pub(super) struct Tuple {
    pub(super) item: Option<Item>,
    pub(super) bindings: Vec<(Key, Option<Item>)>,
}

/// The items on their way.
pub(super) type Stream = Vec<Tuple>;

impl Tuple {
    pub(super) fn set(&mut self, key: Key, value: Option<Item>) {
        match self.bindings.iter_mut().find(|(bound, _)| *bound == key) {
            Some((_, slot)) => *slot = value,
            None => self.bindings.push((key, value)),
        }
    }

    /// This tuple, continued by one that came out of it.
    fn continued(&self, inner: Self) -> Self {
        let mut joined = self.clone();
        joined.item = inner.item;
        for (key, value) in inner.bindings {
            joined.set(key, value);
        }
        joined
    }
}

impl Evaluator<'_> {
    /// Takes every tuple through a step; the first such step makes tuples of the items so far.
    pub(super) fn tuple_step(
        &mut self,
        step: &Node,
        input: Option<&Item>,
        stream: Option<Stream>,
        scope: &Scope,
    ) -> Outcome<Stream> {
        let mut results = Stream::new();
        if let NodeKind::Sort(terms) = &step.kind {
            results = match stream {
                Some(stream) => self.sort_stream(step, terms, stream, scope)?,
                None => {
                    let sorted = self.sort_items(step, terms, input, scope)?;
                    let mut stream = tuples_of(Some(&sorted));
                    number(&mut stream, step.step.index.as_ref().map(|n| Key::Name(n.clone())));
                    stream
                }
            };
            return self.stages(step, results, scope);
        }
        for tuple in stream.unwrap_or_else(|| tuples_of(input)) {
            let inner = self.new_scope(scope, tuple.bindings.clone())?;
            match self.eval_or_stream(step, tuple.item.as_ref(), &inner)? {
                PathResult::Item(None) => {}
                PathResult::Item(Some(result)) => {
                    let items = match result.items() {
                        Some(items) => items.to_vec(),
                        None => vec![result],
                    };
                    for (index, item) in items.into_iter().enumerate() {
                        self.add_tuple(&mut results, step, &tuple, item.present(), index)?;
                    }
                }
                PathResult::Stream(inner) => {
                    for inner in inner {
                        self.charge_tuple()?;
                        results.push(tuple.continued(inner));
                    }
                }
            }
        }
        self.stages(step, results, scope)
    }

    fn charge_tuple(&mut self) -> Outcome<()> {
        self.budget.step()?;
        self.budget.allocate(2 * size_of::<Tuple>())
    }

    fn add_tuple(
        &mut self,
        results: &mut Stream,
        step: &Node,
        from: &Tuple,
        item: Option<Item>,
        index: usize,
    ) -> Outcome<()> {
        self.charge_tuple()?;
        self.budget.sequence(results.len() + 1)?;
        let mut tuple = from.clone();
        match &step.step.focus {
            Some(name) => tuple.set(Key::Name(name.clone()), item),
            None => tuple.item = item,
        }
        if let Some(name) = &step.step.index {
            tuple.set(Key::Name(name.clone()), Some(Item::count(index)));
        }
        for &slot in &step.step.ancestors {
            tuple.set(Key::Parent(slot), from.item.clone());
        }
        results.push(tuple);
        Ok(())
    }

    fn stages(&mut self, step: &Node, mut stream: Stream, scope: &Scope) -> Outcome<Stream> {
        for stage in &step.step.stages {
            match stage {
                Stage::Filter(predicate) => {
                    stream = self.filter_stream(predicate, stream, scope)?;
                }
                Stage::Index(name) => number(&mut stream, Some(Key::Name(name.clone()))),
            }
        }
        Ok(stream)
    }

    fn filter_stream(
        &mut self,
        predicate: &Node,
        mut stream: Stream,
        scope: &Scope,
    ) -> Outcome<Stream> {
        let length = stream.len();
        if let NodeKind::Literal(Literal::Number(number)) = predicate.kind {
            return Ok(match position(number, length) {
                Some(index) => vec![stream.swap_remove(index)],
                None => Stream::new(),
            });
        }
        let mut results = Stream::new();
        for (index, tuple) in stream.into_iter().enumerate() {
            let inner = self.new_scope(scope, tuple.bindings.clone())?;
            let verdict = self.eval(predicate, tuple.item.as_ref(), &inner)?;
            for _ in 0..self.times_selected(verdict, index, length)? {
                self.charge_tuple()?;
                results.push(tuple.clone());
            }
        }
        Ok(results)
    }

    /// Evaluates a step whose own path may carry variables outwards.
    fn eval_or_stream(
        &mut self,
        node: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<PathResult> {
        if !node.step.tuple {
            return self.eval(node, input, scope).map(PathResult::Item);
        }
        let result = stack::grow(|| match &node.kind {
            NodeKind::Path { steps, keep_singleton } => {
                self.path_or_stream(node, steps, *keep_singleton, input, scope)
            }
            NodeKind::Block(block) => {
                let scope = self.block_scope(block, scope)?;
                let Some((last, before)) = block.items.split_last() else {
                    return Ok(PathResult::Item(None));
                };
                for item in before {
                    self.eval(item, input, &scope)?;
                }
                self.eval_or_stream(last, input, &scope)
            }
            _ => self.eval_kind(node, input, scope).map(PathResult::Item),
        })?;
        let mut stream = match result {
            PathResult::Stream(stream) => stream,
            PathResult::Item(item) => {
                return self.finish(node, item, scope).map(PathResult::Item);
            }
        };
        for predicate in &node.predicates {
            stream = self.filter_stream(predicate, stream, scope)?;
        }
        match &node.group {
            Some(group) if !matches!(node.kind, NodeKind::Path { .. }) => {
                let grouped = self.group_stream(group, &stream, scope)?;
                Ok(PathResult::Item(Some(grouped)))
            }
            _ => Ok(PathResult::Stream(stream)),
        }
    }

    /// The items at the end of the path, without their variables.
    pub(super) fn stream_items(&mut self, stream: Stream) -> Outcome<Item> {
        let mut items = Vec::with_capacity(stream.len());
        for tuple in stream {
            self.push(&mut items, tuple.item.unwrap_or(Item::Hole))?;
        }
        Ok(Item::sequence(items))
    }
}

fn tuples_of(input: Option<&Item>) -> Stream {
    input
        .and_then(Item::items)
        .into_iter()
        .flat_map(Items::iter)
        .map(|item| Tuple { item: item.present(), bindings: Vec::new() })
        .collect()
}

/// Binds the position of every tuple.
fn number(stream: &mut Stream, key: Option<Key>) {
    let Some(key) = key else { return };
    for (index, tuple) in stream.iter_mut().enumerate() {
        tuple.set(key.clone(), Some(Item::count(index)));
    }
}
