//! The tools of a file: found, changed, and checked after the change.

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

/// The key all of this is about.
const TOOLS: &str = "tools";

/// The tools of a file that has been read.
pub(super) struct Tools<'s> {
    source: &'s Arc<Source>,
    tree: Arc<Tree>,
    layout: Layout<'s>,
    habits: Habits,
    /// How many things are wrong with the text of the file as it is.
    problems: usize,
}

impl<'s> Tools<'s> {
    pub(super) fn read(source: &'s Arc<Source>) -> Result<Self, EditError> {
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
        if let Some(tools) = tree.get(TOOLS)
            && !matches!(tools.value.kind, Kind::Seq(_) | Kind::Null)
        {
            let message = format!("`tools` needs to be a list, not {}", tools.value.kind_name());
            return Err(wrong(tools.value.span, message));
        }
        let layout = Layout::new(source.text())
            .ok_or_else(|| EditError::unfaithful(source, "it is written in an unusual way"))?;
        let habits = Habits::of(&layout);
        Ok(Self { source, tree, layout, habits, problems: found.len() })
    }

    pub(super) fn add(&self, tool: &Value) -> Result<String, EditError> {
        self.check_name(tool, None)?;
        let mut editor = self.editor();
        match self.child() {
            Some(child) => self.add_to(&mut editor, child, tool)?,
            None if self.tree.get(TOOLS).is_some() => return Err(self.merged()),
            None => self.add_key(&mut editor, tool),
        }
        let mut tools = self.values();
        tools.push(tool.clone());
        self.finish(editor, &tools, Some(tools.len() - 1))
    }

    pub(super) fn update(&self, name: &str, tool: &Value) -> Result<String, EditError> {
        let index = self.index(name)?;
        self.check_name(tool, Some(index))?;
        let mut tools = self.values();
        if tools[index] == *tool {
            return Ok(self.source.text().to_owned());
        }
        tools[index] = tool.clone();
        let place = self.place()?;
        let role = item_role(TOOLS);
        let target = Target {
            child: &place.collection.children[index],
            tree: &self.tree_items()[index],
            role: &role,
            in_flow: place.collection.flow,
        };
        let mut editor = self.editor();
        editor.revise(target, tool);
        let first = match self.finish(editor, &tools, Some(index)) {
            Err(error @ (EditError::Shared(_) | EditError::Unfaithful(_))) => error,
            other => return other,
        };
        // Written anew as a whole, a tool does not need what it shares with itself.
        let mut editor = self.editor();
        editor.replace(target, tool);
        self.finish(editor, &tools, Some(index)).map_err(|_| first)
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
        let mut tools = self.values();
        tools.remove(index);
        self.finish(editor, &tools, None)
    }

    fn add_to(
        &self,
        editor: &mut Editor<'_>,
        child: &Child,
        tool: &Value,
    ) -> Result<(), EditError> {
        let text = self.source.text();
        let node = &child.value;
        match &node.form {
            Form::Seq(collection) if !collection.children.is_empty() => {
                let place = Place { node, collection, role: TOOLS };
                let last = collection.children.len() - 1;
                if last == 0 && !collection.flow && self.is_airy(child) {
                    editor.insert_apart(place, last, New::Item(tool));
                } else {
                    editor.insert_after(place, last, New::Item(tool));
                }
            }
            Form::Seq(_) | Form::Scalar(_) => {
                let written = &text[child.indicator_end..node.end];
                let is_root_flow = self.layout.root.collection().is_some_and(|root| root.flow);
                let column = editor.column(child.start);
                if !is_root_flow && matches!(written, " []" | "" | " null" | " ~") {
                    let value = Value::array(vec![tool.clone()]);
                    let emitted = editor.emitter.value(&value, TOOLS, Owner::Key(column));
                    editor.splices.remove(child.indicator_end, node.end);
                    let end = line_end(text, node.end);
                    editor.splices.insert(end, emitted.below);
                } else if matches!(node.form, Form::Seq(_)) {
                    let open = significant(text, node.head) + 1;
                    let role = item_role(TOOLS);
                    editor.splices.insert(open, editor.emitter.flow_at(tool, &role, column));
                } else {
                    let value = Value::array(vec![tool.clone()]);
                    let tree = &self.tree;
                    let target = Target { child, tree, role: TOOLS, in_flow: is_root_flow };
                    editor.replace(target, &value);
                }
            }
            _ => return Err(self.merged()),
        }
        Ok(())
    }

    /// Adds the key `tools` at the end of the file.
    fn add_key(&self, editor: &mut Editor<'_>, tool: &Value) {
        let node = &self.layout.root;
        let Form::Map(collection) = &node.form else { return };
        let value = Value::array(vec![tool.clone()]);
        let place = Place { node, collection, role: "" };
        match collection.children.len().checked_sub(1) {
            Some(last) if self.are_keys_apart() => {
                editor.insert_apart(place, last, New::Member(TOOLS, &value));
            }
            Some(last) => editor.insert_after(place, last, New::Member(TOOLS, &value)),
            None => {
                let written = editor.emitter.flow_member(TOOLS, &value, 0);
                editor.splices.insert(node.end.saturating_sub(1), written);
            }
        }
    }

    fn editor(&self) -> Editor<'_> {
        Editor::new(&self.layout, &self.habits)
    }

    /// The member `tools` as it is written.
    fn child(&self) -> Option<&Child> {
        self.layout.root.collection()?.member(TOOLS)
    }

    /// The list of tools as it is written.
    fn place(&self) -> Result<Place<'_>, EditError> {
        let node: Option<&Node> = self.child().map(|child| &child.value);
        match node.map(|node| (node, &node.form)) {
            Some((node, Form::Seq(collection)))
                if collection.children.len() == self.tree_items().len() =>
            {
                Ok(Place { node, collection, role: TOOLS })
            }
            _ => Err(self.merged()),
        }
    }

    fn tree_items(&self) -> &[Arc<Tree>] {
        self.tree.get(TOOLS).map_or(&[], |tools| tools.value.items())
    }

    fn values(&self) -> Vec<Value> {
        self.tree_items().iter().map(|item| item.to_value()).collect()
    }

    fn index(&self, name: &str) -> Result<usize, EditError> {
        let names: Vec<&str> = self.tree_items().iter().filter_map(|item| name_of(item)).collect();
        let found = self.tree_items().iter().position(|item| name_of(item) == Some(name));
        found.ok_or_else(|| EditError::unknown_tool(name, &names))
    }

    /// A definition needs a name that no other tool has.
    fn check_name(&self, tool: &Value, own: Option<usize>) -> Result<(), EditError> {
        if tool.is_deeper_than(MAX_DEPTH) {
            let message =
                format!("the definition nests deeper than the limit of {MAX_DEPTH} levels");
            return Err(EditError::not_a_tool(&message, "use fewer levels"));
        }
        let name = tool.as_object().and_then(|members| members.get("name")?.as_str());
        let Some(name) = name.filter(|name| !name.is_empty()) else {
            let message = "the definition of a tool needs to be a mapping with a `name`";
            return Err(EditError::not_a_tool(message, "give the tool a name: `name: my_tool`"));
        };
        let taken = self
            .tree_items()
            .iter()
            .enumerate()
            .find(|(index, item)| Some(*index) != own && name_of(item) == Some(name));
        match taken.and_then(|(_, item)| item.get("name")) {
            Some(member) => Err(EditError::name_taken(self.source, name, member.value.span)),
            None => Ok(()),
        }
    }

    /// Whether a file with one tool looks as if a second would stand apart from it.
    fn is_airy(&self, tools: &Child) -> bool {
        self.are_keys_apart() || {
            let own = tools.value.collection().and_then(|tools| tools.children.first());
            own.is_some_and(|tool| blank_lines(self.source.text(), tool.start..tool.value.end) > 0)
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
        EditError::unfaithful(self.source, "`tools` is not a list that stands in its own place")
    }

    /// Applies the changes, reads the result, and compares it with what was wanted.
    fn finish(
        &self,
        editor: Editor<'_>,
        tools: &[Value],
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
        if rest(&tree) != rest(&self.tree) {
            return Err(unfaithful("something outside of the tools would change with it"));
        }
        let written = tree.get(TOOLS).map_or(&[][..], |tools| tools.value.items());
        let is_as_wanted = |index: usize, item: &Arc<Tree>| {
            let value = item.to_value();
            // Of the other tools the order of keys counts too.
            value == tools[index] && (Some(index) == changed || same(&value, &tools[index]))
        };
        let complete = written.len() == tools.len();
        if !complete || !written.iter().enumerate().all(|(index, item)| is_as_wanted(index, item)) {
            return Err(unfaithful("the result would not read as wanted"));
        }
        Ok(source.text().to_owned())
    }
}

fn same(a: &Value, b: &Value) -> bool {
    a.to_json() == b.to_json()
}

fn name_of(tool: &Tree) -> Option<&str> {
    tool.get("name")?.value.as_text().map(Text::as_str)
}

/// Everything but the tools.
fn rest(tree: &Tree) -> String {
    let others = tree.members().iter().filter(|member| member.key != *TOOLS);
    let rest: Map = others.map(|member| (member.key.to_arc(), member.value.to_value())).collect();
    Value::object(rest).to_json()
}
