//! Dropping without recursion: a value nested a million deep must not overflow the stack.

use std::sync::Arc;

use crate::{Array, Object, Value};

impl Drop for Array {
    fn drop(&mut self) {
        if let Some(items) = Arc::get_mut(&mut self.0)
            && items.iter().any(is_container)
        {
            dismantle(std::mem::take(items));
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Some(members) = Arc::get_mut(&mut self.0)
            && members.values().any(is_container)
        {
            dismantle(members.drain_values().collect());
        }
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Array(_) | Value::Object(_))
}

/// Takes the insides out of every container nobody else holds before the container itself goes.
fn dismantle(mut pending: Vec<Value>) {
    while let Some(mut value) = pending.pop() {
        match &mut value {
            Value::Array(items) => {
                if let Some(items) = Arc::get_mut(&mut items.0) {
                    pending.append(items);
                }
            }
            Value::Object(members) => {
                if let Some(members) = Arc::get_mut(&mut members.0) {
                    pending.extend(members.drain_values());
                }
            }
            _ => {}
        }
    }
}
