use std::rc::Rc;
use std::sync::Arc;

use super::take;
use crate::error::{Failure, Outcome, fail};
use crate::eval::{Evaluator, Found, Matcher};
use crate::frame::Scope;
use crate::function::{Arguments, Function};
use crate::item::{Item, Record};
use crate::js;

/// How often at most; a negative number is an error.
fn limit(item: Option<Item>, code: &'static str, place: &str) -> Outcome<f64> {
    match item.as_ref().and_then(Item::as_f64) {
        None => Ok(f64::INFINITY),
        Some(limit) if limit >= 0.0 => Ok(limit),
        Some(limit) => {
            let message = format!("the {place} argument must not be negative");
            let mut failure = fail(code, message);
            failure.value = Item::number(limit).into_value();
            Err(failure)
        }
    }
}

pub(super) fn contains(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [item, token] = take(arguments);
    let (Some(text), Some(token)) = (item.as_ref().and_then(Item::as_str), &token) else {
        return Ok(None);
    };
    evaluator.budget.steps(text.len() / 64)?;
    if let Some(token) = token.as_str() {
        return Ok(Some(Item::bool(text.contains(&**token))));
    }
    let Some(function) = token.as_function() else { return Ok(None) };
    let found = match Matcher::of(function) {
        Matcher::Regex(regex) => regex.is_match(text)?,
        matcher @ Matcher::Function(_) => evaluator.first_match(&matcher, text, scope)?.is_some(),
    };
    Ok(Some(Item::bool(found)))
}

/// Calls `visit` with every match until it has been called `limit` times; false if there is none.
fn each_match(
    evaluator: &mut Evaluator<'_>,
    function: &Rc<Function>,
    text: &Arc<str>,
    limit: f64,
    scope: &Scope,
    mut visit: impl FnMut(&mut Evaluator<'_>, &Found) -> Outcome<()>,
) -> Outcome<usize> {
    let matcher = Matcher::of(function);
    let mut count = 0;
    let mut found = evaluator.first_match(&matcher, text, scope)?;
    while let Some(current) = found
        && (count as f64) < limit
    {
        visit(evaluator, &current)?;
        count += 1;
        found = evaluator.next_match(&matcher, text, &current, scope)?;
    }
    Ok(count)
}

pub(super) fn match_all(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [item, function, most] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    let most = limit(most, "D3040", "third")?;
    let mut results = Vec::new();
    if let Some(function) = function.as_ref().and_then(Item::as_function)
        && most > 0.0
    {
        each_match(evaluator, function, text, most, scope, |evaluator, found| {
            let mut record = Record::default();
            if let Some(text) = &found.text {
                record.0.insert("match".into(), text.clone());
            }
            record.0.insert("index".into(), Item::count(found.start));
            record.0.insert("groups".into(), Item::array(found.groups.clone()));
            evaluator.budget.allocate(256)?;
            evaluator.push(&mut results, Item::object(record))
        })?;
    }
    Ok(Some(Item::sequence(results)))
}

fn add<'t>(
    evaluator: &mut Evaluator<'_>,
    parts: &mut Vec<Item>,
    texts: impl Iterator<Item = &'t str>,
) -> Outcome<()> {
    for text in texts {
        let part = evaluator.string(text)?;
        evaluator.push(parts, part)?;
    }
    Ok(())
}

pub(super) fn split(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [item, separator, most] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    let most = limit(most, "D3020", "third")?;
    let mut parts = Vec::new();
    if most <= 0.0 {
        return Ok(Some(Item::array(parts)));
    }
    let Some(function) = separator.as_ref().and_then(Item::as_function) else {
        // JavaScript takes the limit as a 32-bit integer.
        let most = if most.is_finite() { most.trunc().rem_euclid(4_294_967_296.0) } else { most };
        match separator.as_ref().and_then(Item::as_str) {
            None if most >= 1.0 => parts.push(Item::Value(text.clone().into())),
            None => {}
            Some(separator) if separator.is_empty() => {
                for c in text.chars().take(most.min(1e15) as usize) {
                    let part = evaluator.string(c.to_string())?;
                    evaluator.push(&mut parts, part)?;
                }
            }
            Some(separator) => {
                let most = most.min(1e15) as usize;
                let mut characters = separator.chars();
                // A single character is found faster than a text.
                match (characters.next(), characters.next()) {
                    (Some(one), None) => add(evaluator, &mut parts, text.split(one).take(most))?,
                    _ => add(evaluator, &mut parts, text.split(&**separator).take(most))?,
                }
            }
        }
        return Ok(Some(Item::array(parts)));
    };
    let mut cut = Cut::new(text);
    let count = each_match(evaluator, function, text, most, scope, |evaluator, found| {
        let part = cut.up_to(found.start, found.end);
        let part = evaluator.string(part)?;
        evaluator.push(&mut parts, part)
    })?;
    if (count as f64) < most {
        let rest = evaluator.string(cut.rest())?;
        evaluator.push(&mut parts, rest)?;
    }
    Ok(Some(Item::array(parts)))
}

/// A text that is cut from left to right at places given in UTF-16 code units.
struct Cut<'t> {
    rest: &'t str,
    /// How many units have been cut off.
    passed: usize,
}

impl<'t> Cut<'t> {
    fn new(text: &'t str) -> Self {
        Self { rest: text, passed: 0 }
    }

    /// What lies before `start`; the text goes on at `end`.
    fn up_to(&mut self, start: usize, end: usize) -> &'t str {
        let before = js::text::byte_of_utf16(self.rest, start.saturating_sub(self.passed));
        let part = &self.rest[..before];
        let after = js::text::byte_of_utf16(self.rest, end.saturating_sub(self.passed));
        self.rest = &self.rest[after.max(before)..];
        self.passed = self.passed.max(end);
        part
    }

    fn rest(&self) -> &'t str {
        self.rest
    }
}

pub(super) fn replace(
    evaluator: &mut Evaluator<'_>,
    arguments: Arguments,
    _: Option<&Item>,
    scope: &Scope,
) -> Outcome<Option<Item>> {
    let [item, pattern, replacement, most] = take(arguments);
    let Some(text) = item.as_ref().and_then(Item::as_str) else { return Ok(None) };
    let pattern_text = pattern.as_ref().and_then(Item::as_str);
    if pattern_text.is_some_and(|pattern| pattern.is_empty()) {
        return Err(fail("D3010", "the second argument must not be an empty string"));
    }
    let most = limit(most, "D3011", "fourth")?;
    if most <= 0.0 {
        return Ok(item);
    }
    let mut out = String::new();
    if let Some(pattern) = pattern_text {
        // A missing replacement is the text `undefined` in the reference.
        let missing = Arc::from("undefined");
        let replacement = match &replacement {
            None => &missing,
            Some(item) => match item.as_str() {
                Some(replacement) => replacement,
                None if !text.contains(&**pattern) => return Ok(Some(Item::string(text.clone()))),
                None => return Err(not_a_string(replacement)),
            },
        };
        let mut rest: &str = text;
        let mut count = 0.0;
        while count < most
            && let Some(place) = rest.find(&**pattern)
        {
            evaluator.budget.step()?;
            evaluator.budget.allocate(place + replacement.len())?;
            out.push_str(&rest[..place]);
            out.push_str(replacement);
            rest = &rest[place + pattern.len()..];
            count += 1.0;
        }
        out.push_str(rest);
        return evaluator.string(out).map(Some);
    }
    let Some(function) = pattern.as_ref().and_then(Item::as_function) else { return Ok(item) };
    let mut cut = Cut::new(text);
    let count = each_match(evaluator, function, text, most, scope, |evaluator, found| {
        let matched = found.text.as_ref().and_then(Item::as_str).map_or("", |text| &**text);
        let end = found.start + js::text::utf16_len(matched);
        let before = cut.up_to(found.start, end);
        let length_before = out.len();
        out.push_str(before);
        match &replacement {
            Some(Item::Function(function)) => {
                let argument = match_argument(found);
                let with = evaluator.call_back(function, [Some(argument)], scope)?;
                match with.as_ref().and_then(Item::as_str) {
                    Some(with) => out.push_str(with),
                    None => return Err(not_a_string(with)),
                }
            }
            replacement => {
                let template = replacement.as_ref().and_then(Item::as_str);
                substitute(template.map_or("", |text| &**text), found, matched, &mut out);
            }
        }
        evaluator.budget.allocate(out.len() - length_before)
    })?;
    if count == 0 {
        return Ok(item);
    }
    out.push_str(cut.rest());
    evaluator.string(out).map(Some)
}

/// The match that a replacing function sees.
fn match_argument(found: &Found) -> Item {
    let mut record = Record::default();
    record.0.insert("match".into(), found.text.clone().unwrap_or(Item::Hole));
    record.0.insert("start".into(), Item::count(found.start));
    record.0.insert("end".into(), Item::count(found.end));
    record.0.insert("groups".into(), Item::array(found.groups.clone()));
    Item::object(record)
}

fn not_a_string(value: Option<Item>) -> Failure {
    let mut failure = fail("D3012", "what a match is replaced with must be a string");
    failure.value = value.and_then(Item::into_value);
    failure
}

/// Fills `$0`, `$1` and so on into a replacement; `$$` is a dollar.
fn substitute(template: &str, found: &Found, matched: &str, out: &mut String) {
    let groups = &found.groups;
    // No more digits belong to a reference than the number of groups has.
    let most_digits = groups.len().max(1).to_string().len();
    let mut rest = template;
    while let Some(place) = rest.find('$') {
        out.push_str(&rest[..place]);
        rest = &rest[place + 1..];
        if let Some(after) = rest.strip_prefix('$') {
            out.push('$');
            rest = after;
            continue;
        }
        if let Some(after) = rest.strip_prefix('0') {
            out.push_str(matched);
            rest = after;
            continue;
        }
        let digits = rest.bytes().take(most_digits).take_while(u8::is_ascii_digit).count();
        let mut number = rest[..digits].parse::<usize>().ok();
        if most_digits > 1 && number.is_some_and(|number| number > groups.len()) {
            number = rest[..digits.min(most_digits - 1)].parse().ok();
        }
        match number {
            None => out.push('$'),
            Some(number) => {
                let group = number.checked_sub(1).and_then(|index| groups.get(index));
                if let Some(text) = group.and_then(Item::as_str) {
                    out.push_str(text);
                }
                rest = &rest[number.to_string().len().min(rest.len())..];
            }
        }
    }
    out.push_str(rest);
}
