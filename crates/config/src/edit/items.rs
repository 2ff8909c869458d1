//! The items of a list of a file, such as its tools: found, changed, and checked after the change.

use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostic, Source, codes};
use mcpgraph_value::{Map, Value};

use super::editor::{Editor, New, Place};
use super::emit::Owner;
use super::error::EditError;
use super::layout::{Child, Form, Layout, Node};
use super::lines::{blank_lines, is_first_on_line, line_end, significant};
use super::revise::Target;
use super::style::{Habits, item_role};
use crate::{Kind, MAX_DEPTH, Text, Tree, yaml};

/// A list of a file whose items are named.
#[derive(Clone, Copy)]
pub(super) struct List {
    /// The key of the list.
    pub(super) key: &'static str,
    /// The word for an item.
    pub(super) noun: &'static str,
}

pub(super) const TOOLS: List = List { key: "tools", noun: "tool" };
pub(super) const WORKFLOWS: List = List { key: "workflows", noun: "workflow" };

/// The items of a list of a file that has been read.
pub(super) struct Items<'s> {
    list: List,
    source: &'s Arc<Source>,
    tree: Arc<Tree>,
    layout: Layout<'s>,
    habits: Habits,
    /// How many things are wrong with the text of the file as it is.
    problems: usize,
}

impl<'s> Items<'s> {
    pub(super) fn read(list: List, source: &'s Arc<Source>) -> Result<Self, EditError> {
        let (tree, found) = yaml::parse(source);
        let Some(tree) = tree else { return Err(EditError::Unreadable(found)) };
        let wrong = |span, message: String| {
            let diagnostic = Diagnostic::error(codes::WRONG_TYPE, message).at(source, span, "");
            EditError::Unreadable(diagnostic.into())
        };
        if !matches!(tree.kind, Kind::Map(_)) {
            let message = format!("a graph file is a mapping, not {}", tree.kind_name());
            return Err(wrong(tree.span, message));
        }
        if let Some(member) = tree.get(list.key)
            && !matches!(member.value.kind, Kind::Seq(_) | Kind::Null)
        {
            let kind = member.value.kind_name();
            let message = format!("`{}` needs to be a list, not {kind}", list.key);
            return Err(wrong(member.value.span, message));
        }
        let layout = Layout::new(source.text())
            .ok_or_else(|| EditError::unfaithful(source, "it is written in an unusual way"))?;
        let habits = Habits::of(&layout);
        Ok(Self { list, source, tree, layout, habits, problems: found.len() })
    }

    pub(super) fn add(&self, item: &Value) -> Result<String, EditError> {
        self.check_name(item, None)?;
        let mut editor = self.editor();
        match self.child() {
            Some(child) => self.add_to(&mut editor, child, item)?,
            None if self.tree.get(self.list.key).is_some() => return Err(self.merged()),
            None => self.add_key(&mut editor, item),
        }
        let mut items = self.values();
        items.push(item.clone());
        self.finish(editor, &items, Some(items.len() - 1))
    }

    pub(super) fn update(&self, name: &str, item: &Value) -> Result<String, EditError> {
        let index = self.index(name)?;
        self.check_name(item, Some(index))?;
        let mut items = self.values();
        if items[index] == *item {
            return Ok(self.source.text().to_owned());
        }
        items[index] = item.clone();
        let place = self.place()?;
        let role = item_role(self.list.key);
        let target = Target {
            child: &place.collection.children[index],
            tree: &self.tree_items()[index],
            role: &role,
            in_flow: place.collection.flow,
        };
        let mut editor = self.editor();
        editor.revise(target, item);
        let first = match self.finish(editor, &items, Some(index)) {
            Err(error @ (EditError::Shared(_) | EditError::Unfaithful(_))) => error,
            other => return other,
        };
        // Written anew as a whole, a item does not need what it shares with itself.
        let mut editor = self.editor();
        editor.replace(target, item);
        self.finish(editor, &items, Some(index)).map_err(|_| first)
    }

    pub(super) fn delete(&self, name: &str) -> Result<String, EditError> {
        let index = self.index(name)?;
        let place = self.place()?;
        let mut editor = self.editor();
        let is_only = place.collection.children.len() == 1;
        if is_only && !place.collection.flow {
            editor.splices.insert(place.node.head, " []");
        }
        editor.remove(place, index..index + 1);
        let mut items = self.values();
        items.remove(index);
        self.finish(editor, &items, None)
    }

    fn add_to(
        &self,
        editor: &mut Editor<'_>,
        child: &Child,
        item: &Value,
    ) -> Result<(), EditError> {
        let text = self.source.text();
        let node = &child.value;
        match &node.form {
            Form::Seq(collection) if !collection.children.is_empty() => {
                let place = Place { node, collection, role: self.list.key };
                let last = collection.children.len() - 1;
                if last == 0 && !collection.flow && self.is_airy(child) {
                    editor.insert_apart(place, last, New::Item(item));
                } else {
                    editor.insert_after(place, last, New::Item(item));
                }
            }
            Form::Seq(_) | Form::Scalar(_) => {
                let written = &text[child.indicator_end..node.end];
                let is_root_flow = self.layout.root.collection().is_some_and(|root| root.flow);
                let column = editor.column(child.start);
                if !is_root_flow && matches!(written, " []" | "" | " null" | " ~") {
                    let value = Value::array(vec![item.clone()]);
                    let emitted = editor.emitter.value(&value, self.list.key, Owner::Key(column));
                    editor.splices.remove(child.indicator_end, node.end);
                    let end = line_end(text, node.end);
                    editor.splices.insert(end, emitted.below);
                } else if matches!(node.form, Form::Seq(_)) {
                    let open = significant(text, node.head) + 1;
                    let role = item_role(self.list.key);
                    editor.splices.insert(open, editor.emitter.flow_at(item, &role, column));
                } else {
                    let value = Value::array(vec![item.clone()]);
                    let tree = &self.tree;
                    let target = Target { child, tree, role: self.list.key, in_flow: is_root_flow };
                    editor.replace(target, &value);
                }
            }
            _ => return Err(self.merged()),
        }
        Ok(())
    }

    /// Adds the key of the list at the end of the file.
    fn add_key(&self, editor: &mut Editor<'_>, item: &Value) {
        let node = &self.layout.root;
        let Form::Map(collection) = &node.form else { return };
        let value = Value::array(vec![item.clone()]);
        let place = Place { node, collection, role: "" };
        match collection.children.len().checked_sub(1) {
            Some(last) if self.are_keys_apart() => {
                editor.insert_apart(place, last, New::Member(self.list.key, &value));
            }
            Some(last) => editor.insert_after(place, last, New::Member(self.list.key, &value)),
            None => {
                let written = editor.emitter.flow_member(self.list.key, &value, 0);
                editor.splices.insert(node.end.saturating_sub(1), written);
            }
        }
    }

    fn editor(&self) -> Editor<'_> {
        Editor::new(&self.layout, &self.habits)
    }

    /// The member of the list as it is written.
    fn child(&self) -> Option<&Child> {
        self.layout.root.collection()?.member(self.list.key)
    }

    /// The list as it is written.
    fn place(&self) -> Result<Place<'_>, EditError> {
        let node: Option<&Node> = self.child().map(|child| &child.value);
        match node.map(|node| (node, &node.form)) {
            Some((node, Form::Seq(collection)))
                if collection.children.len() == self.tree_items().len() =>
            {
                Ok(Place { node, collection, role: self.list.key })
            }
            _ => Err(self.merged()),
        }
    }

    fn tree_items(&self) -> &[Arc<Tree>] {
        self.tree.get(self.list.key).map_or(&[], |items| items.value.items())
    }

    fn values(&self) -> Vec<Value> {
        self.tree_items().iter().map(|item| item.to_value()).collect()
    }

    fn index(&self, name: &str) -> Result<usize, EditError> {
        let names: Vec<&str> = self.tree_items().iter().filter_map(|item| name_of(item)).collect();
        let found = self.tree_items().iter().position(|item| name_of(item) == Some(name));
        found.ok_or_else(|| EditError::unknown(self.list.noun, name, &names))
    }

    /// A definition needs a name that no other item has.
    fn check_name(&self, item: &Value, own: Option<usize>) -> Result<(), EditError> {
        if item.is_deeper_than(MAX_DEPTH) {
            let message =
                format!("the definition nests deeper than the limit of {MAX_DEPTH} levels");
            return Err(EditError::not_a_definition(&message, "use fewer levels"));
        }
        let name = item.as_object().and_then(|members| members.get("name")?.as_str());
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let noun = self.list.noun;
            let message = format!("the definition of a {noun} needs to be a mapping with a `name`");
            let hint = format!("give the {noun} a name: `name: my_{noun}`");
            return Err(EditError::not_a_definition(&message, &hint));
        };
        let taken = self
            .tree_items()
            .iter()
            .enumerate()
            .find(|(index, item)| Some(*index) != own && name_of(item) == Some(name));
        match taken.and_then(|(_, item)| item.get("name")) {
            Some(member) => {
                Err(EditError::name_taken(self.list.noun, self.source, name, member.value.span))
            }
            None => Ok(()),
        }
    }

    /// Whether a file with one item looks as if a second would stand apart from it.
    fn is_airy(&self, items: &Child) -> bool {
        self.are_keys_apart() || {
            let own = items.value.collection().and_then(|items| items.children.first());
            own.is_some_and(|item| blank_lines(self.source.text(), item.start..item.value.end) > 0)
        }
    }

    /// Whether the keys of the file have empty lines between them.
    fn are_keys_apart(&self) -> bool {
        let text = self.source.text();
        let children = self.layout.root.collection().map_or(&[][..], |root| &root.children);
        children.windows(2).any(|pair| {
            blank_lines(text, pair[0].value.end..pair[1].start) > 0
                && is_first_on_line(text, pair[1].start)
        })
    }

    fn merged(&self) -> EditError {
        let why = format!("`{}` is not a list that stands in its own place", self.list.key);
        EditError::unfaithful(self.source, &why)
    }

    /// Applies the changes, reads the result, and compares it with what was wanted.
    fn finish(
        &self,
        editor: Editor<'_>,
        items: &[Value],
        changed: Option<usize>,
    ) -> Result<String, EditError> {
        if let Some((anchor, alias)) = editor.splices.shared_value(&self.layout) {
            return Err(EditError::shared(self.source, anchor.span, alias.span));
        }
        let unfaithful = |why: &str| EditError::unfaithful(self.source, why);
        let text = editor
            .splices
            .apply(self.source.text())
            .ok_or_else(|| unfaithful("two of its parts overlap"))?;
        let source = Source::new(self.source.name(), text);
        let (tree, found) = yaml::parse(&source);
        let tree = tree.ok_or_else(|| unfaithful("the result would not be valid YAML"))?;
        if found.len() > self.problems {
            return Err(unfaithful("the result would have new problems"));
        }
        if rest(&tree, self.list) != rest(&self.tree, self.list) {
            return Err(unfaithful("something outside of the list would change with it"));
        }
        let written = tree.get(self.list.key).map_or(&[][..], |items| items.value.items());
        let is_as_wanted = |index: usize, item: &Arc<Tree>| {
            let value = item.to_value();
            // Of the other items the order of keys counts too.
            value == items[index] && (Some(index) == changed || same(&value, &items[index]))
        };
        let complete = written.len() == items.len();
        if !complete || !written.iter().enumerate().all(|(index, item)| is_as_wanted(index, item)) {
            return Err(unfaithful("the result would not read as wanted"));
        }
        Ok(source.text().to_owned())
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a.to_json() == b.to_json()
}

fn name_of(item: &Tree) -> Option<&str> {
    item.get("name")?.value.as_text().map(Text::as_str)
}

/// Everything but the items.
fn rest(tree: &Tree, list: List) -> String {
    let others = tree.members().iter().filter(|member| member.key != *list.key);
    let rest: Map = others.map(|member| (member.key.to_arc(), member.value.to_value())).collect();
    Value::object(rest).to_json()
}
