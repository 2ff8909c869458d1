//! From a value as it stands to the value that is wanted, with as little change as possible.

use mcpgraph_value::{Map, Value};

use super::editor::{Editor, New, Place};
use super::emit::Owner;
use super::layout::{Child, Collection, Form};
use super::lines::{line_end, line_start};
use super::matching::{self, Step};
use super::style::item_role;
use crate::{Kind, Style, Tree};

/// A value that is to be changed.
#[derive(Clone, Copy)]
pub(super) struct Target<'t> {
    pub(super) child: &'t Child,
    pub(super) tree: &'t Tree,
    /// The name of the place, usually the key.
    pub(super) role: &'t str,
    /// Whether it stands between brackets or braces.
    pub(super) in_flow: bool,
}

/// What becomes of the members of a mapping.
struct MapPlan<'w> {
    /// For each child whether it stays.
    kept: Vec<bool>,
    first: Vec<(&'w str, &'w Value)>,
    /// For each child what is new behind it.
    behind: Vec<Vec<(&'w str, &'w Value)>>,
}

impl Editor<'_> {
    /// Makes a value the wanted one. Parts that are as wanted keep their text.
    pub(super) fn revise(&mut self, target: Target<'_>, wanted: &Value) {
        let Target { child, tree, role, .. } = target;
        if tree.to_value() == *wanted {
            return;
        }
        let node = &child.value;
        match (&node.form, &tree.kind, wanted) {
            (Form::Map(collection), Kind::Map(_), Value::Object(members)) => {
                match plan(collection, tree, members) {
                    Some(plan) => {
                        let place = Place { node, collection, role };
                        self.revise_map(place, tree, members, plan);
                    }
                    None => self.replace(target, wanted),
                }
            }
            (Form::Seq(collection), Kind::Seq(_), Value::Array(items)) => {
                let old: Vec<Value> = tree.items().iter().map(|item| item.to_value()).collect();
                match matching::steps(&old, items) {
                    Some(steps) => {
                        let place = Place { node, collection, role };
                        self.revise_list(place, tree, items, &steps);
                    }
                    None => self.replace(target, wanted),
                }
            }
            _ => self.replace(target, wanted),
        }
    }

    fn revise_map(&mut self, place: Place<'_>, tree: &Tree, wanted: &Map, plan: MapPlan<'_>) {
        for (key, value) in plan.first {
            self.insert_first(place, New::Member(key, value));
        }
        let in_flow = place.collection.flow;
        for (index, child) in place.collection.children.iter().enumerate() {
            let key = child.key.as_ref().map_or("", |key| &key.text);
            if plan.kept[index]
                && let (Some(member), Some(value)) = (tree.get(key), wanted.get(key))
            {
                let target = Target { child, tree: &member.value, role: key, in_flow };
                self.revise(target, value);
            }
            for (key, value) in &plan.behind[index] {
                self.insert_after(place, index, New::Member(key, value));
            }
        }
        self.remove_all(place, &plan.kept);
    }

    fn revise_list(&mut self, place: Place<'_>, tree: &Tree, wanted: &[Value], steps: &[Step]) {
        let role = item_role(place.role);
        let in_flow = place.collection.flow;
        let mut kept = vec![true; place.collection.children.len()];
        let mut behind = None;
        for step in steps {
            match *step {
                Step::Keep { old, new } => {
                    let child = &place.collection.children[old];
                    let tree = &tree.items()[old];
                    self.revise(Target { child, tree, role: &role, in_flow }, &wanted[new]);
                    behind = Some(old);
                }
                Step::Remove { old } => kept[old] = false,
                Step::Insert { new } => match behind {
                    Some(old) => self.insert_after(place, old, New::Item(&wanted[new])),
                    None => self.insert_first(place, New::Item(&wanted[new])),
                },
            }
        }
        self.remove_all(place, &kept);
    }

    /// Takes out the children that are not kept, those next to each other at once.
    fn remove_all(&mut self, place: Place<'_>, kept: &[bool]) {
        let mut index = 0;
        while index < kept.len() {
            let run = kept[index..].iter().take_while(|kept| !**kept).count();
            if run > 0 {
                self.remove(place, index..index + run);
            }
            index += run.max(1);
        }
    }

    /// Writes a value anew; the comment on its line stays.
    pub(super) fn replace(&mut self, target: Target<'_>, wanted: &Value) {
        let Target { child, role, in_flow, .. } = target;
        let text = self.text();
        let node = &child.value;
        let column = self.column(child.start);
        if in_flow {
            let written = self.emitter.flow_at(wanted, role, column);
            match &child.key {
                Some(key) if node.start == node.end => {
                    let colon = if key.has_colon { "" } else { ":" };
                    self.splices.insert(child.indicator_end, format!("{colon} {written}"));
                }
                _ => self.splices.replace(node.start, node.end, written),
            }
            return;
        }
        let owner = if child.key.is_some() { Owner::Key(column) } else { Owner::Dash(column) };
        let new = self.emitter.value(wanted, role, owner);
        // What of the old value is on the line of the key or dash, and what is below it.
        let is_below = line_start(text, node.end) > line_end(text, node.head);
        let (inline_end, below_end) = match &node.form {
            Form::Block { header_end, .. } => (*header_end, node.end),
            _ if node.is_block_collection() => {
                let first = node.collection().and_then(|collection| collection.children.first());
                let compact = first.is_some_and(|first| first.start <= line_end(text, node.head));
                let extent = self.extent(child);
                if compact || !is_below { (extent, extent) } else { (node.head, extent) }
            }
            _ => (node.end, node.end),
        };
        let inline_start = node.start.min(inline_end);
        match (inline_end > inline_start, new.inline.is_empty()) {
            (true, false) => self.splices.replace(inline_start, inline_end, new.inline),
            (true, true) => self.splices.remove(child.indicator_end, inline_end),
            (false, false) => {
                self.splices.insert(child.indicator_end, format!(" {}", new.inline));
            }
            (false, true) => {}
        }
        let below_start = line_end(text, inline_end);
        self.splices.replace(below_start, below_end.max(below_start), new.below);
    }
}

/// What to do with the members; none if the mapping is better written anew.
fn plan<'w>(collection: &Collection, tree: &Tree, wanted: &'w Map) -> Option<MapPlan<'w>> {
    let is_merge =
        |child: &Child| child.key.as_ref().is_some_and(|key| is_merge_key(&key.text, key.style));
    let children = &collection.children;
    let own = |key: &str| {
        children.iter().position(|child| {
            !is_merge(child) && child.key.as_ref().is_some_and(|own| own.text == key)
        })
    };
    // A key that stands twice, or that is no text, is not understood here.
    let merges = children.iter().filter(|child| is_merge(child)).count();
    let own_keys = tree.members().iter().filter(|member| own(&member.key).is_some()).count();
    if own_keys + merges != children.len() {
        return None;
    }
    // What a merge key brings in cannot be taken out.
    let merged = tree.members().iter().filter(|member| own(&member.key).is_none());
    if merged.clone().any(|member| !wanted.contains_key(&member.key)) {
        return None;
    }
    let kept: Vec<bool> = children
        .iter()
        .map(|child| {
            is_merge(child) || child.key.as_ref().is_some_and(|key| wanted.contains_key(&key.text))
        })
        .collect();
    if !kept.contains(&true) {
        return None;
    }
    let mut plan =
        MapPlan { kept, first: Vec::new(), behind: children.iter().map(|_| Vec::new()).collect() };
    let mut before = None;
    for (key, value) in wanted.iter() {
        if let Some(index) = own(key) {
            before = Some(index);
        } else if tree.get(key).is_none_or(|member| member.value.to_value() != *value) {
            match before {
                Some(index) => plan.behind[index].push((key, value)),
                None => plan.first.push((key, value)),
            }
        }
    }
    Some(plan)
}

fn is_merge_key(text: &str, style: Style) -> bool {
    text == "<<" && style == Style::Plain
}
