//! The operand of `var`: JSONata, or a path of JSON Logic.

use std::sync::Arc;

use indexmap::IndexMap;
use mcpgraph_value::Value;
use parking_lot::Mutex;

use super::coerce::Js;
use crate::budget::Meter;
use crate::{ExprError, Jsonata, Scope};

/// How many computed operands are kept compiled.
const MAX_COMPUTED: usize = 64;

/// A place in the local scope.
pub(super) enum Operand {
    /// All of it.
    Whole,
    /// Names and indexes from the scope down, as JSON Logic follows them.
    Path(Vec<Box<str>>),
    /// Whatever the expression says.
    Jsonata(Box<Jsonata>),
}

/// The operands that rules computed, the oldest first.
#[derive(Default)]
pub(super) struct Computed(Mutex<IndexMap<Arc<str>, Arc<Operand>>>);

impl Operand {
    /// The operand that a text means.
    pub(super) fn text(text: &str) -> Result<Self, ExprError> {
        if text.is_empty() {
            Ok(Self::Whole)
        } else if is_indexed_path(text) {
            Ok(Self::path(text))
        } else {
            Jsonata::compile(text).map(Box::new).map(Self::Jsonata)
        }
    }

    /// A path of JSON Logic.
    pub(super) fn path(text: &str) -> Self {
        Self::Path(text.split('.').map(Into::into).collect())
    }

    /// Whether it is this name and nothing else.
    pub(super) fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Jsonata(expression) if expression.source() == name)
    }

    /// What it points at; undefined where there is nothing.
    pub(super) fn find(&self, scope: &Arc<dyn Scope>, meter: &Meter<'_>) -> Result<Js, ExprError> {
        let found = match self {
            Self::Whole => Some(scope.context()),
            Self::Path(names) => follow(scope.as_ref(), names),
            Self::Jsonata(expression) => expression.eval_metered(scope, meter)?,
        };
        Ok(found.map_or(Js::Undefined, Js::Json))
    }
}

impl Computed {
    /// The operand that a computed text means.
    pub(super) fn operand(&self, text: &str) -> Result<Arc<Operand>, ExprError> {
        if let Some(known) = self.0.lock().get(text) {
            return Ok(Arc::clone(known));
        }
        let operand = Arc::new(Operand::text(text)?);
        let mut kept = self.0.lock();
        if kept.len() >= MAX_COMPUTED {
            kept.shift_remove_index(0);
        }
        kept.insert(text.into(), Arc::clone(&operand));
        Ok(operand)
    }
}

/// Whether a text is names and numbers with dots between them, a number among them.
fn is_indexed_path(text: &str) -> bool {
    let is_number = |name: &str| name.bytes().all(|byte| byte.is_ascii_digit());
    let is_name = |name: &str| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '-'))
    };
    text.split('.').all(is_name) && text.split('.').any(is_number)
}

fn follow(scope: &dyn Scope, names: &[Box<str>]) -> Option<Value> {
    let (first, rest) = names.split_first()?;
    let start = if scope.is_object() {
        scope.output(first)?
    } else {
        member(&scope.context(), first)?.clone()
    };
    rest.iter().try_fold(&start, |value, name| member(value, name)).cloned()
}

fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    match value {
        Value::Object(members) => members.get(name),
        // `00` is not an index in JavaScript, nor is `+1`.
        Value::Array(items)
            if name == "0" || name.starts_with(|c: char| matches!(c, '1'..='9')) =>
        {
            items.as_slice().get(name.parse::<usize>().ok()?)
        }
        _ => None,
    }
}
