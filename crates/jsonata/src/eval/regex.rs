use std::rc::Rc;
use std::sync::Arc;

use mcpgraph_value::Value;

use super::Evaluator;
use crate::compare::js_truth;
use crate::error::{Outcome, fail};
use crate::frame::Scope;
use crate::function::{Arguments, Function};
use crate::item::{Item, Items, Record};
use crate::js;
use crate::regex::{Match, Regex};
use crate::stack;

/// What `$match`, `$replace` and their kin search with: a regular expression, or a function that
/// behaves like one.
pub(crate) enum Matcher {
    Regex(Arc<Regex>),
    Function(Rc<Function>),
}

/// One match, with places in UTF-16 code units, as expressions see them.
pub(crate) struct Found {
    pub(crate) text: Option<Item>,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) groups: Vec<Item>,
    /// The match as a value, if it came from a function.
    item: Option<Item>,
    /// Where a regular expression goes on.
    next: Place,
}

/// A place in a text, counted in both ways, so that neither has to be counted again.
#[derive(Clone, Copy, Default)]
pub(crate) struct Place {
    byte: usize,
    /// In UTF-16 code units.
    unit: usize,
}

impl Place {
    /// The place at a byte further on.
    fn advanced(self, text: &str, byte: usize) -> Self {
        Self { byte, unit: self.unit + js::text::utf16_len(&text[self.byte..byte]) }
    }
}

impl Matcher {
    pub(crate) fn of(function: &Rc<Function>) -> Self {
        match &**function {
            Function::Matcher(regex) => Self::Regex(regex.clone()),
            _ => Self::Function(function.clone()),
        }
    }
}

impl Evaluator<'_> {
    /// The first match in `text`.
    pub(crate) fn first_match(
        &mut self,
        matcher: &Matcher,
        text: &Arc<str>,
        scope: &Scope,
    ) -> Outcome<Option<Found>> {
        match matcher {
            Matcher::Regex(regex) => self.search(regex, text, Place::default(), false),
            Matcher::Function(function) => {
                let arguments = [Some(Item::Value(text.clone().into()))];
                let found = self.call_back(function, arguments, scope)?;
                read_match(found)
            }
        }
    }

    /// The match after `previous`.
    pub(crate) fn next_match(
        &mut self,
        matcher: &Matcher,
        text: &Arc<str>,
        previous: &Found,
        scope: &Scope,
    ) -> Outcome<Option<Found>> {
        match matcher {
            Matcher::Regex(regex) => self.search(regex, text, previous.next, true),
            Matcher::Function(_) => {
                let next = previous
                    .item
                    .as_ref()
                    .and_then(Item::members)
                    .and_then(|members| members.get("next"));
                let Some(Item::Function(next)) = next else {
                    return Err(not_a_matcher());
                };
                let found = self.call_back(&next, [], scope)?;
                read_match(found)
            }
        }
    }

    fn search(
        &mut self,
        regex: &Regex,
        text: &Arc<str>,
        from: Place,
        is_next: bool,
    ) -> Outcome<Option<Found>> {
        let Some(found) = self.find(regex, text, from.byte, is_next)? else { return Ok(None) };
        let start = from.advanced(text, found.range.start);
        let end = start.advanced(text, found.range.end);
        let matched = self.string(&text[found.range.clone()])?;
        let groups = self.groups(&found, text)?;
        Ok(Some(Found {
            start: start.unit,
            end: end.unit,
            text: Some(matched),
            groups,
            item: None,
            next: end,
        }))
    }

    fn find(
        &mut self,
        regex: &Regex,
        text: &str,
        from: usize,
        is_next: bool,
    ) -> Outcome<Option<Match>> {
        self.budget.step()?;
        if is_next && from >= text.len() {
            return Ok(None);
        }
        let found = regex.find(text, from)?;
        if is_next && found.as_ref().is_some_and(|found| found.range.is_empty()) {
            let message = format!("the regular expression /{}/ matches nothing", regex.source());
            return Err(fail("D1004", message));
        }
        Ok(found)
    }

    fn groups(&mut self, found: &Match, text: &str) -> Outcome<Vec<Item>> {
        let mut groups = Vec::with_capacity(found.groups.len());
        for group in &found.groups {
            groups.push(match group {
                Some(range) => self.string(&text[range.clone()])?,
                None => Item::Hole,
            });
        }
        Ok(groups)
    }

    /// A regular expression called as a function.
    pub(super) fn call_matcher(
        &mut self,
        regex: &Arc<Regex>,
        arguments: Arguments,
    ) -> Outcome<Option<Item>> {
        let mut arguments = arguments.into_iter();
        let text = match arguments.next().flatten() {
            Some(Item::Value(Value::String(text))) => text,
            subject => self.js_string(subject.as_ref())?.into(),
        };
        let from = match arguments.next().flatten().and_then(|from| from.as_f64()) {
            Some(from) if from > 0.0 => {
                let byte = js::text::byte_of_utf16(&text, from as usize);
                Place::default().advanced(&text, byte)
            }
            _ => Place::default(),
        };
        self.match_item(regex, &text, from, false)
    }

    /// Any value as the text JavaScript makes of it.
    fn js_string(&mut self, item: Option<&Item>) -> Outcome<String> {
        let Some(item) = item else { return Ok("undefined".to_owned()) };
        if let Some(number) = item.as_f64() {
            return Ok(js::number::to_string(number));
        }
        if let Some(items) = item.items() {
            self.budget.enter()?;
            let mut parts = Vec::with_capacity(items.len());
            for item in items.iter() {
                parts.push(match item {
                    Item::Hole | Item::Value(Value::Null) => String::new(),
                    item => stack::grow(|| self.js_string(Some(&item)))?,
                });
            }
            self.budget.leave();
            return Ok(parts.join(","));
        }
        if item.members().is_some() {
            return Ok("[object Object]".to_owned());
        }
        crate::json::to_text(item, false, &mut self.budget)
    }

    /// A match as the object an expression sees.
    pub(super) fn match_item(
        &mut self,
        regex: &Arc<Regex>,
        text: &Arc<str>,
        from: Place,
        is_next: bool,
    ) -> Outcome<Option<Item>> {
        let Some(found) = self.search(regex, text, from, is_next)? else { return Ok(None) };
        let next =
            Function::NextMatch { regex: regex.clone(), text: text.clone(), from: found.next };
        let mut record = Record::default();
        record.0.insert("match".into(), found.text.unwrap_or(Item::Hole));
        record.0.insert("start".into(), Item::count(found.start));
        record.0.insert("end".into(), Item::count(found.end));
        record.0.insert("groups".into(), Item::array(found.groups));
        record.0.insert("next".into(), Item::function(next));
        Ok(Some(Item::object(record)))
    }
}

/// Reads what a function returned as a match.
fn read_match(item: Option<Item>) -> Outcome<Option<Found>> {
    let Some(item) = item else { return Ok(None) };
    // What JavaScript takes for false is not looked at, and counts as a match.
    let is_false = !js_truth(Some(&item));
    let members = match item.members() {
        Some(members) => members,
        None if is_false => {
            let groups = Vec::new();
            let item = Some(item);
            return Ok(Some(Found {
                text: None,
                start: 0,
                end: 0,
                groups,
                item,
                next: Place::default(),
            }));
        }
        None => return Err(not_a_matcher()),
    };
    let place = |key: &str| {
        members.get(key).and_then(|item| item.as_f64()).map(|number| number.max(0.0) as usize)
    };
    let groups = members.get("groups");
    let next_is_function = members.get("next").is_some_and(|next| next.is_function());
    if place("start").is_none() && !groups.as_ref().is_some_and(Item::is_array) && !next_is_function
    {
        return Err(not_a_matcher());
    }
    Ok(Some(Found {
        text: members.get("match"),
        start: place("start").unwrap_or(0),
        end: place("end").unwrap_or(0),
        groups: groups.as_ref().and_then(Item::items).map(Items::to_vec).unwrap_or_default(),
        next: Place::default(),
        item: Some(item),
    }))
}

fn not_a_matcher() -> crate::error::Failure {
    fail("T1010", "the function used as a matcher does not return a match")
}
