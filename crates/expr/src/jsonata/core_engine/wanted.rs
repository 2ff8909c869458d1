//! The parts of the context that have to be converted for an expression.

use std::sync::Arc;

use indexmap::IndexMap;
use jsonata_core::value::JValue;
use mcpgraph_jsonata::Program;
use mcpgraph_jsonata::ast::{Expr, ExprKind};
use mcpgraph_value::Value;

use super::convert::{MAX_CONTEXT_DEPTH, to_engine};
use crate::bounds::too_deep;
use crate::{ExprError, Scope};

/// A tree of the paths an expression reads.
#[derive(Default)]
pub(super) struct Wanted {
    /// Everything below this place.
    all: bool,
    members: IndexMap<Arc<str>, Wanted>,
}

impl Wanted {
    /// What an expression reads. A path counts as far as nothing but names and dots are in it,
    /// because a predicate reads more of its step than the rest of the path tells.
    pub(super) fn by(program: &Program) -> Self {
        let reads = program.reads();
        let mut wanted = Self { all: reads.whole_context, ..Self::default() };
        if wanted.all || leaves_its_path(program.syntax()) {
            wanted.all = true;
            return wanted;
        }
        for path in &reads.paths {
            let mut place = &mut wanted;
            let mut end = None;
            for segment in &path.segments {
                let range = segment.span.range();
                let between = end.and_then(|end: usize| program.source().get(end..range.start));
                if between.is_some_and(|text| text.trim() != ".") {
                    break;
                }
                place = place.members.entry(Arc::clone(&segment.name)).or_default();
                end = Some(range.end);
            }
            place.all = true;
        }
        wanted
    }

    /// The parts of a context.
    pub(super) fn of_context(&self, scope: &dyn Scope) -> Result<JValue, ExprError> {
        if self.all || !scope.is_object() {
            return to_engine(&scope.context(), 0);
        }
        let mut members = IndexMap::new();
        for (name, wanted) in &self.members {
            if let Some(output) = scope.output(name) {
                members.insert(name.to_string(), wanted.of(&output, 1)?);
            }
        }
        Ok(JValue::object(members))
    }

    /// The parts of a value; in an array, of each of its items.
    fn of(&self, value: &Value, depth: usize) -> Result<JValue, ExprError> {
        if depth > MAX_CONTEXT_DEPTH {
            return Err(too_deep());
        }
        match value {
            Value::Object(members) if !self.all => {
                let mut taken = IndexMap::new();
                for (name, wanted) in &self.members {
                    if let Some(member) = members.get(name) {
                        taken.insert(name.to_string(), wanted.of(member, depth + 1)?);
                    }
                }
                Ok(JValue::object(taken))
            }
            Value::Array(items) if !self.all => {
                let items: Result<_, _> =
                    items.iter().map(|item| self.of(item, depth + 1)).collect();
                Ok(JValue::array(items?))
            }
            _ => to_engine(value, depth),
        }
    }
}

/// Whether an expression can come from a path to what the path does not name: by `%`, by `@`, which
/// lets the next step start where its own did, or by a function that takes the context where it
/// gets no argument.
fn leaves_its_path(syntax: &Expr) -> bool {
    let mut pending = vec![syntax];
    while let Some(expr) = pending.pop() {
        match &expr.kind {
            ExprKind::Parent | ExprKind::Focus { .. } => return true,
            ExprKind::Lambda(lambda) if lambda.signature.is_some() => return true,
            _ => pending.extend(expr.children()),
        }
    }
    false
}
