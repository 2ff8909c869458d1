use std::sync::Arc;

use mcpgraph_diagnostics::Span;
use mcpgraph_value::{Map, Number, Value};

use crate::Text;

/// A value as it stands in a file: anchors and merge keys applied, every place kept.
///
/// Children are shared, so that an anchor that is used often is kept once. What an alias stands
/// for has the place of its definition.
#[derive(Clone, Debug)]
pub struct Tree {
    /// Where the value stands; for a mapping or list, from its first byte to its last.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
    /// How many values it holds, itself included, with every alias counted in full.
    pub(crate) size: usize,
    /// How deep mappings and lists nest in it; 0 for a scalar.
    pub(crate) depth: usize,
}

/// The kinds of value.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, with its digits.
    Number(Number),
    /// Text.
    String(Text),
    /// A list.
    Seq(Vec<Arc<Tree>>),
    /// A mapping, in the order of the file, without duplicate keys.
    Map(Vec<Member>),
}

/// A key and its value.
#[derive(Clone, Debug)]
pub struct Member {
    /// The key, with its place.
    pub key: Text,
    /// The value.
    pub value: Arc<Tree>,
}

impl Tree {
    pub(crate) fn new(span: Span, kind: Kind) -> Self {
        let (size, depth) = match &kind {
            Kind::Seq(items) => measure(items.iter()),
            Kind::Map(members) => measure(members.iter().map(|member| &member.value)),
            _ => (1, 0),
        };
        Self { span, kind, size, depth }
    }

    /// The member `key` of a mapping.
    pub fn get(&self, key: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.key == *key)
    }

    /// The members of a mapping; none for other values.
    pub fn members(&self) -> &[Member] {
        if let Kind::Map(members) = &self.kind { members } else { &[] }
    }

    /// The items of a list; none for other values.
    pub fn items(&self) -> &[Arc<Self>] {
        if let Kind::Seq(items) = &self.kind { items } else { &[] }
    }

    /// The text, if it is text.
    pub fn as_text(&self) -> Option<&Text> {
        if let Kind::String(text) = &self.kind { Some(text) } else { None }
    }

    /// The word for this kind of value that messages use.
    pub fn kind_name(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "text",
            Kind::Seq(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }

    /// The value without its places.
    pub fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(flag) => Value::Bool(*flag),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.to_arc()),
            Kind::Seq(items) => Value::array(items.iter().map(|item| item.to_value()).collect()),
            Kind::Map(members) => {
                let mut map = Map::with_capacity(members.len());
                for member in members {
                    map.insert(member.key.to_arc(), member.value.to_value());
                }
                Value::object(map)
            }
        }
    }

    /// The part of the tree at an RFC 6901 pointer.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |tree, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match &tree.kind {
                Kind::Map(_) => tree.get(&token).map(|member| &*member.value),
                Kind::Seq(items) => items.get(token.parse::<usize>().ok()?).map(|item| &**item),
                _ => None,
            }
        })
    }

    /// The RFC 6901 pointer to the smallest part that covers `span`; a key belongs to its value.
    ///
    /// What an alias or merge key brought in is found where it is defined.
    pub fn pointer_to(&self, span: Span) -> Option<String> {
        let mut path = String::new();
        let mut tree = self.span.contains(span).then_some(self)?;
        loop {
            let item = tree.items().iter().enumerate().find(|(_, item)| item.span.contains(span));
            let member = tree.members().iter().find(|member| member.covers(span));
            tree = match (item, member) {
                (Some((index, item)), _) => {
                    push_token(&mut path, &index.to_string());
                    item
                }
                (None, Some(member)) => {
                    push_token(&mut path, &member.key);
                    &member.value
                }
                (None, None) => return Some(path),
            };
        }
    }
}

impl Member {
    fn covers(&self, span: Span) -> bool {
        self.key.span().contains(span) || self.value.span.contains(span)
    }
}

/// Appends a key to an RFC 6901 pointer.
fn push_token(path: &mut String, key: &str) {
    path.push('/');
    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
}

fn measure<'a>(children: impl Iterator<Item = &'a Arc<Tree>>) -> (usize, usize) {
    children.fold((1, 1), |(size, depth), child| {
        (size.saturating_add(child.size), depth.max(child.depth + 1))
    })
}
