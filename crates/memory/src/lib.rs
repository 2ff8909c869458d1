//! What the program holds in memory.
//!
//! Its allocator is the system's, and for threads that serve calls the blocks that the calls before
//! gave back; it lets go of code that only a start needs ([`let_go_of_code`]), and fetches what another
//! processor has ([`fetch_to_write`]).
//!
//! A call takes some two hundred small blocks and gives all of them back. The system's allocator
//! merges and splits them as if it had never seen their sizes before; here a thread that called
//! [`begin`] puts a block on the list of its size, and takes it from there, until [`end`].
//!
//! Owns nothing but these lists, and knows nothing of what memory is used for. It is the only crate
//! with unsafe code. What makes it sound:
//! - whether a block is on a list is decided by its layout alone, and all blocks of a list have the
//!   size and alignment of its `class`, whichever thread they come from;
//! - a list is reached by its own thread only, and never while it is being changed: nothing in here
//!   allocates.

mod code;
mod fetch;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

pub use self::code::let_go_of_code;
pub use self::fetch::fetch_to_write;

/// How many bytes a thread keeps at most.
pub const MAX_KEPT_BYTES: usize = 1024 * 1024;

/// How many bytes it keeps at most of one size, but always a few blocks.
const MAX_KEPT_OF_ONE_SIZE: usize = 128 * 1024;
const FEW: usize = 4;
const MANY: usize = 256;

/// After so many blocks that there was no room for, those of sizes that were not asked for meanwhile
/// go to the system. They come from other threads, and would be in the place of what is needed.
const PATIENCE: u16 = 1024;

/// The sizes that are kept: 24, 40, 56 … 8200 bytes. These are what glibc makes of any other, so that
/// nothing is lost by rounding up to them.
const USUAL: usize = 512;
const SMALLEST: usize = 24;
const STEP: usize = 16;
const ALIGNMENT: usize = 16;

/// The sizes that are kept of blocks with a larger alignment, as tasks of tokio have it: 128, 256 …
/// 8192 bytes. The system takes them out of the middle of larger ones.
const ALIGNED: usize = 64;
const LARGE_ALIGNMENT: usize = 128;

/// How many lists there are.
const CLASSES: usize = USUAL + ALIGNED;

/// The allocator.
pub struct Keeping;

/// What a thread keeps.
struct Kept {
    /// The first free block of each size; it begins with the address of the next.
    first: [Cell<*mut u8>; CLASSES],
    /// How many more blocks of each size may be kept: none, before [`begin`].
    room: [Cell<u16>; CLASSES],
    bytes: Cell<usize>,
    /// Of which sizes a block was asked for since it was last looked which are not needed.
    wanted: [Cell<bool>; CLASSES],
    /// For how many blocks there was no room since then.
    refused: Cell<u16>,
    has_begun: Cell<bool>,
}

thread_local! {
    // Constant and without a destructor, so that it can be used at any time, also at the end of a
    // thread.
    static KEPT: Kept = const {
        Kept {
            first: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            room: [const { Cell::new(0) }; CLASSES],
            bytes: Cell::new(0),
            wanted: [const { Cell::new(false) }; CLASSES],
            refused: Cell::new(0),
            has_begun: Cell::new(false),
        }
    };
}

/// From now on this thread keeps blocks that it gives back.
pub fn begin() {
    KEPT.with(|kept| {
        if !kept.has_begun.replace(true) {
            for (class, room) in kept.room.iter().enumerate() {
                let most = (MAX_KEPT_OF_ONE_SIZE / size_of_class(class)).clamp(FEW, MANY);
                // It is at most `MANY`.
                room.set(u16::try_from(most).unwrap_or(u16::MAX));
            }
        }
    });
}

/// This thread keeps nothing any more.
pub fn end() {
    KEPT.with(|kept| {
        for class in 0..CLASSES {
            kept.give_back(class);
            kept.room[class].set(0);
        }
        kept.has_begun.set(false);
    });
}

/// How many bytes this thread keeps.
#[must_use]
pub fn kept_bytes() -> usize {
    KEPT.with(|kept| kept.bytes.get())
}

impl Kept {
    /// Takes a block from a list.
    #[inline]
    fn take(&self, class: usize) -> Option<*mut u8> {
        let block = self.first[class].get();
        if block.is_null() {
            return None;
        }
        // SAFETY: a block on a list begins with what `put` wrote there, and nobody else has it.
        let first = unsafe { next(block).read() };
        self.first[class].set(first);
        self.room[class].set(self.room[class].get() + 1);
        self.bytes.set(self.bytes.get() - size_of_class(class));
        Some(block)
    }

    /// Gives all blocks of a size to the system.
    fn give_back(&self, class: usize) {
        while let Some(block) = self.take(class) {
            // SAFETY: the system gave the block for this layout, and nobody else has it.
            unsafe { System.dealloc(block, layout_of_class(class)) };
        }
    }

    /// There is no room for a block, and now and then some is made.
    #[cold]
    fn refuse(&self) {
        self.refused.set(self.refused.get() + 1);
        if self.refused.get() < PATIENCE {
            return;
        }
        self.refused.set(0);
        for class in 0..CLASSES {
            if !self.wanted[class].replace(false) {
                self.give_back(class);
            }
        }
    }

    /// Puts a block on a list; false if it is not kept.
    ///
    /// # Safety
    /// The block is of this class, and whoever calls gives it up.
    #[inline]
    unsafe fn put(&self, block: *mut u8, class: usize) -> bool {
        let room = self.room[class].get();
        let bytes = self.bytes.get() + size_of_class(class);
        if room == 0 {
            return false;
        }
        if bytes > MAX_KEPT_BYTES {
            self.refuse();
            return false;
        }
        // SAFETY: the block is larger than an address and aligned for one, and it is ours.
        unsafe { next(block).write(self.first[class].get()) };
        self.first[class].set(block);
        self.room[class].set(room - 1);
        self.bytes.set(bytes);
        true
    }
}

/// Where a block on a list has the address of the next. It is aligned to more than that.
fn next(block: *mut u8) -> *mut *mut u8 {
    block.cast()
}

/// The list a block belongs to, by what was asked for; none if it is too large or special.
#[inline]
fn class(layout: Layout) -> Option<usize> {
    if layout.align() <= ALIGNMENT {
        let class = layout.size().saturating_sub(SMALLEST).div_ceil(STEP);
        return (class < USUAL).then_some(class);
    }
    let class = layout.size().saturating_sub(1) / LARGE_ALIGNMENT;
    (class < ALIGNED && layout.align() <= LARGE_ALIGNMENT).then_some(USUAL + class)
}

#[inline]
const fn size_of_class(class: usize) -> usize {
    if class < USUAL { SMALLEST + class * STEP } else { (class - USUAL + 1) * LARGE_ALIGNMENT }
}

#[inline]
fn layout_of_class(class: usize) -> Layout {
    let alignment = if class < USUAL { ALIGNMENT } else { LARGE_ALIGNMENT };
    // SAFETY: the alignment is a power of two, and no size of a class comes near the largest there is.
    unsafe { Layout::from_size_align_unchecked(size_of_class(class), alignment) }
}

// SAFETY: a block comes from the system, with the layout that was asked for or the larger one of its
// class, and goes back to the system with the same; in between it is on one list or belongs to one
// caller.
unsafe impl GlobalAlloc for Keeping {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(class) = class(layout) else {
            // SAFETY: this is what the caller asks for.
            return unsafe { System.alloc(layout) };
        };
        let block = KEPT.with(|kept| {
            kept.wanted[class].set(true);
            kept.take(class)
        });
        match block {
            Some(block) => block,
            // SAFETY: the size of a class is not zero.
            None => unsafe { System.alloc(layout_of_class(class)) },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        let Some(class) = class(layout) else {
            // SAFETY: `alloc` took it from the system with this layout.
            return unsafe { System.dealloc(block, layout) };
        };
        // SAFETY: by its layout it is of this class, and the caller gives it up.
        let is_kept = KEPT.with(|kept| unsafe { kept.put(block, class) });
        if !is_kept {
            // SAFETY: the system gave it for the layout of its class.
            unsafe { System.dealloc(block, layout_of_class(class)) };
        }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if class(layout).is_none() {
            // SAFETY: this is what the caller asks for. The system knows memory that is zero already.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: this is what the caller asks for.
        let block = unsafe { self.alloc(layout) };
        if !block.is_null() {
            // SAFETY: the block is at least so long.
            unsafe { block.write_bytes(0, layout.size()) };
        }
        block
    }

    #[inline]
    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller promises that the size is not zero and does not overflow.
        let wanted = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (class(layout), class(wanted)) {
            (Some(before), Some(after)) if before == after => block,
            // SAFETY: the system gave the block for this layout.
            (None, None) => unsafe { System.realloc(block, layout, size) },
            _ => {
                // SAFETY: the size is not zero.
                let moved = unsafe { self.alloc(wanted) };
                if !moved.is_null() {
                    let length = layout.size().min(size);
                    // SAFETY: both are at least so long, and no block is part of another.
                    unsafe { ptr::copy_nonoverlapping(block, moved, length) };
                    // SAFETY: the caller gives the block up for the new one.
                    unsafe { self.dealloc(block, layout) };
                }
                moved
            }
        }
    }
}
