//! Children put into and taken out of lists and mappings, whatever style they are written in.

use std::ops::Range;

use mcpgraph_value::Value;

use super::emit::Emitter;
use super::layout::{Child, Collection, Form, Layout, Node};
use super::lines::{
    blank_lines, column, end_of_line_before, is_blank, is_comment, is_first_on_line, line_at,
    line_end, line_start, next_line,
};
use super::splices::Splices;
use super::style::Habits;

/// How many empty lines are put between items at most, however many there are elsewhere.
const MAX_BLANK_LINES: usize = 3;

/// A text that is being changed.
pub(super) struct Editor<'e> {
    pub(super) layout: &'e Layout<'e>,
    pub(super) habits: &'e Habits,
    pub(super) emitter: Emitter<'e>,
    pub(super) splices: Splices,
}

/// Something new in a list or mapping.
#[derive(Clone, Copy)]
pub(super) enum New<'n> {
    Item(&'n Value),
    Member(&'n str, &'n Value),
}

/// The list or mapping something is put into or taken out of.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) node: &'p Node,
    pub(super) collection: &'p Collection,
    /// The name of the place, usually the key.
    pub(super) role: &'p str,
}

impl<'e> Editor<'e> {
    pub(super) fn new(layout: &'e Layout<'e>, habits: &'e Habits) -> Self {
        let emitter = Emitter::new(habits);
        Self { layout, habits, emitter, splices: Splices::default() }
    }

    pub(super) fn text(&self) -> &'e str {
        self.layout.text
    }

    pub(super) fn column(&self, offset: usize) -> usize {
        column(self.text(), offset)
    }

    /// The end of a child of a block collection, with the comment on its last line and those
    /// directly below that are further in.
    pub(super) fn extent(&self, child: &Child) -> usize {
        let text = self.text();
        let mut end = child.value.end.max(child.indicator_end);
        let rest = &text[end..line_end(text, end)];
        if is_blank(rest) || is_comment(rest) {
            end = line_end(text, end);
        }
        let own = self.column(child.start);
        while let Some(next) = next_line(text, end) {
            let line = line_at(text, next);
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if !is_comment(line) || indent <= own {
                break;
            }
            end = line_end(text, next);
        }
        end
    }

    /// Puts something new behind the child at `index`, as far from it as the others are.
    pub(super) fn insert_after(&mut self, place: Place<'_>, index: usize, new: New<'_>) {
        let apart = self.apart(place, index, new);
        self.insert(place, index, new, apart);
    }

    /// Puts something new behind the child at `index` of a block collection, with an empty line
    /// between them.
    pub(super) fn insert_apart(&mut self, place: Place<'_>, index: usize, new: New<'_>) {
        let child = &place.collection.children[index];
        let apart = usize::from(!self.keeps_blank_lines(&child.value));
        self.insert(place, index, new, apart);
    }

    fn insert(&mut self, place: Place<'_>, index: usize, new: New<'_>, apart: usize) {
        let child = &place.collection.children[index];
        let column = self.column(child.start);
        let written = self.written(place, new, column);
        if !place.collection.flow {
            let breaks = self.habits.line_break.repeat(apart);
            let text = format!("{breaks}{}{written}", self.emitter.line(column));
            self.splices.insert(self.extent(child), text);
        } else if self.has_own_lines(child, child) {
            let line = self.emitter.line(column);
            match child.comma {
                Some(comma) => {
                    self.splices.insert(line_end(self.text(), comma), format!("{line}{written},"));
                }
                None => {
                    self.splices.insert(child.value.end, ",");
                    let end = line_end(self.text(), child.value.end);
                    self.splices.insert(end, format!("{line}{written}"));
                }
            }
        } else {
            self.splices.insert(child.value.end, format!(", {written}"));
        }
    }

    /// Puts something new before the first child.
    pub(super) fn insert_first(&mut self, place: Place<'_>, new: New<'_>) {
        let Some(first) = place.collection.children.first() else { return };
        let column = self.column(first.start);
        let written = self.written(place, new, column);
        if place.collection.flow {
            let comma = if self.has_own_lines(first, first) {
                format!(",{}", self.emitter.line(column))
            } else {
                ", ".to_owned()
            };
            self.splices.insert(first.start, format!("{written}{comma}"));
        } else if is_first_on_line(self.text(), first.start) {
            let breaks = self.habits.line_break.repeat(1 + self.apart(place, 0, new));
            let at = self.lead(first, place.node.head);
            self.splices.insert(at, format!("{}{written}{breaks}", " ".repeat(column)));
        } else {
            self.splices.insert(first.start, format!("{written}{}", self.emitter.line(column)));
        }
    }

    /// Takes children out, with their own comments and the empty lines that set them apart.
    pub(super) fn remove(&mut self, place: Place<'_>, run: Range<usize>) {
        let children = &place.collection.children;
        let (Some(first), Some(last)) = (children.get(run.start), children[..run.end].last())
        else {
            return;
        };
        let before = run.start.checked_sub(1).map(|index| &children[index]);
        let after = children.get(run.end);
        if place.collection.flow {
            self.remove_flow(place, before, first, last, after);
        } else if is_first_on_line(self.text(), first.start) {
            self.remove_lines(place, before, first, last, after.is_some());
        } else if let Some(after) = after {
            // The first member behind a dash: the next one takes its place.
            self.splices.remove(first.start, after.start);
        }
    }

    fn remove_lines(
        &mut self,
        place: Place<'_>,
        before: Option<&Child>,
        first: &Child,
        last: &Child,
        is_followed: bool,
    ) {
        let text = self.text();
        let floor = before.map_or(place.node.head, |before| self.extent(before));
        let start = self.lead(first, floor);
        let end = self.extent(last);
        if before.is_some() || !is_followed {
            let start = above_blank_lines(text, start, floor);
            self.splices.remove(end_of_line_before(text, start), end);
        } else {
            let mut next = next_line(text, end);
            while let Some(start) = next.filter(|start| is_blank(line_at(text, *start))) {
                next = next_line(text, start);
            }
            self.splices.remove(start, next.unwrap_or(text.len()));
        }
    }

    fn remove_flow(
        &mut self,
        place: Place<'_>,
        before: Option<&Child>,
        first: &Child,
        last: &Child,
        after: Option<&Child>,
    ) {
        let text = self.text();
        let last_end = last.comma.map_or(last.value.end, |comma| comma + 1);
        if self.has_own_lines(first, last) {
            let floor = before.map_or(place.node.head, |before| before.value.end);
            let start = self.lead(first, floor);
            if before.is_none() && after.is_some() {
                let next = next_line(text, last_end).unwrap_or(text.len());
                self.splices.remove(start, next);
                return;
            }
            if let (Some(comma), None) = (before.and_then(|before| before.comma), last.comma) {
                self.splices.remove(comma, comma + 1);
            }
            self.splices.remove(end_of_line_before(text, start), line_end(text, last_end));
        } else {
            match (before.and_then(|before| before.comma), after) {
                (Some(comma), _) => self.splices.remove(comma, last.value.end),
                (None, Some(after)) => self.splices.remove(first.start, after.start),
                (None, None) => self.splices.remove(first.start, last_end),
            }
        }
    }

    /// The start of the first of a child's lines: those of the comments directly above belong to
    /// it, unless they are further in or at or before `floor`.
    fn lead(&self, child: &Child, floor: usize) -> usize {
        let text = self.text();
        let own = self.column(child.start);
        let mut start = line_start(text, child.start);
        while start > 0 {
            let above = line_start(text, end_of_line_before(text, start));
            let line = line_at(text, above);
            let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
            if above <= floor || !is_comment(line) || indent > own {
                break;
            }
            start = above;
        }
        start
    }

    fn written(&self, place: Place<'_>, new: New<'_>, column: usize) -> String {
        match (new, place.collection.flow) {
            (New::Item(value), false) => self.emitter.item(value, place.role, column),
            (New::Item(value), true) => {
                let role = super::style::item_role(place.role);
                self.emitter.flow_at(value, &role, column)
            }
            (New::Member(key, value), false) => self.emitter.member(key, value, column),
            (New::Member(key, value), true) => self.emitter.flow_member(key, value, column),
        }
    }

    /// How many empty lines go between the child at `index` and something new behind it.
    fn apart(&self, place: Place<'_>, index: usize, new: New<'_>) -> usize {
        let children = &place.collection.children;
        if matches!(new, New::Member(..)) || self.keeps_blank_lines(&children[index].value) {
            return 0;
        }
        match children.as_slice() {
            [.., before, last] => {
                let between = before.value.end..last.start;
                blank_lines(self.text(), between).min(MAX_BLANK_LINES)
            }
            _ => self.habits.apart(place.role),
        }
    }

    /// Whether empty lines behind a value would become part of it: its end is a `|+` block.
    fn keeps_blank_lines(&self, node: &Node) -> bool {
        match &node.form {
            Form::Block { header_end, .. } => self.text()[node.head..*header_end].contains('+'),
            Form::Seq(collection) | Form::Map(collection) if !collection.flow => {
                collection.children.last().is_some_and(|last| self.keeps_blank_lines(&last.value))
            }
            _ => false,
        }
    }

    /// Whether children of a flow collection have lines to themselves.
    fn has_own_lines(&self, first: &Child, last: &Child) -> bool {
        let text = self.text();
        let end = last.comma.map_or(last.value.end, |comma| comma + 1);
        let rest = &text[end..line_end(text, end)];
        let ends = is_comment(rest) || is_blank(rest) && line_end(text, end) < text.len();
        ends && is_first_on_line(text, first.start)
    }
}

/// The start of the first of the empty lines above the line that starts at `start`, down from
/// `floor`.
fn above_blank_lines(text: &str, mut start: usize, floor: usize) -> usize {
    while start > 0 {
        let above = line_start(text, end_of_line_before(text, start));
        if above <= floor || !is_blank(line_at(text, above)) {
            break;
        }
        start = above;
    }
    start
}
