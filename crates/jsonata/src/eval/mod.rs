//! Evaluation of plans.

mod call;
mod check;
mod group;
mod operators;
mod path;
mod regex;
mod select;
mod sort;
mod transform;
mod tuple;

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use fastrand::Rng;
use mcpgraph_value::Value;

pub(crate) use regex::{Found, Matcher, Place};

use crate::bindings::{Binding, Bindings};
use crate::compare::{as_number, truth};
use crate::error::{EvalError, Failure, Outcome, fail, place};
use crate::frame::{Captures, Frame, Key, Lookup, Scope, Spare};
use crate::function::{Closure, Function, HostState};
use crate::item::{Item, Items, List};
use crate::limits::{Budget, Limits};
use crate::plan::{Block, Node, NodeKind, Plan, Variable};
use crate::stack;
use path::Straight;

/// What an evaluation works with besides the expression and its input.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    /// Variables and functions of the host.
    pub bindings: Bindings,
    /// What the host's functions work on.
    pub state: Option<Arc<HostState>>,
    /// What the evaluation may use.
    pub limits: Limits,
    /// The time `$now()` and `$millis()` tell, in milliseconds since 1970.
    pub now_millis: i64,
    /// Where `$random()` and `$shuffle()` begin, so that they can be repeated; none for chance.
    pub seed: Option<u64>,
    /// Set from outside to end the evaluation.
    pub cancelled: Option<Arc<AtomicBool>>,
}

/// Evaluates a plan on an input.
pub(crate) fn evaluate(
    plan: &Plan,
    input: Option<&Value>,
    environment: &Environment,
) -> Result<Option<Value>, EvalError> {
    let root = input.cloned().map(Item::Value);
    let mut evaluator = Evaluator {
        environment,
        budget: Budget::new(&environment.limits, environment.cancelled.clone()),
        random: environment.seed.map_or_else(Rng::new, Rng::with_seed),
        root: root.clone(),
        captures: Captures::default(),
        spare: Spare::default(),
    };
    let outcome = evaluator.budget.check_cancelled();
    let outcome = outcome
        .and_then(|()| evaluator.eval(&plan.root, root.map(wrap_array).as_ref(), &Frame::root()));
    outcome.map(|result| result.and_then(Item::into_value)).map_err(Failure::into_error)
}

/// An input that is an array is one input, not many.
pub(crate) fn wrap_array(input: Item) -> Item {
    if input.is_array() && !input.is_sequence() {
        let mut list = List::sequence(vec![input]);
        list.is_wrapper = true;
        return Item::List(Rc::new(list));
    }
    input
}

/// One evaluation under way.
pub(crate) struct Evaluator<'e> {
    pub(crate) environment: &'e Environment,
    pub(crate) budget: Budget,
    pub(crate) random: Rng,
    /// The input as a whole, `$$`.
    root: Option<Item>,
    captures: Captures,
    pub(crate) spare: Spare,
}

impl Evaluator<'_> {
    /// Evaluates a node in a context.
    pub(crate) fn eval(
        &mut self,
        node: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        self.budget.enter()?;
        let result = match &node.kind {
            NodeKind::Literal(literal) if node.is_bare() => {
                Ok(Some(Item::Value(literal.to_value())))
            }
            NodeKind::Path { steps, keep_singleton: false } if node.is_bare() => {
                match self.straight(steps, input, scope) {
                    Straight::Whole(result) => Ok(result),
                    _ => stack::grow(|| self.eval_node(node, input, scope)),
                }
            }
            _ => stack::grow(|| self.eval_node(node, input, scope)),
        };
        self.budget.leave();
        result
    }

    fn eval_node(
        &mut self,
        node: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let result = self.eval_kind(node, input, scope)?;
        self.finish(node, result, scope)
    }

    /// Applies what is attached to a node to its result.
    fn finish(
        &mut self,
        node: &Node,
        mut result: Option<Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        for predicate in &node.predicates {
            result = Some(self.filter(predicate, result, scope)?);
        }
        if let Some(group) = &node.group
            && !matches!(node.kind, NodeKind::Path { .. })
        {
            result = Some(self.group(group, result.as_ref(), scope)?);
        }
        Ok(collapse(result, node.keep_array))
    }

    fn eval_kind(
        &mut self,
        node: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        match &node.kind {
            NodeKind::Path { steps, keep_singleton } => {
                self.path(node, steps, *keep_singleton, input, scope)
            }
            NodeKind::Name(name) => self.lookup(input, name),
            NodeKind::Literal(literal) => Ok(Some(Item::Value(literal.to_value()))),
            NodeKind::Context => Ok(match input {
                Some(Item::List(list)) if list.is_wrapper => list.items.first().cloned(),
                input => input.cloned(),
            }),
            NodeKind::Variable(variable) => Ok(self.variable(variable, scope)),
            NodeKind::Wildcard => self.wildcard(input).map(Some),
            NodeKind::Descendants => self.descendants(input),
            NodeKind::Parent(slot) => Ok(scope.lookup_parent(*slot)),
            NodeKind::Negate(operand) => self.negate(node, operand, input, scope),
            NodeKind::Binary { op, lhs, rhs } => self.binary(node, *op, lhs, rhs, input, scope),
            NodeKind::Chain { lhs, rhs } => self.chain(node, lhs, rhs, input, scope),
            NodeKind::Bind { name, value } => {
                let value = self.eval(value, input, scope)?;
                scope.bind(Key::Name(name.clone()), value.clone());
                Ok(value)
            }
            NodeKind::Condition { condition, then, otherwise } => {
                let condition = self.eval(condition, input, scope)?;
                match (truth(condition.as_ref(), &mut self.budget)?, otherwise) {
                    (true, _) => self.eval(then, input, scope),
                    (false, Some(otherwise)) => self.eval(otherwise, input, scope),
                    (false, None) => Ok(None),
                }
            }
            NodeKind::Elvis { value, default } => {
                let value = self.eval(value, input, scope)?;
                if truth(value.as_ref(), &mut self.budget)? {
                    Ok(value)
                } else {
                    self.eval(default, input, scope)
                }
            }
            NodeKind::Coalesce { value, default } => match self.eval(value, input, scope)? {
                Some(value) => Ok(Some(value)),
                None => self.eval(default, input, scope),
            },
            NodeKind::Block(block) => {
                let scope = self.block_scope(block, scope)?;
                let mut result = None;
                for item in &block.items {
                    result = self.eval(item, input, &scope)?;
                }
                Ok(result)
            }
            NodeKind::Array(items) => self.array(node, items, input, scope).map(Some),
            NodeKind::Object(group) => self.group(group, input, scope).map(Some),
            NodeKind::Regex(regex) => Ok(Some(Item::function(Function::Matcher(regex.clone())))),
            NodeKind::Call(call) => self.call_node(node, call, input, scope, Vec::new()),
            NodeKind::Partial(call) => self.partial(node, call, input, scope),
            NodeKind::Lambda(plan) => {
                self.capture(scope)?;
                Ok(Some(Item::function(Function::Lambda(Closure {
                    plan: plan.clone(),
                    input: input.cloned(),
                    scope: scope.clone(),
                }))))
            }
            NodeKind::Transform(plan) => {
                self.capture(scope)?;
                Ok(Some(Item::function(Function::Transform {
                    plan: plan.clone(),
                    scope: scope.clone(),
                })))
            }
            // A sort is a step, and a placeholder an argument; neither is evaluated by itself.
            NodeKind::Sort(_) | NodeKind::Placeholder => Ok(None),
        }
    }

    /// A function keeps its scope: what would be gone after the call now stays.
    fn capture(&mut self, scope: &Scope) -> Outcome<()> {
        const SCOPE_BYTES: usize = 256;
        self.captures.add(scope);
        self.budget.allocate(size_of::<Function>() + SCOPE_BYTES)
    }

    fn block_scope(&mut self, block: &Block, scope: &Scope) -> Outcome<Scope> {
        if !block.is_scope {
            return Ok(scope.clone());
        }
        self.new_scope(scope, Vec::new())
    }

    pub(crate) fn new_scope(
        &mut self,
        parent: &Scope,
        bindings: Vec<(Key, Option<Item>)>,
    ) -> Outcome<Scope> {
        self.budget.step()?;
        Ok(Frame::inside(parent, bindings))
    }

    fn variable(&self, variable: &Variable, scope: &Scope) -> Option<Item> {
        if variable.may_be_local
            && let Lookup::Bound(value) = scope.lookup(&variable.name)
        {
            return value;
        }
        self.outer_variable(variable)
    }

    /// A variable that no scope of the expression has.
    fn outer_variable(&self, variable: &Variable) -> Option<Item> {
        if &*variable.name == "$" {
            return self.root.clone();
        }
        match self.environment.bindings.get(&variable.name) {
            Some(Binding::Value(value)) => Some(Item::Value(value.clone())),
            Some(Binding::Function(host)) => Some(Item::function(Function::Host(host.clone()))),
            None => variable.builtin.map(|builtin| Item::function(Function::Builtin(builtin))),
        }
    }

    /// Whether a name without `$` is the name of a function or variable.
    fn is_known(&self, name: &str, scope: &Scope) -> bool {
        matches!(scope.lookup(name), Lookup::Bound(Some(_)))
            || self.environment.bindings.get(name).is_some()
            || crate::builtins::find(name).is_some()
    }

    fn negate(
        &mut self,
        node: &Node,
        operand: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let Some(value) = self.eval(operand, input, scope)? else { return Ok(None) };
        if let Some(number) = as_number(&value)? {
            return Ok(Some(Item::number(-number)));
        }
        let mut failure = fail("D1002", "only a number can be negated");
        failure.value = value.into_value();
        failure.token = Some("-".to_owned());
        place(&mut failure, node.token, node.span);
        Err(failure)
    }

    fn array(
        &mut self,
        node: &Node,
        items: &[Node],
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Item> {
        let mut all = Vec::with_capacity(items.len());
        for item in items {
            let Some(value) = self.eval(item, input, scope)? else { continue };
            if matches!(item.kind, NodeKind::Array(_)) {
                self.push(&mut all, value)?;
            } else {
                self.extend(&mut all, value)?;
            }
        }
        if node.cons_array {
            return Ok(Item::List(Rc::new(List { items: all, is_cons: true, ..List::default() })));
        }
        Ok(Item::array(all))
    }

    /// Adds one item.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut Vec<Item>, item: Item) -> Outcome<()> {
        self.budget.step()?;
        self.budget.allocate(size_of::<Item>())?;
        self.budget.sequence(list.len() + 1)?;
        list.push(item);
        Ok(())
    }

    /// Adds a value, or the items of an array.
    pub(crate) fn extend(&mut self, list: &mut Vec<Item>, item: Item) -> Outcome<()> {
        let Some(items) = item.items() else { return self.push(list, item) };
        let count = items.len();
        self.budget.steps(count)?;
        self.budget.sequence(list.len() + count)?;
        let mut item = item;
        if let Item::List(shared) = &mut item
            && let Some(own) = Rc::get_mut(shared)
        {
            // Nobody else has it: its items are moved, not shared.
            if list.is_empty() {
                *list = std::mem::take(&mut own.items);
            } else {
                self.budget.allocate(count * size_of::<Item>())?;
                list.append(&mut own.items);
            }
            return Ok(());
        }
        self.budget.allocate(count * size_of::<Item>())?;
        list.extend(item.items().into_iter().flat_map(Items::iter));
        Ok(())
    }

    /// A new string.
    pub(crate) fn string(&mut self, text: impl Into<Arc<str>> + AsRef<str>) -> Outcome<Item> {
        self.budget.allocate(text.as_ref().len())?;
        Ok(Item::string(text))
    }
}

/// A sequence of none is no value, a sequence of one is that one, unless it is to be kept.
fn collapse(result: Option<Item>, keep_array: bool) -> Option<Item> {
    let Some(Item::List(mut list)) = result else { return result };
    if !list.is_sequence {
        return Some(Item::List(list));
    }
    match list.items.len() {
        0 => None,
        1 if keep_array || list.keep_singleton => {
            if !list.keep_singleton {
                Rc::make_mut(&mut list).keep_singleton = true;
            }
            Some(Item::List(list))
        }
        1 => match Rc::get_mut(&mut list) {
            Some(own) => own.items.pop().and_then(Item::present),
            None => list.items.first().cloned().and_then(Item::present),
        },
        _ => Some(Item::List(list)),
    }
}
