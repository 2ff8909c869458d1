//! Scopes of variables.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};
use std::sync::Arc;

use crate::function::Arguments;
use crate::item::Item;
use crate::plan::{LambdaPlan, Slot};
use crate::stack;

/// A scope and those around it.
pub(crate) type Scope = Rc<Frame>;

/// One scope.
pub(crate) struct Frame {
    /// The function whose parameters are bound here, if it is the scope of a call.
    function: Option<Arc<LambdaPlan>>,
    /// The values of its parameters.
    arguments: RefCell<Arguments>,
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
        Rc::new(Self::new(None, Vec::new(), Vec::new(), None))
    }

    pub(crate) fn inside(parent: &Scope, bindings: Vec<(Key, Option<Item>)>) -> Scope {
        Rc::new(Self::new(None, Vec::new(), bindings, Some(parent.clone())))
    }

    /// The scope of a call: parameters for which nothing is given have no value.
    pub(crate) fn of_call(
        parent: &Scope,
        function: &Arc<LambdaPlan>,
        mut arguments: Arguments,
    ) -> Scope {
        arguments.resize(function.parameters.len(), None);
        let function = Some(Arc::clone(function));
        Rc::new(Self::new(function, arguments, Vec::new(), Some(parent.clone())))
    }

    fn new(
        function: Option<Arc<LambdaPlan>>,
        arguments: Arguments,
        bindings: Vec<(Key, Option<Item>)>,
        parent: Option<Scope>,
    ) -> Self {
        Self {
            function,
            arguments: RefCell::new(arguments),
            bindings: RefCell::new(bindings),
            parent,
            is_captured: Cell::new(false),
        }
    }

    /// Sets a variable of this scope.
    pub(crate) fn bind(&self, key: Key, value: Option<Item>) {
        if let Key::Name(name) = &key
            && let Some(place) = self.parameter(name)
        {
            self.arguments.borrow_mut()[place] = value;
            return;
        }
        let mut bindings = self.bindings.borrow_mut();
        match bindings.iter_mut().find(|(bound, _)| *bound == key) {
            Some((_, slot)) => *slot = value,
            None => bindings.push((key, value)),
        }
    }

    /// Looks a variable up, outwards.
    pub(crate) fn lookup(&self, name: &str) -> Lookup {
        let mut value = None;
        match self.look(name, |item| value = item.cloned()) {
            Some(()) => Lookup::Bound(value),
            None => Lookup::Unbound,
        }
    }

    /// Looks at the value of a variable where it is; none if no scope has it.
    pub(crate) fn look<R>(&self, name: &str, look: impl FnOnce(Option<&Item>) -> R) -> Option<R> {
        let mut frame = self;
        loop {
            if let Some(place) = frame.parameter(name) {
                return Some(look(frame.arguments.borrow()[place].as_ref()));
            }
            let is_it = |key: &Key| matches!(key, Key::Name(bound) if **bound == *name);
            if let Some((_, value)) = frame.bindings.borrow().iter().find(|(key, _)| is_it(key)) {
                return Some(look(value.as_ref()));
            }
            frame = frame.parent.as_deref()?;
        }
    }

    pub(crate) fn lookup_parent(&self, slot: Slot) -> Option<Item> {
        let mut frame = self;
        loop {
            let is_it = |key: &Key| *key == Key::Parent(slot);
            if let Some((_, value)) = frame.bindings.borrow().iter().find(|(key, _)| is_it(key)) {
                return value.clone();
            }
            frame = frame.parent.as_deref()?;
        }
    }

    /// Which parameter has a name; the last one, if several have.
    fn parameter(&self, name: &str) -> Option<usize> {
        let parameters = &self.function.as_ref()?.parameters;
        parameters.iter().rposition(|parameter| **parameter == *name)
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
                drop((frame.arguments.take(), frame.bindings.take()));
            }
        }
    }
}

impl Drop for Frame {
    /// Scopes hold functions that hold scopes; long chains of them must not overflow the stack.
    fn drop(&mut self) {
        let is_nested = |item: &Option<Item>| item.as_ref().is_some_and(Item::is_nested);
        if self.parent.as_ref().is_none_or(|parent| Rc::strong_count(parent) > 1)
            && !self.arguments.get_mut().iter().any(is_nested)
            && !self.bindings.get_mut().iter().any(|(_, item)| is_nested(item))
        {
            return;
        }
        let held = (self.arguments.take(), self.bindings.take(), self.parent.take());
        stack::grow(|| drop(held));
    }
}
