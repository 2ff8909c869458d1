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
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        if depth > MAX_DEPTH {
            return Err(too_deep());
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => meter.spend(CELL)?,
            Value::String(text) => meter.spend(CELL + text.len())?,
            Value::Array(items) => {
                meter.spend(CELL)?;
                pending.extend(items.iter().map(|item| (item, depth + 1)));
            }
            Value::Object(members) => {
                meter.spend(CELL + OBJECT)?;
                for (key, member) in members.iter() {
                    meter.spend(MEMBER + key.len())?;
                    pending.push((member, depth + 1));
                }
            }
        }
    }
    Ok(())
}

pub(crate) fn too_deep() -> ExprError {
    ExprError::exceeded(
        code::DEPTH,
        Limit::Depth,
        format!("a value nests deeper than the limit of {MAX_DEPTH} levels"),
    )
}
