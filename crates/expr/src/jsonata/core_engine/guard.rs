//! A panic in the engine is an error of the expression.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::{ExprError, code};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; if it panics, nothing is printed and the error says what happened.
pub(super) fn catch<R>(work: impl FnOnce() -> R) -> Result<R, ExprError> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                before(info);
            }
        }));
    });
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.map_err(|panic| {
        let reason = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("no reason given");
        ExprError::new(code::INTERNAL, format!("the JSONata engine failed: {reason}"))
    })
}
