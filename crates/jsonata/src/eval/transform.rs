use std::collections::HashMap;

use mcpgraph_value::{Map, Object, Value};

use super::Evaluator;
use crate::error::{Failure, Outcome, fail, place};
use crate::frame::{Lookup, Scope};
use crate::function::{Arguments, Function};
use crate::item::Item;
use crate::js;
use crate::json::out_of_range;
use crate::plan::{Node, TransformPlan};
use crate::stack;

/// The new members of objects, by the place in memory of the old ones.
type Changes = HashMap<*const Map, Map>;

impl Evaluator<'_> {
    /// A copy of the input in which the objects that the pattern selects are changed.
    pub(super) fn transform(
        &mut self,
        plan: &TransformPlan,
        input: Option<Item>,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let arguments = self.validate(transform_signature(), vec![input], context)?;
        let Some(input) = arguments.into_iter().next().flatten() else { return Ok(None) };
        let copy = Item::Value(match overridden_clone(plan, scope)? {
            None => self.deep_copy(&input)?,
            Some(function) => {
                let arguments: Arguments = vec![Some(input)];
                let copied = self.apply(&function, arguments, Some(&Item::null()), scope)?;
                match copied.and_then(Item::into_value) {
                    Some(copied) => self.deep_copy(&Item::Value(copied))?,
                    None => return Ok(None),
                }
            }
        });
        let matches = self.eval(&plan.pattern, Some(&copy), scope)?;
        let matches = match &matches {
            None => Vec::new(),
            Some(item) => match item.items() {
                Some(items) => items.to_vec(),
                None => vec![item.clone()],
            },
        };
        let mut changes = Changes::new();
        for found in &matches {
            let Item::Value(Value::Object(object)) = found else { continue };
            self.change(plan, object, &mut changes, scope)?;
        }
        let Item::Value(copy) = copy else { return Ok(None) };
        self.rebuild(&copy, &changes).map(|value| Some(Item::Value(value)))
    }

    /// Computes the new members of one object.
    fn change(
        &mut self,
        plan: &TransformPlan,
        object: &Object,
        changes: &mut Changes,
        scope: &Scope,
    ) -> Outcome<()> {
        let key: *const Map = &raw const **object;
        // What has been changed inside it already is seen by what is computed from it.
        let current = self.rebuild(&Value::Object(object.clone()), changes)?;
        let current = Item::Value(current);
        let mut members = changes.get(&key).unwrap_or(object).clone();
        if let Some(update) = self.eval(&plan.update, Some(&current), scope)? {
            let Some(entries) = update.members() else {
                let message = "the update of a transform must be an object";
                return Err(failed("T2011", message, update, &plan.update));
            };
            for (key, item) in entries.entries() {
                self.budget.step()?;
                if let Some(value) = item.into_value() {
                    members.insert(key, value);
                }
            }
        }
        if let Some(delete) = &plan.delete {
            // The reference has made the update by then.
            changes.insert(key, members.clone());
            let current = Item::Value(self.rebuild(&Value::Object(object.clone()), changes)?);
            if let Some(names) = self.eval(delete, Some(&current), scope)? {
                for name in names_to_delete(&names).ok_or_else(|| {
                    let message =
                        "what a transform deletes must be a string or an array of strings";
                    failed("T2012", message, names.clone(), delete)
                })? {
                    members.remove(&name);
                }
            }
        }
        changes.insert(key, members);
        Ok(())
    }

    /// A copy that shares no object with the original, so that each can be told by its place.
    pub(crate) fn deep_copy(&mut self, item: &Item) -> Outcome<Value> {
        self.budget.enter()?;
        let copy = stack::grow(|| self.deep_copy_here(item));
        self.budget.leave();
        copy
    }

    fn deep_copy_here(&mut self, item: &Item) -> Outcome<Value> {
        self.budget.allocate(size_of::<Value>())?;
        if let Some(members) = item.members() {
            let mut map = Map::with_capacity(members.len());
            for (key, member) in members.entries() {
                map.insert(key, self.deep_copy(&member)?);
            }
            return Ok(Value::object(map));
        }
        if let Some(items) = item.items() {
            let mut copies = Vec::with_capacity(items.len());
            for item in items.iter() {
                copies.push(self.deep_copy(&item)?);
            }
            return Ok(Value::array(copies));
        }
        Ok(match item {
            Item::Value(Value::Number(number)) if number.as_f64().is_infinite() => {
                return Err(out_of_range(number.as_f64()));
            }
            // The reference copies by way of text, which rounds.
            Item::Value(Value::Number(number)) if number.as_f64().fract() != 0.0 => {
                Value::from(js::number::to_fifteen_digits(number.as_f64()))
            }
            Item::Value(value) => value.clone(),
            Item::Irregular(number) if number.is_infinite() => return Err(out_of_range(*number)),
            Item::Function(_) => Value::string(""),
            _ => Value::Null,
        })
    }

    /// The value with all changes in place; what has none is shared.
    fn rebuild(&mut self, value: &Value, changes: &Changes) -> Outcome<Value> {
        if changes.is_empty() {
            return Ok(value.clone());
        }
        self.budget.enter()?;
        let rebuilt = stack::grow(|| self.rebuild_here(value, changes));
        self.budget.leave();
        rebuilt
    }

    fn rebuild_here(&mut self, value: &Value, changes: &Changes) -> Outcome<Value> {
        match value {
            Value::Array(items) => {
                let mut rebuilt = Vec::with_capacity(items.len());
                for item in items.iter() {
                    rebuilt.push(self.rebuild(item, changes)?);
                }
                self.budget.allocate(rebuilt.len() * size_of::<Value>())?;
                Ok(Value::array(rebuilt))
            }
            Value::Object(object) => {
                let key: *const Map = &raw const **object;
                let members = changes.get(&key).unwrap_or(object);
                let mut rebuilt = Map::with_capacity(members.len());
                for (key, member) in members.iter() {
                    self.budget.allocate(size_of::<Value>() * 2)?;
                    rebuilt.insert(key.clone(), self.rebuild(member, changes)?);
                }
                Ok(Value::object(rebuilt))
            }
            value => Ok(value.clone()),
        }
    }
}

/// The function that a scope has put in the place of `$clone`, if one has.
fn overridden_clone(plan: &TransformPlan, scope: &Scope) -> Outcome<Option<std::rc::Rc<Function>>> {
    match scope.lookup("clone") {
        Lookup::Unbound => Ok(None),
        Lookup::Bound(Some(Item::Function(function))) => Ok(Some(function)),
        Lookup::Bound(_) => {
            let message = "a transform copies its input with `$clone`, which is not a function \
                           here";
            let mut failure = fail("T2013", message);
            place(&mut failure, plan.token, plan.token);
            Err(failure)
        }
    }
}

fn names_to_delete(names: &Item) -> Option<Vec<std::sync::Arc<str>>> {
    match names.items() {
        Some(items) => items.iter().map(|name| name.as_str().cloned()).collect(),
        None => names.as_str().map(|name| vec![name.clone()]),
    }
}

fn transform_signature() -> &'static crate::signature::Signature {
    use std::sync::LazyLock;
    static SIGNATURE: LazyLock<crate::signature::Signature> =
        LazyLock::new(|| crate::signature::Signature::fixed("<(oa):o>"));
    &SIGNATURE
}

fn failed(code: &'static str, message: &str, value: Item, node: &Node) -> Failure {
    let mut failure = fail(code, message);
    failure.value = value.into_value();
    failure.position = node.position();
    failure.span = Some(node.span);
    failure
}
