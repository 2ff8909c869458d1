use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes, suggest};

use super::problems::{Problems, quoted};
use crate::keys::{ANY_NODE, EXPRESSION, Key, Need, Shape, Table};
use crate::model::Spanned;
use crate::{Json, Kind, Member, Style, Text, Tree};

/// A mapping read by its table: every access reports what is missing or of the wrong type.
#[derive(Clone, Copy)]
pub(crate) struct Record<'t> {
    tree: &'t Arc<Tree>,
    table: &'static Table,
}

/// How many keys of a mapping are compared with one that is missing.
pub(super) const MAX_COMPARED: usize = 100;

/// Words of other programs for keys, none of which is near enough to be taken for a typo.
const SLIPS: &[(&[&str], &str)] = &[
    (&["arguments", "params", "parameters", "input", "inputs", "with"], "args"),
    (&["input", "inputs", "parameters", "arguments", "schema"], "inputSchema"),
    (&["tgt", "to", "goto", "then"], "target"),
    (&["tgt", "to", "goto", "then", "target"], "next"),
    (&["if", "when", "condition"], "rule"),
    (&["cases", "branches", "rules"], "conditions"),
    (&["expression", "jsonata"], "expr"),
    (&["over", "in", "list", "each"], "items"),
    (&["nodes", "steps", "do"], "body"),
    (&["steps"], "nodes"),
    (&["name"], "id"),
    (&["kind"], "type"),
    (&["timeout"], "timeoutMs"),
    (&["catch"], "onError"),
    (&["prompt", "question"], "message"),
    (&["environment"], "env"),
];

/// What is said about keys that are not in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Strangers {
    /// A key that looks like a typo is an error, any other a warning.
    Report,
    /// The file is shared with other programs: only what looks like a typo is warned of.
    Tolerate,
}

impl<'t> Record<'t> {
    /// Reads a mapping; none, with a diagnostic, if it is something else.
    pub(crate) fn open(
        tree: &'t Arc<Tree>,
        table: &'static Table,
        strangers: Strangers,
        problems: &mut Problems,
    ) -> Option<Self> {
        if !matches!(tree.kind, Kind::Map(_)) {
            let message =
                format!("{} needs to be a mapping, found {}", table.noun, tree.kind_name());
            problems.push(problems.error(codes::WRONG_TYPE, tree.span, message));
            return None;
        }
        let record = Self { tree, table };
        for member in tree.members() {
            record.check_known(member, strangers, problems);
        }
        Some(record)
    }

    /// Where the whole mapping stands.
    pub(crate) fn span(&self) -> Span {
        self.tree.span
    }

    /// The member, whatever it is, if it is there.
    pub(crate) fn member(&self, name: &str) -> Option<&'t Member> {
        self.tree.get(name)
    }

    /// Text, by the shapes `Text`, `Name` and `Scalar`.
    pub(crate) fn text(&self, name: &str, problems: &mut Problems) -> Option<Text> {
        let (key, tree) = self.find(name, problems)?;
        text_of(key.shape, tree, name, problems)
    }

    /// A whole number within its bounds.
    pub(crate) fn count(&self, name: &str, problems: &mut Problems) -> Option<Spanned<u64>> {
        let (key, tree) = self.find(name, problems)?;
        let Shape::Count { min, max, .. } = key.shape else { return None };
        let Kind::Number(number) = &tree.kind else {
            wrong_type(name, key.shape, tree, problems);
            return None;
        };
        match number.as_i64().and_then(|number| u64::try_from(number).ok()) {
            Some(count) if (min..=max).contains(&count) => Some(Spanned::new(count, tree.span)),
            _ => {
                let message = format!(
                    "`{name}` needs to be a whole number from {min} to {max}, not {number}"
                );
                problems.push(problems.error(codes::OUT_OF_RANGE, tree.span, message));
                None
            }
        }
    }

    /// `true` or `false`.
    pub(crate) fn flag(&self, name: &str, problems: &mut Problems) -> Option<bool> {
        let (key, tree) = self.find(name, problems)?;
        if let Kind::Bool(flag) = tree.kind {
            return Some(flag);
        }
        wrong_type(name, key.shape, tree, problems);
        None
    }

    /// One of the words of the shape `Words`.
    pub(crate) fn word(
        &self,
        name: &str,
        problems: &mut Problems,
    ) -> Option<Spanned<&'static str>> {
        let (key, tree) = self.find(name, problems)?;
        word_of(key.shape, tree, name, problems)
    }

    /// A mapping with a table of its own.
    pub(crate) fn record(&self, name: &str, problems: &mut Problems) -> Option<Record<'t>> {
        let (key, tree) = self.find(name, problems)?;
        let Shape::Record(table) = key.shape else { return None };
        if !matches!(tree.kind, Kind::Map(_)) {
            wrong_type(name, key.shape, tree, problems);
            return None;
        }
        Record::open(tree, table, Strangers::Report, problems)
    }

    /// The items of a list; nothing stands for an empty one where the list is optional.
    pub(crate) fn list(&self, name: &str, problems: &mut Problems) -> Option<&'t [Arc<Tree>]> {
        let (key, tree) = self.find(name, problems)?;
        match &tree.kind {
            Kind::Seq(items) => Some(items),
            Kind::Null if key.need == Need::Optional => None,
            _ => {
                wrong_type(name, key.shape, tree, problems);
                None
            }
        }
    }

    /// The texts of a list, each of a shape.
    pub(crate) fn texts(&self, name: &str, shape: Shape, problems: &mut Problems) -> Vec<Text> {
        let items = self.list(name, problems).unwrap_or_default();
        items.iter().filter_map(|item| text_of(shape, item, name, problems)).collect()
    }

    /// The members of a mapping with free names; nothing stands for an empty one where the mapping
    /// is optional.
    pub(crate) fn map(&self, name: &str, problems: &mut Problems) -> Option<&'t [Member]> {
        let (key, tree) = self.find(name, problems)?;
        match &tree.kind {
            Kind::Map(members) => Some(members),
            Kind::Null if key.need == Need::Optional => None,
            _ => {
                wrong_type(name, key.shape, tree, problems);
                None
            }
        }
    }

    /// A JSON value that is kept as it is, by the shapes `Any`, `AnyObject` and `AnyArray`.
    pub(crate) fn json(&self, name: &str, problems: &mut Problems) -> Option<Json> {
        let (key, tree) = self.find(name, problems)?;
        match (key.shape, &tree.kind) {
            (Shape::Any, _)
            | (Shape::AnyObject, Kind::Map(_))
            | (Shape::AnyArray, Kind::Seq(_)) => Some(Json::new(tree)),
            _ => {
                wrong_type(name, key.shape, tree, problems);
                None
            }
        }
    }

    /// The key and what stands behind it; reports a required key that is missing.
    fn find(&self, name: &str, problems: &mut Problems) -> Option<(&'static Key, &'t Arc<Tree>)> {
        let key = self.table.key(name)?;
        let member = self.tree.get(name);
        if member.is_none() && key.need == Need::Required {
            self.report_missing(name, problems);
        }
        member.map(|member| (key, &member.value))
    }

    /// Says that a key is missing, unless it is there with a typo.
    pub(crate) fn report_missing(&self, name: &str, problems: &mut Problems) {
        let Some(key) = self.table.key(name).filter(|_| !self.is_mistyped(name)) else { return };
        let message = format!("{} needs the key `{name}`", self.table.noun);
        problems.push(
            problems
                .error(codes::MISSING_KEY, self.tree.span, message)
                .hint(format!("`{name}`: {}", key.doc.trim_end_matches('.'))),
        );
    }

    /// Whether a key that is not known looks like `name`; it has been reported as such.
    pub(crate) fn is_mistyped(&self, name: &str) -> bool {
        self.tree.members().iter().take(MAX_COMPARED).any(|member| {
            self.table.key(&member.key).is_none()
                && (suggest::nearest(&member.key, [name]).is_some()
                    || self.slip(&member.key) == Some(name))
        })
    }

    /// The key that another word for it was meant to be, if that key is not there.
    fn slip(&self, name: &str) -> Option<&'static str> {
        let mut meant = SLIPS.iter().filter(|(words, _)| words.contains(&name));
        let is_meant = |key: &&str| self.table.key(key).is_some();
        let (_, key) = meant.find(|(_, key)| is_meant(key))?;
        self.tree.get(key).is_none().then_some(*key)
    }

    fn check_known(&self, member: &Member, strangers: Strangers, problems: &mut Problems) {
        let name = member.key.as_str();
        if self.table.key(name).is_some() || name.starts_with("x-") {
            return;
        }
        let span = member.key.span();
        let is_node = ["id", "type"].iter().all(|key| self.table.key(key).is_some());
        if is_node && ANY_NODE.key(name).is_some() {
            let message = format!("`{name}` has no meaning on {}", self.table.noun);
            problems.push(problems.warning(codes::UNKNOWN_KEY, span, message));
            return;
        }
        let message = format!("{} is not a known key of {}", quoted(name), self.table.noun);
        if problems.found.left_out() > 0 {
            // In a flood nobody sees the suggestions, and they take time.
            if strangers == Strangers::Report {
                problems.push(problems.warning(codes::UNKNOWN_KEY, span, message));
            }
            return;
        }
        let known =
            || self.table.keys().filter(|key| key.need != Need::Retired).map(|key| key.name);
        let slip = self.slip(name).map(|key| format!("did you mean `{key}`?"));
        match (slip.or_else(|| suggest::did_you_mean(name, known())), strangers) {
            (Some(hint), Strangers::Report) => {
                problems.push(problems.error(codes::UNKNOWN_KEY, span, message).hint(hint));
            }
            (Some(hint), Strangers::Tolerate) => {
                problems.push(problems.warning(codes::UNKNOWN_KEY, span, message).hint(hint));
            }
            (None, Strangers::Report) => {
                let names: Vec<String> = known().map(|name| format!("`{name}`")).collect();
                problems.push(problems.warning(codes::UNKNOWN_KEY, span, message).hint(format!(
                    "known are {}; keys that start with `x-` are left alone",
                    names.join(", ")
                )));
            }
            (None, Strangers::Tolerate) => {}
        }
    }
}

/// Text, by the shapes `Text`, `Name` and `Scalar`.
pub(crate) fn text_of(
    shape: Shape,
    tree: &Tree,
    name: &str,
    problems: &mut Problems,
) -> Option<Text> {
    match (shape, &tree.kind) {
        (Shape::Name, Kind::String(text)) if text.is_empty() => {
            let message = format!("`{name}` needs text that is not empty");
            problems.push(problems.error(codes::OUT_OF_RANGE, tree.span, message));
            None
        }
        (_, Kind::String(text)) => Some(text.clone()),
        (Shape::Scalar, Kind::Number(_) | Kind::Bool(_)) => {
            let written = problems.source().slice(tree.span);
            Some(Text::new(written, tree.span, Style::Plain))
        }
        _ => {
            wrong_type(name, shape, tree, problems);
            None
        }
    }
}

/// One of the words of the shape `Words`.
pub(crate) fn word_of(
    shape: Shape,
    tree: &Tree,
    name: &str,
    problems: &mut Problems,
) -> Option<Spanned<&'static str>> {
    let Shape::Words(words) = shape else { return None };
    let Kind::String(text) = &tree.kind else {
        wrong_type(name, shape, tree, problems);
        return None;
    };
    if let Some(word) = words.iter().copied().find(|word| *text == **word) {
        return Some(Spanned::new(word, tree.span));
    }
    let list: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    let message = format!("{} is not a known `{name}`", quoted(text));
    let hint = suggest::did_you_mean(text, words.iter().copied())
        .unwrap_or_else(|| format!("known are {}", list.join(", ")));
    problems.push(problems.error(codes::UNKNOWN_WORD, tree.span, message).hint(hint));
    None
}

/// Says that a value is not of its shape.
pub(crate) fn wrong_type(name: &str, shape: Shape, tree: &Tree, problems: &mut Problems) {
    let message =
        format!("{} needs to be {}, found {}", quoted(name), wanted(shape), tree.kind_name());
    let hint = match (shape, &tree.kind) {
        (Shape::Text | Shape::Name, Kind::Number(_) | Kind::Bool(_)) => Some("put it in quotes"),
        (Shape::Count { .. }, Kind::String(_)) => Some("write a number without quotes"),
        (Shape::Flag, Kind::String(_)) => Some("write `true` or `false`, without quotes"),
        (Shape::Record(table), Kind::String(_)) if table.name == EXPRESSION.name => {
            Some("write it as `{expr: …}`")
        }
        _ => None,
    };
    problems.push(
        problems.error(codes::WRONG_TYPE, tree.span, message).maybe_hint(hint.map(str::to_owned)),
    );
}

fn wanted(shape: Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::Name | Shape::Scalar => "text",
        Shape::Flag => "`true` or `false`",
        Shape::Count { .. } => "a whole number",
        Shape::Words(_) => "a word",
        Shape::Any => "a value",
        Shape::AnyObject | Shape::Record(_) | Shape::Node | Shape::MapOf(_) => "a mapping",
        Shape::AnyArray | Shape::List(_) => "a list",
        Shape::Either(Shape::Flag, _) => "`true`, `false` or a mapping",
        Shape::Either(_, Shape::AnyArray | Shape::List(_)) => "a mapping or a list",
        Shape::Either(..) => "text or a mapping",
    }
}
