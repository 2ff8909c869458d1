//! Values as YAML, by the habits of a file.

use std::sync::Arc;

use mcpgraph_value::{Map, Value};

use super::scalar::{self, Context};
use super::style::{Habits, Shape, item_role};

/// Lines of broken flow style are kept within this many columns.
const FLOW_WIDTH: usize = 80;

/// A value as text: what goes behind the key or dash, and the lines below, each with its line
/// break in front.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Emitted {
    pub(super) inline: String,
    pub(super) below: String,
}

/// What a value belongs to, with the column at which that begins.
#[derive(Clone, Copy)]
pub(super) enum Owner {
    Key(usize),
    Dash(usize),
}

pub(super) struct Emitter<'h> {
    habits: &'h Habits,
}

impl<'h> Emitter<'h> {
    pub(super) fn new(habits: &'h Habits) -> Self {
        Self { habits }
    }

    /// A value in block style; `role` names the place, usually by the key.
    pub(super) fn value(&self, value: &Value, role: &str, owner: Owner) -> Emitted {
        let inline = |inline| Emitted { inline, below: String::new() };
        match value {
            Value::String(text) => self.text(text, role, owner),
            Value::Array(items) if !self.is_flow(value, role, owner) => {
                self.list(items, role, owner)
            }
            Value::Object(members) if !self.is_flow(value, role, owner) => self.map(members, owner),
            _ => inline(self.flow(value, role)),
        }
    }

    /// A member of a block mapping whose keys begin at `column`.
    pub(super) fn member(&self, key: &str, value: &Value, column: usize) -> String {
        let Emitted { inline, below } = self.value(value, key, Owner::Key(column));
        let space = if inline.is_empty() { "" } else { " " };
        format!("{}:{space}{inline}{below}", self.key(key, Context::Block))
    }

    /// An item of a block list whose dashes are at `column`.
    pub(super) fn item(&self, value: &Value, role: &str, column: usize) -> String {
        let Emitted { inline, below } = self.value(value, &item_role(role), Owner::Dash(column));
        let spaces = " ".repeat(self.habits.item.saturating_sub(1).max(1));
        format!("-{spaces}{inline}{below}")
    }

    /// A member of a flow mapping that begins at `column`.
    pub(super) fn flow_member(&self, key: &str, value: &Value, column: usize) -> String {
        format!("{}: {}", self.key(key, Context::Flow), self.flow_at(value, key, column))
    }

    /// A value in flow style; on several lines if the file's flow style is.
    pub(super) fn flow_at(&self, value: &Value, role: &str, column: usize) -> String {
        let one_line = self.flow(value, role);
        let simple = match value {
            Value::Array(items) => !items.iter().any(is_collection),
            Value::Object(members) => {
                members.is_empty() || !self.habits.json && !members.values().any(is_collection)
            }
            _ => true,
        };
        let fits = simple && column + one_line.len() <= FLOW_WIDTH;
        if !self.habits.flow_is_broken || fits || !is_collection(value) {
            return one_line;
        }
        let inner = column + self.habits.step;
        let role = item_role(role);
        let (open, parts, close): (_, Vec<String>, _) = match value {
            Value::Array(items) => {
                let items = items.iter().map(|item| self.flow_at(item, &role, inner));
                ('[', items.collect(), ']')
            }
            Value::Object(members) => {
                let members =
                    members.iter().map(|(key, value)| self.flow_member(key, value, inner));
                ('{', members.collect(), '}')
            }
            _ => return one_line,
        };
        let line = self.line(inner);
        let parts = parts.join(&format!(",{line}"));
        format!("{open}{line}{parts}{}{close}", self.line(column))
    }

    /// A value on one line.
    fn flow(&self, value: &Value, role: &str) -> String {
        match value {
            Value::String(text) => self.inline_text(text, role, Context::Flow),
            Value::Array(items) => {
                let role = item_role(role);
                let items: Vec<_> = items.iter().map(|item| self.flow(item, &role)).collect();
                let space = self.habits.spaced_brackets && !items.is_empty();
                let space = if space { " " } else { "" };
                format!("[{space}{}{space}]", items.join(", "))
            }
            Value::Object(members) => {
                let member = |(key, value): (&Arc<str>, &Value)| {
                    format!("{}: {}", self.key(key, Context::Flow), self.flow(value, key))
                };
                let members: Vec<_> = members.iter().map(member).collect();
                let space = self.habits.spaced_braces && !members.is_empty();
                let space = if space { " " } else { "" };
                format!("{{{space}{}{space}}}", members.join(", "))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.to_json(),
        }
    }

    fn is_flow(&self, value: &Value, role: &str, owner: Owner) -> bool {
        let (shape, kind) = match value {
            Value::Array(items) => {
                let is_scalars = !items.iter().any(is_collection);
                (Shape { is_list: true, size: items.len(), is_scalars }, None)
            }
            Value::Object(members) => {
                let is_scalars = !members.values().any(is_collection);
                let kind = members.get("type").and_then(Value::as_str);
                (Shape { is_list: false, size: members.len(), is_scalars }, kind)
            }
            _ => return true,
        };
        let column = match owner {
            Owner::Key(column) => column + role.len() + 2,
            Owner::Dash(column) => column + self.habits.item,
        };
        let has_lines = || has_lines(value);
        // The text is written only to see how long it is, so the short answer comes first.
        self.habits.is_flow(role, kind, shape, 0)
            && (shape.size == 0 || !has_lines())
            && self.habits.is_flow(role, kind, shape, column + self.flow(value, role).len())
    }

    fn text(&self, text: &str, role: &str, owner: Owner) -> Emitted {
        let Some((header, lines)) = scalar::literal(text).filter(|_| !self.habits.json) else {
            let inline = self.inline_text(text, role, Context::Block);
            return Emitted { inline, below: String::new() };
        };
        let (Owner::Key(column) | Owner::Dash(column)) = owner;
        let start = self.line(column + self.habits.step);
        let mut below = String::new();
        for line in lines {
            below.push_str(if line.is_empty() { self.habits.line_break } else { &start });
            below.push_str(line);
        }
        Emitted { inline: header.to_owned(), below }
    }

    fn list(&self, items: &[Value], role: &str, owner: Owner) -> Emitted {
        let column = match owner {
            Owner::Key(column) => column + self.habits.dash,
            Owner::Dash(column) => column + self.habits.item,
        };
        let apart = self.habits.line_break.repeat(self.habits.apart(role));
        let parts = items.iter().map(|item| self.item(item, role, column));
        self.stacked(parts, &format!("{apart}{}", self.line(column)), owner)
    }

    fn map(&self, members: &Map, owner: Owner) -> Emitted {
        let column = match owner {
            Owner::Key(column) => column + self.habits.step,
            Owner::Dash(column) => column + self.habits.item,
        };
        let parts = members.iter().map(|(key, value)| self.member(key, value, column));
        self.stacked(parts, &self.line(column), owner)
    }

    /// Puts parts below each other; behind a dash the first one stays on its line.
    fn stacked(&self, parts: impl Iterator<Item = String>, between: &str, owner: Owner) -> Emitted {
        let mut emitted = Emitted::default();
        for (index, part) in parts.enumerate() {
            match (index, owner) {
                (0, Owner::Dash(_)) => {
                    // What is below the first part is below the dash.
                    emitted.inline = part;
                }
                (0, Owner::Key(_)) => {
                    let line = between.trim_start_matches(['\r', '\n']);
                    emitted.below = format!("{}{line}{part}", self.habits.line_break);
                }
                _ => emitted.below.extend([between, &part]),
            }
        }
        emitted
    }

    fn key(&self, key: &str, context: Context) -> String {
        if self.habits.json {
            return scalar::double(key);
        }
        scalar::inline(key, context, self.habits.quotes)
    }

    fn inline_text(&self, text: &str, role: &str, context: Context) -> String {
        if self.habits.json {
            return scalar::double(text);
        }
        match self.habits.always_quoted(role) {
            Some(quotes) => scalar::quoted(text, quotes),
            None => scalar::inline(text, context, self.habits.quotes),
        }
    }

    /// A line break and the spaces up to `column`.
    pub(super) fn line(&self, column: usize) -> String {
        format!("{}{}", self.habits.line_break, " ".repeat(column))
    }
}

fn is_collection(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Whether a text somewhere in it is on several lines.
fn has_lines(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim_end_matches('\n').contains('\n'),
        Value::Array(items) => items.iter().any(has_lines),
        Value::Object(members) => members.values().any(has_lines),
        _ => false,
    }
}
