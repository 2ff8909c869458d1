use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::IndexMap;

use super::Evaluator;
use super::tuple::{Stream, Tuple};
use crate::error::{Failure, Outcome, fail, place};
use crate::frame::Scope;
use crate::item::{Item, Items, Record};
use crate::plan::Group;

/// About what one member of an object takes besides its key and value.
const MEMBER_BYTES: usize = 80;

/// What has been collected, by key.
type Groups<T> = IndexMap<Arc<str>, Collected<T>, RandomState>;

/// What has been collected under one key.
struct Collected<T> {
    /// Which of the pairs of the expression made the key.
    pair: usize,
    items: Vec<T>,
}

impl Evaluator<'_> {
    /// Makes an object: for every item of the input a key, for every key a value.
    pub(super) fn group(
        &mut self,
        group: &Group,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Item> {
        let single;
        let items = match input.and_then(Item::items) {
            // Without input there is still one object, made of what does not depend on it.
            Some(items) if items.is_empty() => Items::Items(&[Item::Hole]),
            Some(items) => items,
            None => {
                single = [input.cloned().unwrap_or(Item::Hole)];
                Items::Items(&single)
            }
        };
        if items.len() == 1 {
            return self.single_object(group, items.get(0).as_ref(), scope);
        }
        let mut groups = Groups::default();
        for item in items.iter() {
            for (pair, (key, _)) in group.pairs.iter().enumerate() {
                let context = if matches!(item, Item::Hole) { None } else { Some(&item) };
                let key = self.eval(key, context, scope)?;
                self.collect(group, &mut groups, key, pair, item.clone())?;
            }
        }
        let mut record = Record::default();
        for (key, Collected { pair, mut items }) in groups {
            let context = if items.len() == 1 {
                items.pop().and_then(Item::present)
            } else {
                let mut all = Vec::with_capacity(items.len());
                for item in items {
                    self.extend(&mut all, item)?;
                }
                Some(Item::array(all))
            };
            if let Some(value) = self.eval(&group.pairs[pair].1, context.as_ref(), scope)? {
                record.0.insert(key, value);
            }
        }
        Ok(Item::object(record))
    }

    /// An object made of one item, or of none: nothing is to be gathered.
    fn single_object(
        &mut self,
        group: &Group,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Item> {
        let mut keys: Vec<(Arc<str>, usize)> = Vec::with_capacity(group.pairs.len());
        for (pair, (key, _)) in group.pairs.iter().enumerate() {
            let Some(key) = self.eval(key, context, scope)? else { continue };
            let name = checked_key(group, key)?;
            // Few objects have so many members that looking through them takes long.
            self.budget.steps(keys.len() / 16)?;
            if keys.iter().any(|(other, _)| *other == name) {
                return Err(same_key(group, &name));
            }
            keys.push((name, pair));
        }
        let mut entries = Vec::with_capacity(keys.len());
        for (name, pair) in keys {
            if let Some(value) = self.eval(&group.pairs[pair].1, context, scope)? {
                self.budget.allocate(MEMBER_BYTES)?;
                entries.push((name, value));
            }
        }
        Ok(Item::from_entries(entries))
    }

    /// The same for items that carry variables, which are grouped with them.
    pub(super) fn group_stream(
        &mut self,
        group: &Group,
        stream: &Stream,
        scope: &Scope,
    ) -> Outcome<Item> {
        let mut groups = Groups::default();
        for tuple in stream {
            let inner = self.new_scope(scope, tuple.bindings.clone())?;
            for (pair, (key, _)) in group.pairs.iter().enumerate() {
                let key = self.eval(key, tuple.item.as_ref(), &inner)?;
                self.collect(group, &mut groups, key, pair, tuple.clone())?;
            }
        }
        let mut record = Record::default();
        for (key, Collected { pair, items }) in groups {
            let tuple = self.join_tuples(items)?;
            let inner = self.new_scope(scope, tuple.bindings)?;
            if let Some(value) = self.eval(&group.pairs[pair].1, tuple.item.as_ref(), &inner)? {
                record.0.insert(key, value);
            }
        }
        Ok(Item::object(record))
    }

    fn collect<T>(
        &mut self,
        group: &Group,
        groups: &mut Groups<T>,
        key: Option<Item>,
        pair: usize,
        item: T,
    ) -> Outcome<()> {
        let Some(key) = key else { return Ok(()) };
        let name = checked_key(group, key)?;
        self.budget.allocate(size_of::<T>())?;
        match groups.get_mut(&name) {
            None => {
                self.budget.allocate(MEMBER_BYTES)?;
                groups.insert(name, Collected { pair, items: vec![item] });
            }
            Some(collected) if collected.pair == pair => collected.items.push(item),
            Some(_) => return Err(same_key(group, &name)),
        }
        Ok(())
    }

    /// One tuple of many: every variable becomes the array of its values.
    fn join_tuples(&mut self, tuples: Vec<Tuple>) -> Outcome<Tuple> {
        let mut tuples = tuples.into_iter();
        let Some(mut joined) = tuples.next() else { return Ok(Tuple::default()) };
        if tuples.len() == 0 {
            return Ok(joined);
        }
        let mut item = Gathered::new(joined.item.take());
        let mut bindings: Vec<_> = std::mem::take(&mut joined.bindings)
            .into_iter()
            .map(|(key, value)| (key, Gathered::new(value)))
            .collect();
        for tuple in tuples {
            item.add(self, tuple.item)?;
            for (key, value) in tuple.bindings {
                match bindings.iter_mut().find(|(bound, _)| *bound == key) {
                    Some((_, gathered)) => gathered.add(self, value)?,
                    None => bindings.push((key, Gathered::new(value))),
                }
            }
        }
        joined.item = item.finish();
        joined.bindings =
            bindings.into_iter().map(|(key, gathered)| (key, gathered.finish())).collect();
        Ok(joined)
    }
}

/// Values that become an array as soon as there are two.
enum Gathered {
    One(Option<Item>),
    Many(Vec<Item>),
}

impl Gathered {
    fn new(value: Option<Item>) -> Self {
        Self::One(value)
    }

    fn add(&mut self, evaluator: &mut Evaluator<'_>, value: Option<Item>) -> Outcome<()> {
        let Some(value) = value else { return Ok(()) };
        match self {
            Self::One(none @ None) => *none = Some(value),
            Self::One(one) => {
                let mut many = Vec::new();
                if let Some(first) = one.take() {
                    evaluator.extend(&mut many, first)?;
                }
                evaluator.extend(&mut many, value)?;
                *self = Self::Many(many);
            }
            Self::Many(many) => evaluator.extend(many, value)?,
        }
        Ok(())
    }

    fn finish(self) -> Option<Item> {
        match self {
            Self::One(one) => one,
            Self::Many(many) => Some(Item::array(many)),
        }
    }
}

/// The key of a member: a string, and not one of those the reference keeps for itself.
fn checked_key(group: &Group, key: Item) -> Outcome<Arc<str>> {
    let Some(name) = key.as_str().cloned() else {
        let mut failure = fail("T1003", "the key of an object must be a string");
        failure.value = key.into_value();
        return Err(placed(failure, group));
    };
    if matches!(&*name, "_jsonata_lambda" | "_jsonata_function") {
        let message = format!("`{name}` is reserved and cannot be the key of an object");
        let mut failure = fail("D1013", message);
        failure.value = key.into_value();
        return Err(placed(failure, group));
    }
    Ok(name)
}

fn same_key(group: &Group, name: &Arc<str>) -> Failure {
    let message = format!("two expressions of the object give the same key `{name}`");
    let mut failure = fail("D1009", message);
    failure.value = Some(name.clone().into());
    placed(failure, group)
}

fn placed(mut failure: Failure, group: &Group) -> Failure {
    place(&mut failure, group.token, group.token);
    failure
}
