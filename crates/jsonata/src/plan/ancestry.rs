use super::{Node, NodeKind, Slot};
use crate::Span;
use crate::syntax::ast::Literal;
use crate::syntax::error::{Fault, SyntaxError};

/// Finds, for every `%`, the step whose input it means.
///
/// A slot starts one level above its `%`. Walking back over a step takes one level off it, walking
/// back over another `%` adds one; the step at which none is left is the one.
#[derive(Default)]
pub(super) struct Ancestry {
    /// How many levels up each slot still has to look.
    levels: Vec<usize>,
    pub(super) errors: Vec<SyntaxError>,
}

impl Ancestry {
    pub(super) fn new_slot(&mut self) -> Slot {
        self.levels.push(1);
        self.levels.len() - 1
    }

    /// Hands on to `outer` what `inner` could not find inside itself.
    pub(super) fn push(outer: &mut Vec<Slot>, inner: &Node) {
        outer.extend(&inner.seeking);
        if let NodeKind::Parent(slot) = inner.kind {
            outer.push(slot);
        }
    }

    /// The predicate of `step` looks for parents from inside the step.
    pub(super) fn enter_predicate(&mut self, step: &mut Node, predicate: &Node) {
        if predicate.seeking.is_empty() {
            return;
        }
        for &slot in &predicate.seeking {
            if self.levels[slot] == 1 {
                self.seek(step, slot);
            } else {
                self.levels[slot] = self.levels[slot].saturating_sub(1);
            }
        }
        Self::push(&mut step.seeking, predicate);
    }

    /// The last step of `path` has just been added; its slots look among those before it.
    pub(super) fn resolve(&mut self, path: &mut Node) {
        let Node { kind: NodeKind::Path { steps, .. }, seeking, .. } = path else { return };
        let Some((last, before)) = steps.split_last_mut() else { return };
        let mut slots = last.seeking.clone();
        if let NodeKind::Parent(slot) = last.kind {
            slots.push(slot);
        }
        for slot in slots {
            let mut rest = &mut *before;
            while self.levels[slot] > 0 {
                let Some((step, earlier)) = rest.split_last_mut() else {
                    seeking.push(slot);
                    break;
                };
                // Of several steps in a row that bind `@`, only the first has the parent as input.
                let mut step = step;
                rest = earlier;
                while step.step.focus.is_some()
                    && rest.last().is_some_and(|step| step.step.focus.is_some())
                {
                    let Some((first, earlier)) = std::mem::take(&mut rest).split_last_mut() else {
                        break;
                    };
                    (step, rest) = (first, earlier);
                }
                if !self.seek(step, slot) {
                    break;
                }
            }
        }
    }

    /// Walks back over one step; false if that is impossible, which is then reported.
    fn seek(&mut self, step: &mut Node, slot: Slot) -> bool {
        match &mut step.kind {
            NodeKind::Name(_) | NodeKind::Wildcard => {
                self.levels[slot] = self.levels[slot].saturating_sub(1);
                if self.levels[slot] == 0 {
                    step.step.ancestors.push(slot);
                    step.step.tuple = true;
                }
                true
            }
            NodeKind::Parent(_) => {
                self.levels[slot] += 1;
                true
            }
            NodeKind::Block(block) => match block.items.last_mut() {
                Some(last) => {
                    step.step.tuple = true;
                    self.seek(last, slot)
                }
                None => true,
            },
            NodeKind::Path { steps, .. } => {
                step.step.tuple = true;
                let mut found = true;
                for (back, inner) in steps.iter_mut().rev().enumerate() {
                    if !found || (back > 0 && self.levels[slot] == 0) {
                        break;
                    }
                    found = self.seek(inner, slot);
                }
                found
            }
            _ => {
                self.no_parent(step, step.token);
                false
            }
        }
    }

    pub(super) fn no_parent(&mut self, node: &Node, span: Span) {
        let error = Fault::NoParent(kind_name(&node.kind)).at(span);
        self.errors.push(SyntaxError { position: node.position(), ..error });
    }
}

/// The word the reference implementation uses for a kind of node.
fn kind_name(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::Path { .. } => "path",
        NodeKind::Literal(Literal::Number(_)) => "number",
        NodeKind::Literal(Literal::String(_)) => "string",
        NodeKind::Literal(_) => "value",
        NodeKind::Regex(_) => "regex",
        NodeKind::Name(_) => "name",
        NodeKind::Variable(_) | NodeKind::Context => "variable",
        NodeKind::Wildcard => "wildcard",
        NodeKind::Descendants => "descendant",
        NodeKind::Parent(_) => "parent",
        NodeKind::Placeholder => "operator",
        NodeKind::Sort(_) => "sort",
        NodeKind::Negate(_) | NodeKind::Array(_) | NodeKind::Object(_) => "unary",
        NodeKind::Binary { .. } => "binary",
        NodeKind::Chain { .. } => "apply",
        NodeKind::Bind { .. } => "bind",
        NodeKind::Condition { .. } | NodeKind::Elvis { .. } | NodeKind::Coalesce { .. } => {
            "condition"
        }
        NodeKind::Block(_) => "block",
        NodeKind::Call(_) => "function",
        NodeKind::Partial(_) => "partial",
        NodeKind::Lambda(_) => "lambda",
        NodeKind::Transform(_) => "transform",
    }
}
