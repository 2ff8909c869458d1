//! A node gets another name, and everything that names it follows.

use mcpgraph_config::model::Version;
use mcpgraph_expr::{JsonLogic, Jsonata, Read, Reads};
use mcpgraph_value::{Map, Value};

/// The definition of a tool or a workflow in which the node `from` is called `to`: in edges, and in
/// expressions that can be read. Names that an expression computes stay as they are.
pub fn rename_node(definition: &Value, version: Version, from: &str, to: &str) -> Value {
    let renaming = Renaming { from, to, dollar_texts: version == Version::One };
    let definition = member(definition, "nodes", |nodes| renaming.nodes(nodes));
    member(&definition, "edges", |edges| {
        each_item(edges, |edge| {
            let edge = member(edge, "source", |name| renaming.name(name));
            member(&edge, "target", |name| renaming.name(name))
        })
    })
}

struct Renaming<'a> {
    from: &'a str,
    to: &'a str,
    /// Whether text that starts with `$` is an expression.
    dollar_texts: bool,
}

impl Renaming<'_> {
    fn nodes(&self, nodes: &Value) -> Value {
        each_item(nodes, |node| self.node(node))
    }

    fn node(&self, node: &Value) -> Value {
        let Value::Object(members) = node else { return node.clone() };
        let renamed = members.iter().map(|(key, value)| {
            let value = match &**key {
                "id" | "onError" | "onDecline" | "onTimeout" => self.name(value),
                // A node of a workflow may lead to several.
                "next" => match value {
                    Value::Array(_) => each_item(value, |name| self.name(name)),
                    _ => self.name(value),
                },
                "conditions" => each_item(value, |condition| {
                    let condition = member(condition, "target", |name| self.name(name));
                    let condition = member(&condition, "next", |name| self.name(name));
                    member(&condition, "rule", |rule| self.rule(rule))
                }),
                // Where editors keep what a node of a workflow does.
                "data" => self.node(value),
                "transform" => member(value, "expr", |text| self.expression(text)),
                "items" => match value {
                    Value::String(_) => self.expression(value),
                    _ => member(value, "expr", |text| self.expression(text)),
                },
                "args" | "message" => self.arguments(value),
                "body" => self.nodes(value),
                "branches" => each_member(value, |branch| self.nodes(branch)),
                _ => value.clone(),
            };
            (key.clone(), value)
        });
        Value::object(renamed.collect::<Map>())
    }

    fn name(&self, value: &Value) -> Value {
        if value.as_str() == Some(self.from) { self.to.into() } else { value.clone() }
    }

    fn arguments(&self, value: &Value) -> Value {
        match value {
            Value::String(text) if self.dollar_texts && text.starts_with('$') => {
                self.expression(value)
            }
            Value::Object(members) if members.len() == 1 && members.get("expr").is_some() => {
                member(value, "expr", |text| self.expression(text))
            }
            Value::Object(_) => each_member(value, |member| self.arguments(member)),
            Value::Array(_) => each_item(value, |item| self.arguments(item)),
            _ => value.clone(),
        }
    }

    fn expression(&self, value: &Value) -> Value {
        let Some(text) = value.as_str() else { return value.clone() };
        match Jsonata::compile(text) {
            Ok(expression) => self.text(text, all(expression.reads())).into(),
            Err(_) => value.clone(),
        }
    }

    fn rule(&self, rule: &Value) -> Value {
        let Ok(compiled) = JsonLogic::compile(rule) else { return rule.clone() };
        let reads: Vec<&Read> = all(compiled.reads()).collect();
        self.texts_of(rule, &mut String::new(), &reads)
    }

    /// A part of a rule, which stands at `pointer` in it.
    fn texts_of(&self, part: &Value, pointer: &mut String, reads: &[&Read]) -> Value {
        let inside = |token: &str, part: &Value, pointer: &mut String| {
            let length = pointer.len();
            pointer.push('/');
            pointer.push_str(&token.replace('~', "~0").replace('/', "~1"));
            let part = self.texts_of(part, pointer, reads);
            pointer.truncate(length);
            part
        };
        match part {
            Value::String(text) => {
                let here = |read: &&Read| read.pointer.as_deref().unwrap_or_default() == pointer;
                self.text(text, reads.iter().copied().filter(here)).into()
            }
            Value::Array(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(index, item)| inside(&index.to_string(), item, pointer))
                    .collect::<Vec<_>>()
                    .into()
            }
            Value::Object(members) => members
                .iter()
                .map(|(key, member)| (key.clone(), inside(key, member, pointer)))
                .collect::<Map>()
                .into(),
            other => other.clone(),
        }
    }

    /// The text of an expression, with the new name in every place where it reads the old one.
    fn text<'r>(&self, text: &str, reads: impl Iterator<Item = &'r Read>) -> String {
        let named =
            reads.filter(|read| read.names.first().is_some_and(|name| **name == *self.from));
        let mut spans: Vec<_> = named.filter_map(|read| read.span.clone()).collect();
        spans.sort_by_key(|span| span.start);
        spans.dedup();
        let mut renamed = text.to_owned();
        for span in spans.into_iter().rev() {
            let Some(old) = text.get(span.clone()) else { continue };
            let new = match old.chars().next() {
                Some(quote @ ('"' | '\'')) => format!("{quote}{}{quote}", self.to),
                _ if is_plain(self.to) => self.to.to_owned(),
                _ => format!("`{}`", self.to),
            };
            renamed.replace_range(span, &new);
        }
        renamed
    }
}

fn all(reads: &Reads) -> impl Iterator<Item = &Read> {
    reads.paths.iter().chain(&reads.history)
}

/// Whether JSONata reads the name without quotes.
fn is_plain(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The object with another value of one of its members.
fn member(object: &Value, key: &str, change: impl FnOnce(&Value) -> Value) -> Value {
    let (Some(members), Some(old)) = (object.as_object(), object.get(key)) else {
        return object.clone();
    };
    let mut changed: Map = (**members).clone();
    changed.insert(key, change(old));
    changed.into()
}

fn each_item(list: &Value, change: impl Fn(&Value) -> Value) -> Value {
    match list {
        Value::Array(items) => items.iter().map(change).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

fn each_member(object: &Value, change: impl Fn(&Value) -> Value) -> Value {
    match object {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), change(member)))
            .collect::<Map>()
            .into(),
        other => other.clone(),
    }
}
