//! A panic in the engine is an error of the expression; `$parseInteger('12', '٠')` is one that does.

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

#[cfg(test)]
mod tests {
    use super::catch;
    use crate::code;

    #[test]
    fn a_panic_is_an_error() {
        assert_eq!(catch(|| 1), Ok(1));
        let error = catch(|| panic!("no {}", 1)).map(|()| 0).unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.message.as_str()),
            (code::INTERNAL, "the JSONata engine failed: no 1",)
        );
    }
}
