//! The habits of a file: how its author indents, quotes and breaks lines. What is added is
//! written the same way.

use std::collections::HashMap;

use super::layout::{Child, Collection, Form, Layout, Node};
use super::lines::{blank_lines, column, line_break, line_end, line_start};
use crate::Style as ScalarStyle;

/// Lines are kept within this many columns unless the file has longer ones of the same kind.
const WIDTH: usize = 100;

/// What was seen in a file.
pub(super) struct Habits {
    pub(super) line_break: &'static str,
    /// Keys and texts are in double quotes everywhere, as in JSON.
    pub(super) json: bool,
    /// How many columns a mapping is further in than the key it belongs to.
    pub(super) step: usize,
    /// How many columns a dash is further in than the key its list belongs to.
    pub(super) dash: usize,
    /// How many columns an item is further in than its dash.
    pub(super) item: usize,
    /// `{ a: 1 }` and not `{a: 1}`.
    pub(super) spaced_braces: bool,
    /// `[ 1 ]` and not `[1]`.
    pub(super) spaced_brackets: bool,
    /// Which quotes are used for text that needs some.
    pub(super) quotes: ScalarStyle,
    /// Lists of scalars are on one line.
    flow_lists: bool,
    /// Flow collections have their parts on lines of their own.
    pub(super) flow_is_broken: bool,
    roles: HashMap<String, Role>,
}

/// How values are written that stand at a place of one name.
#[derive(Default)]
struct Role {
    plain: usize,
    single: usize,
    double: usize,
    block: usize,
    flow: usize,
    /// The most members a flow mapping has there.
    flow_members: usize,
    /// How far to the right a flow value reaches there.
    flow_width: usize,
    /// Pairs of items of a list with and without an empty line between them.
    apart: usize,
    together: usize,
}

/// Counts of what was seen, from which the habits follow.
#[derive(Default)]
struct Seen {
    steps: HashMap<usize, usize>,
    dashes: HashMap<usize, usize>,
    items: HashMap<usize, usize>,
    roles: HashMap<String, Role>,
    braces: [usize; 2],
    brackets: [usize; 2],
    block_lists: usize,
    flow_lists: usize,
    broken: usize,
    unbroken: usize,
    plain_keys: usize,
    double_keys: usize,
    single: usize,
    double: usize,
}

impl Habits {
    /// Looks at all of a file: tools are written like their neighbours, and where a file has none
    /// yet, like the rest of it.
    pub(super) fn of(layout: &Layout<'_>) -> Self {
        let mut seen = Seen::default();
        seen.node(layout.text, &layout.root, "", None);
        let most = |counts: &HashMap<usize, usize>, otherwise| {
            let most = counts.iter().max_by_key(|(width, count)| (**count, usize::MAX - **width));
            most.map_or(otherwise, |(width, _)| *width)
        };
        let step = most(&seen.steps, 2);
        Self {
            line_break: line_break(layout.text),
            json: seen.plain_keys == 0 && seen.double_keys > 0,
            step,
            dash: most(&seen.dashes, step),
            item: most(&seen.items, 2),
            spaced_braces: seen.braces[1] >= seen.braces[0],
            spaced_brackets: seen.brackets[1] > seen.brackets[0],
            quotes: if seen.single > seen.double {
                ScalarStyle::Single
            } else {
                ScalarStyle::Double
            },
            flow_lists: seen.flow_lists > seen.block_lists,
            flow_is_broken: seen.broken > 0 && seen.plain_keys == 0 || seen.broken > seen.unbroken,
            roles: seen.roles,
        }
    }

    /// Whether a list or mapping goes on one line, which would then end at column `end`.
    pub(super) fn is_flow(&self, role: &str, kind: Option<&str>, shape: Shape, end: usize) -> bool {
        if shape.size == 0 {
            return true;
        }
        let of_kind = kind.and_then(|kind| self.roles.get(&kinded(role, kind)));
        let widest = |role: &Role| role.flow_width.max(WIDTH);
        match (of_kind, self.roles.get(role)) {
            (Some(role), _) if role.flow + role.block > 0 => {
                role.flow > role.block && end <= widest(role)
            }
            (_, Some(role)) if role.flow + role.block > 0 => {
                let alike = role.block == 0 || (!shape.is_list && shape.size <= role.flow_members);
                let alike = alike || (shape.is_list && role.flow > role.block);
                role.flow > 0 && alike && end <= widest(role)
            }
            _ => shape.is_list && shape.is_scalars && self.flow_lists && end <= WIDTH,
        }
    }

    /// The quotes that texts at this place always have; none if they have some only when needed.
    pub(super) fn always_quoted(&self, role: &str) -> Option<ScalarStyle> {
        let role = self.roles.get(role)?;
        let quoted = role.single + role.double;
        let style =
            if role.single > role.double { ScalarStyle::Single } else { ScalarStyle::Double };
        (quoted > role.plain && role.plain == 0).then_some(style)
    }

    /// How many empty lines are between the items of a list.
    pub(super) fn apart(&self, role: &str) -> usize {
        self.roles.get(role).map_or(0, |role| usize::from(role.apart > role.together))
    }
}

/// What a list or mapping looks like from afar.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub(super) is_list: bool,
    pub(super) size: usize,
    /// None of its parts is a list or mapping.
    pub(super) is_scalars: bool,
}

/// The name of the place of the items of a list.
pub(super) fn item_role(role: &str) -> String {
    format!("{role}[]")
}

fn kinded(role: &str, kind: &str) -> String {
    format!("{role}:{kind}")
}

impl Seen {
    fn node(&mut self, text: &str, node: &Node, role: &str, parent: Option<(usize, bool)>) {
        match &node.form {
            Form::Scalar(style) => self.scalar(text, node, *style, role),
            Form::Block { .. } | Form::Whole => {}
            Form::Seq(list) => {
                self.collection(text, node, list, role, None);
                self.list(text, list, role, parent);
                for child in &list.children {
                    self.node(text, &child.value, &item_role(role), Some((child.start, true)));
                }
            }
            Form::Map(map) => {
                self.collection(text, node, map, role, kind_of(text, map).as_deref());
                if let (false, Some(first), Some((at, in_list))) =
                    (map.flow, map.children.first(), parent)
                {
                    let further = column(text, first.start).checked_sub(column(text, at));
                    let counts = if in_list { &mut self.items } else { &mut self.steps };
                    count(counts, further.filter(|further| *further > 0));
                }
                for child in &map.children {
                    let Some(key) = &child.key else { continue };
                    self.plain_keys += usize::from(key.style == ScalarStyle::Plain);
                    self.double_keys += usize::from(key.style == ScalarStyle::Double);
                    self.node(text, &child.value, &key.text, Some((child.start, false)));
                }
            }
        }
    }

    fn scalar(&mut self, text: &str, node: &Node, style: ScalarStyle, role: &str) {
        let written = &text[node.start..node.end];
        let role = self.roles.entry(role.to_owned()).or_default();
        match style {
            ScalarStyle::Single => {
                role.single += 1;
                self.single += usize::from(!written.contains('"'));
            }
            ScalarStyle::Double => {
                role.double += 1;
                self.double += usize::from(!written.contains('\''));
            }
            _ => role.plain += usize::from(!written.is_empty()),
        }
    }

    fn collection(
        &mut self,
        text: &str,
        node: &Node,
        collection: &Collection,
        role: &str,
        kind: Option<&str>,
    ) {
        if collection.children.is_empty() {
            return;
        }
        let width = node.end - line_start(text, node.end);
        let names = [Some(role.to_owned()), kind.map(|kind| kinded(role, kind))];
        for name in names.into_iter().flatten() {
            let role = self.roles.entry(name).or_default();
            if collection.flow {
                role.flow += 1;
                role.flow_members = role.flow_members.max(collection.children.len());
                role.flow_width = role.flow_width.max(width);
            } else {
                role.block += 1;
            }
        }
        if collection.flow {
            let inner = &text[node.head.max(node.start)..node.end];
            let inner = inner.trim_start_matches([' ', '\t']).get(1..).unwrap_or_default();
            let spaced = usize::from(inner.starts_with(' '));
            let is_map = matches!(node.form, Form::Map(_));
            let counts = if is_map { &mut self.braces } else { &mut self.brackets };
            counts[spaced] += 1;
            let broken = line_end(text, node.start) < node.end;
            self.broken += usize::from(broken);
            self.unbroken += usize::from(!broken && is_map);
        }
    }

    fn list(&mut self, text: &str, list: &Collection, role: &str, parent: Option<(usize, bool)>) {
        let of_scalars = list.children.iter().all(|child| child.value.collection().is_none());
        if of_scalars && !list.children.is_empty() {
            let counter = if list.flow { &mut self.flow_lists } else { &mut self.block_lists };
            *counter += 1;
        }
        let Some(first) = list.children.first().filter(|_| !list.flow) else { return };
        if let Some((key, false)) = parent {
            count(&mut self.dashes, column(text, first.start).checked_sub(column(text, key)));
        }
        for pair in list.children.windows(2) {
            let apart = blank_lines(text, pair[0].value.end..pair[1].start) > 0;
            let role = self.roles.entry(role.to_owned()).or_default();
            role.apart += usize::from(apart);
            role.together += usize::from(!apart);
        }
    }
}

fn count(counts: &mut HashMap<usize, usize>, width: Option<usize>) {
    if let Some(width) = width {
        *counts.entry(width).or_default() += 1;
    }
}

/// The `type` of a node: an exit is often written otherwise than a transform.
fn kind_of(text: &str, map: &Collection) -> Option<String> {
    let Child { value, .. } = map.member("type")?;
    matches!(value.form, Form::Scalar(_))
        .then(|| text[value.start..value.end].trim_matches(['"', '\'']).to_owned())
}
