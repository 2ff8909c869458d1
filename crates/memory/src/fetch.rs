use std::mem::{MaybeUninit, size_of_val};

/// The pieces in which processors move memory between each other.
const LINE_BYTES: usize = 64;

/// So many are fetched at most. A processor waits for few at a time, and for no more while it does
/// something else.
const MAX_LINES: usize = 32;

/// Begins to fetch memory that is about to be written, and that another processor has read. It comes
/// while this one does something else; whoever writes there and takes a lock next waits for all of it
/// otherwise.
///
/// Nothing depends on it. Where it is not known how to ask for memory, nothing is done.
pub fn fetch_to_write<T>(room: &mut [MaybeUninit<T>]) {
    let bytes = size_of_val(room).min(MAX_LINES * LINE_BYTES);
    let start: *const u8 = room.as_ptr().cast();
    for line in (0..bytes).step_by(LINE_BYTES) {
        fetch(start.wrapping_add(line));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn fetch(line: *const u8) {
    // SAFETY: it changes no memory and no register, and an address that there is nothing at is no
    // error. Processors that do not know it do nothing.
    unsafe {
        std::arch::asm!(
            "prefetchw [{}]",
            in(reg) line,
            options(nostack, preserves_flags, readonly)
        );
    }
}

#[cfg(target_arch = "aarch64")]
#[inline]
fn fetch(line: *const u8) {
    // SAFETY: it changes no memory and no register, and an address that there is nothing at is no
    // error.
    unsafe {
        std::arch::asm!(
            "prfm pstl1keep, [{}]",
            in(reg) line,
            options(nostack, preserves_flags, readonly)
        );
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn fetch(_: *const u8) {}
