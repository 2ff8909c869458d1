//! Scopes of variables.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use crate::item::Item;
use crate::plan::Slot;
use crate::stack;

/// A scope and those around it.
pub(crate) type Scope = Rc<Frame>;

/// One scope.
pub(crate) struct Frame {
    bindings: RefCell<Vec<(Key, Option<Item>)>>,
    parent: Option<Scope>,
    is_captured: Cell<bool>,
}

/// What a binding is found by.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Key {
    Name(Arc<str>),
    /// What a `%` refers to.
    Parent(Slot),
}

/// What a scope knows of a name.
pub(crate) enum Lookup {
    /// It has this value, or is bound to none.
    Bound(Option<Item>),
    /// No scope has it.
    Unbound,
}

impl Frame {
    pub(crate) fn root() -> Scope {
        Rc::new(Self { bindings: RefCell::default(), parent: None, is_captured: Cell::new(false) })
    }

    pub(crate) fn inside(parent: &Scope, bindings: Vec<(Key, Option<Item>)>) -> Scope {
        Rc::new(Self {
            bindings: RefCell::new(bindings),
            parent: Some(parent.clone()),
            is_captured: Cell::new(false),
        })
    }

    /// Sets a variable of this scope.
    pub(crate) fn bind(&self, key: Key, value: Option<Item>) {
        let mut bindings = self.bindings.borrow_mut();
        match bindings.iter_mut().find(|(bound, _)| *bound == key) {
            Some((_, slot)) => *slot = value,
            None => bindings.push((key, value)),
        }
    }

    /// Looks a variable up, outwards.
    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        self.find(|key| matches!(key, Key::Name(bound) if **bound == *name))
    }

    pub(crate) fn lookup_parent(&self, slot: Slot) -> Option<Item> {
        match self.find(|key| *key == Key::Parent(slot)) {
            Lookup::Bound(item) => item,
            Lookup::Unbound => None,
        }
    }

    fn find(&self, matches: impl Fn(&Key) -> bool) -> Lookup {
        let mut frame = self;
        loop {
            let bindings = frame.bindings.borrow();
            if let Some((_, value)) = bindings.iter().find(|(key, _)| matches(key)) {
                return Lookup::Bound(value.clone());
            }
            match frame.parent.as_deref() {
                Some(parent) => frame = parent,
                None => return Lookup::Unbound,
            }
        }
    }
}

/// The scopes that functions have captured.
///
/// A function that is bound in the scope it captured keeps itself alive; when the evaluation is
/// over, emptying those scopes lets everything go.
#[derive(Default)]
pub(crate) struct Captures {
    frames: Vec<Weak<Frame>>,
    sweep_at: usize,
}

/// How many captured scopes are noted before those that are gone are forgotten.
const FIRST_SWEEP: usize = 1024;

impl Captures {
    pub(crate) fn add(&mut self, scope: &Scope) {
        if scope.is_captured.replace(true) {
            return;
        }
        if self.frames.len() >= self.sweep_at {
            self.frames.retain(|frame| frame.strong_count() > 0);
            self.sweep_at = FIRST_SWEEP.max(self.frames.len() * 2);
        }
        self.frames.push(Rc::downgrade(scope));
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        for frame in self.frames.drain(..) {
            if let Some(frame) = frame.upgrade() {
                let bindings = frame.bindings.take();
                drop(bindings);
            }
        }
    }
}

impl Drop for Frame {
    /// Scopes hold functions that hold scopes; long chains of them must not overflow the stack.
    fn drop(&mut self) {
        let bindings = self.bindings.take();
        let parent = self.parent.take();
        stack::grow(|| drop((bindings, parent)));
    }
}
