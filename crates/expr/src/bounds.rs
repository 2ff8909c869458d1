//! Results are checked before they leave: a small program can build a value that shares its parts
//! so often that nobody could write it down.

use mcpgraph_value::{MAX_DEPTH, Value};

use crate::budget::Meter;
use crate::{ExprError, Limit, code};

/// The bytes that a value takes, its insides apart.
pub(crate) const CELL: usize = size_of::<Value>();

/// About the bytes that an object takes beside its members, and a member beside its key and value.
pub(crate) const OBJECT: usize = 96;
pub(crate) const MEMBER: usize = 40;

/// Whether a result is within the bytes and the depth it may have; the walk stops at the limit.
pub(crate) fn check(value: &Value, meter: &Meter<'_>) -> Result<(), ExprError> {
    let own = |value: &Value| match value {
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => CELL,
        Value::String(text) => CELL + text.len(),
        Value::Object(members) => {
            CELL + OBJECT + members.keys().map(|key| MEMBER + key.len()).sum::<usize>()
        }
    };
    let mut checked = meter.spend(own(value));
    if checked.is_ok() {
        value.walk(|depth, inner| {
            checked = if depth > MAX_DEPTH { Err(too_deep()) } else { meter.spend(own(inner)) };
            checked.is_ok()
        });
    }
    checked
}

pub(crate) fn too_deep() -> ExprError {
    ExprError::exceeded(
        code::DEPTH,
        Limit::Depth,
        format!("a value nests deeper than the limit of {MAX_DEPTH} levels"),
    )
}
