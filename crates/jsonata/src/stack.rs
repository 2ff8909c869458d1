//! Recursion that cannot overflow: every recursive function of the crate goes through here and
//! counts its depth against a limit.

/// What must be left of the stack before one more level is entered.
const RED_ZONE: usize = 128 * 1024;

/// How much is added when it is not.
const SEGMENT: usize = 1024 * 1024;

/// Runs `enter` with enough stack for one level, whatever the stack of the thread.
pub(crate) fn grow<R>(enter: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE, SEGMENT, enter)
}
