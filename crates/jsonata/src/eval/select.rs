//! What names and wildcards select.

use std::sync::Arc;

use mcpgraph_value::Value;

use super::Evaluator;
use crate::error::Outcome;
use crate::item::{Item, Members};
use crate::stack;

impl Evaluator<'_> {
    /// The member `name` of an object, or of every object in an array.
    pub(crate) fn lookup(
        &mut self,
        input: Option<&Item>,
        name: &Arc<str>,
    ) -> Outcome<Option<Item>> {
        let Some(input) = input else { return Ok(None) };
        if let Some(members) = input.members() {
            return Ok(members.get(name));
        }
        if !input.is_array() {
            return Ok(None);
        }
        let mut results = Vec::new();
        self.lookup_all(input, name, &mut results)?;
        Ok(Some(Item::sequence(results)))
    }

    fn lookup_all(
        &mut self,
        input: &Item,
        name: &Arc<str>,
        results: &mut Vec<Item>,
    ) -> Outcome<()> {
        let Some(items) = input.items() else { return Ok(()) };
        self.budget.enter()?;
        for item in items.iter() {
            self.budget.step()?;
            if let Some(members) = item.members() {
                if let Some(member) = members.get(name) {
                    self.extend(results, member)?;
                }
            } else if item.is_array() {
                stack::grow(|| self.lookup_all(&item, name, results))?;
            }
        }
        self.budget.leave();
        Ok(())
    }

    /// `*`: all members of an object, arrays among them flattened. As soon as one of them is an
    /// array, so is the result, and no sequence any more.
    pub(super) fn wildcard(&mut self, input: Option<&Item>) -> Outcome<Item> {
        let mut results = Vec::new();
        let mut has_arrays = false;
        let input = match input {
            Some(Item::List(list)) if list.is_wrapper => list.items.first(),
            input => input,
        };
        if let Some(input) = input {
            if let Some(members) = input.members() {
                for (_, member) in members.entries() {
                    has_arrays |= member.is_array();
                    self.flatten(member, &mut results)?;
                }
            } else if let Some(items) = input.items() {
                for item in items.iter() {
                    has_arrays |= item.is_array();
                    self.flatten(item, &mut results)?;
                }
            }
        }
        Ok(if has_arrays { Item::array(results) } else { Item::sequence(results) })
    }

    fn flatten(&mut self, item: Item, results: &mut Vec<Item>) -> Outcome<()> {
        let Some(items) = item.items() else { return self.push(results, item) };
        self.budget.enter()?;
        for item in items.iter() {
            stack::grow(|| self.flatten(item, results))?;
        }
        self.budget.leave();
        Ok(())
    }

    /// `**`: the input and everything in it, except arrays themselves.
    pub(super) fn descendants(&mut self, input: Option<&Item>) -> Outcome<Option<Item>> {
        let Some(input) = input else { return Ok(None) };
        let mut results = Vec::new();
        self.descend(input, &mut results)?;
        if results.len() == 1 {
            return Ok(results.pop());
        }
        Ok(Some(Item::sequence(results)))
    }

    fn descend(&mut self, item: &Item, results: &mut Vec<Item>) -> Outcome<()> {
        let nested = match item {
            Item::Value(value) => return self.descend_value(value, results),
            Item::List(list) => list.items.clone(),
            item => {
                self.push(results, item.clone())?;
                let members = item.members().map(Members::entries).unwrap_or_default();
                members.into_iter().map(|(_, member)| member).collect()
            }
        };
        self.budget.enter()?;
        for item in &nested {
            stack::grow(|| self.descend(item, results))?;
        }
        self.budget.leave();
        Ok(())
    }

    /// The same for data, which is by far the most common and needs no copies of its keys.
    fn descend_value(&mut self, value: &Value, results: &mut Vec<Item>) -> Outcome<()> {
        if !matches!(value, Value::Array(_)) {
            self.push(results, Item::Value(value.clone()))?;
        }
        if !matches!(value, Value::Array(_) | Value::Object(_)) {
            return Ok(());
        }
        self.budget.enter()?;
        stack::grow(|| match value {
            Value::Array(items) => {
                items.iter().try_for_each(|item| self.descend_value(item, results))
            }
            Value::Object(members) if Members::Values(members).has_indices() => {
                Members::Values(members)
                    .entries()
                    .iter()
                    .try_for_each(|(_, member)| self.descend(member, results))
            }
            Value::Object(members) => {
                members.values().try_for_each(|member| self.descend_value(member, results))
            }
            _ => Ok(()),
        })?;
        self.budget.leave();
        Ok(())
    }
}
