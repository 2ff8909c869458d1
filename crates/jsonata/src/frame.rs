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

/// What is left of calls that are over, for the next: a function that is called for each of many
/// items needs the same room each time.
#[derive(Default)]
pub(crate) struct Spare {
    scope: Option<Scope>,
    arguments: Vec<Arguments>,
}

/// How many lists of arguments are kept.
const MAX_SPARE: usize = 4;

impl Spare {
    /// An empty list of arguments.
    pub(crate) fn arguments(&mut self) -> Arguments {
        self.arguments.pop().unwrap_or_default()
    }
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
        spare: &mut Spare,
    ) -> Scope {
        arguments.resize(function.parameters.len(), None);
        if let Some(mut scope) = spare.scope.take()
            && let Some(frame) = Rc::get_mut(&mut scope)
        {
            frame.function = Some(Arc::clone(function));
            frame.arguments = RefCell::new(arguments);
            frame.parent = Some(parent.clone());
            return scope;
        }
        let function = Some(Arc::clone(function));
        Rc::new(Self::new(function, arguments, Vec::new(), Some(parent.clone())))
    }

    /// The call of this scope is over. Unless something holds it, or takes care to let go of, it is
    /// used again.
    pub(crate) fn spend(mut scope: Scope, spare: &mut Spare) {
        let Some(frame) = Rc::get_mut(&mut scope) else { return };
        if frame.needs_care() {
            return;
        }
        let mut arguments = frame.arguments.take();
        arguments.clear();
        if spare.arguments.len() < MAX_SPARE {
            spare.arguments.push(arguments);
        }
        frame.bindings.get_mut().clear();
        frame.parent = None;
        spare.scope = Some(scope);
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

    /// Whether what it holds may hold much more. Scopes hold functions that hold scopes; long chains
    /// of them must not overflow the stack.
    fn needs_care(&mut self) -> bool {
        let is_nested = |item: &Option<Item>| item.as_ref().is_some_and(Item::is_nested);
        self.parent.as_ref().is_some_and(|parent| Rc::strong_count(parent) == 1)
            || self.arguments.get_mut().iter().any(is_nested)
            || self.bindings.get_mut().iter().any(|(_, item)| is_nested(item))
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
    fn drop(&mut self) {
        if !self.needs_care() {
            return;
        }
        let held = (self.arguments.take(), self.bindings.take(), self.parent.take());
        stack::grow(|| drop(held));
    }
}
