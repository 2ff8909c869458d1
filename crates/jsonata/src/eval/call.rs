use std::rc::Rc;
use std::sync::Arc;

use super::Evaluator;
use crate::compare::truth;
use crate::error::{Failure, Outcome, fail, place};
use crate::frame::{Key, Scope};
use crate::function::{Arguments, Function, HostFunction, PartialArgument};
use crate::item::Item;
use crate::plan::{Call, Node, NodeKind};
use crate::stack;

/// What the end of a function's body comes to.
enum Tail {
    Done(Option<Item>),
    /// A call that replaces the function that makes it, so that it needs no stack.
    Call {
        function: Rc<Function>,
        arguments: Arguments,
    },
}

impl Evaluator<'_> {
    /// `function(arguments)`; what is `given` comes before the arguments.
    pub(super) fn call_node(
        &mut self,
        node: &Node,
        call: &Call,
        input: Option<&Item>,
        scope: &Scope,
        given: Arguments,
    ) -> Outcome<Option<Item>> {
        let (function, arguments) = self.prepare(node, call, input, scope, given)?;
        self.apply(&function, arguments, input, scope).map_err(|failure| named(failure, node, call))
    }

    /// Evaluates the function and the arguments of a call.
    fn prepare(
        &mut self,
        node: &Node,
        call: &Call,
        input: Option<&Item>,
        scope: &Scope,
        given: Arguments,
    ) -> Outcome<(Rc<Function>, Arguments)> {
        let function = self.eval(&call.function, input, scope)?;
        if function.is_none() {
            self.check_forgotten_dollar("T1005", node, call, scope)?;
        }
        let mut arguments = given;
        arguments.reserve(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.eval(argument, input, scope)?);
        }
        match function {
            Some(Item::Function(function)) => Ok((function, arguments)),
            _ => Err(named(fail("T1006", "what is called is not a function"), node, call)),
        }
    }

    fn check_forgotten_dollar(
        &self,
        code: &'static str,
        node: &Node,
        call: &Call,
        scope: &Scope,
    ) -> Outcome<()> {
        if matches!(call.function.kind, NodeKind::Path { .. })
            && let Some(name) = function_name(&call.function)
            && self.is_known(&name, scope)
        {
            let message = format!("`{name}` is not a function; did you mean `${name}`?");
            return Err(named(fail(code, message), node, call));
        }
        Ok(())
    }

    /// Calls a function. The context stands in for arguments that the signature takes from it.
    pub(crate) fn apply(
        &mut self,
        function: &Rc<Function>,
        arguments: Arguments,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        self.budget.enter()?;
        let result = self.apply_until_done(function, arguments, context, scope);
        self.budget.leave();
        result
    }

    /// Calls a function, then the one its last call asks for, and so on.
    fn apply_until_done(
        &mut self,
        function: &Rc<Function>,
        mut arguments: Arguments,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let mut function = function.clone();
        loop {
            let Function::Lambda(closure) = &*function else {
                return self.apply_other(&function, arguments, context, scope);
            };
            if let Some(signature) = &closure.plan.signature {
                arguments = self.validate(signature, arguments, context)?;
            }
            let mut arguments_left = arguments.into_iter();
            let bindings = closure
                .plan
                .parameters
                .iter()
                .map(|name| (Key::Name(name.clone()), arguments_left.next().flatten()))
                .collect();
            let inner = self.new_scope(&closure.scope, bindings)?;
            let tail = self.eval_tail(&closure.plan.body, closure.input.as_ref(), &inner)?;
            match tail {
                Tail::Done(result) => return Ok(result),
                Tail::Call { function: next, arguments: next_arguments } => {
                    self.budget.step()?;
                    function = next;
                    arguments = next_arguments;
                }
            }
        }
    }

    /// Evaluates a body up to the call that ends it.
    fn eval_tail(&mut self, node: &Node, input: Option<&Item>, scope: &Scope) -> Outcome<Tail> {
        if !node.predicates.is_empty() {
            return self.eval(node, input, scope).map(Tail::Done);
        }
        match &node.kind {
            NodeKind::Call(call) => {
                let (function, arguments) = self.prepare(node, call, input, scope, Vec::new())?;
                // Only a lambda can go on for long; the others are called here, so that their
                // errors are placed.
                if matches!(*function, Function::Lambda(_)) {
                    return Ok(Tail::Call { function, arguments });
                }
                self.apply(&function, arguments, input, scope)
                    .map(Tail::Done)
                    .map_err(|failure| named(failure, node, call))
            }
            NodeKind::Condition { condition, then, otherwise } if node.group.is_none() => {
                let condition = self.eval(condition, input, scope)?;
                match (truth(condition.as_ref(), &mut self.budget)?, otherwise) {
                    (true, _) => self.eval_tail(then, input, scope),
                    (false, Some(otherwise)) => self.eval_tail(otherwise, input, scope),
                    (false, None) => Ok(Tail::Done(None)),
                }
            }
            NodeKind::Block(block) if node.group.is_none() && !node.keep_array => {
                let Some((last, before)) = block.items.split_last() else {
                    return Ok(Tail::Done(None));
                };
                let scope = self.block_scope(block, scope)?;
                for item in before {
                    self.eval(item, input, &scope)?;
                }
                self.eval_tail(last, input, &scope)
            }
            _ => self.eval(node, input, scope).map(Tail::Done),
        }
    }

    fn apply_other(
        &mut self,
        function: &Rc<Function>,
        arguments: Arguments,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        match &**function {
            Function::Builtin(builtin) => {
                let checked = self.validate(builtin.signature(), arguments, context);
                checked
                    .and_then(|arguments| (builtin.call)(self, arguments, context, scope))
                    .map_err(|failure| from_function(failure, builtin.name))
            }
            Function::Host(host) => self
                .call_host(host, arguments, context)
                .map_err(|failure| from_function(failure, &host.name)),
            Function::Partial { function, arguments: given } => {
                let mut open = arguments.into_iter();
                let arguments = given
                    .iter()
                    .map(|argument| match argument {
                        PartialArgument::Given(item) => item.clone(),
                        PartialArgument::Open => open.next().flatten(),
                    })
                    .collect();
                self.apply(function, arguments, None, scope)
            }
            Function::Chain(first, second) => {
                let between = self.apply(first, arguments, Some(&Item::null()), scope)?;
                self.apply(second, vec![between], Some(&Item::null()), scope)
            }
            Function::Transform { plan, scope } => {
                let input = arguments.into_iter().next().flatten();
                self.transform(plan, input, context, scope)
            }
            Function::Matcher(regex) => self.call_matcher(regex, arguments),
            Function::NextMatch { regex, text, from } => self.match_item(regex, text, *from, true),
            // Handled by the caller; a lambda inside something else is applied like any.
            Function::Lambda(_) => self.apply(function, arguments, context, scope),
        }
    }

    fn call_host(
        &mut self,
        host: &Arc<HostFunction>,
        arguments: Arguments,
        context: Option<&Item>,
    ) -> Outcome<Option<Item>> {
        let arguments = self.validate(&host.signature, arguments, context)?;
        let values: Vec<_> =
            arguments.into_iter().map(|item| item.and_then(Item::into_value)).collect();
        match (host.call)(self.environment.state.as_deref(), &values) {
            Ok(result) => Ok(result.map(Item::Value)),
            Err(error) => Err(error.into()),
        }
    }

    /// Calls a function from another, with as many of the arguments as it takes.
    pub(crate) fn call_back(
        &mut self,
        function: &Rc<Function>,
        arguments: impl IntoIterator<Item = Option<Item>>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let count = function.arity().max(1);
        let arguments = arguments.into_iter().take(count).collect();
        stack::grow(|| self.apply(function, arguments, Some(&Item::null()), scope))
    }

    /// `lhs ~> rhs`
    pub(super) fn chain(
        &mut self,
        node: &Node,
        lhs: &Node,
        rhs: &Node,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let lhs = self.eval(lhs, input, scope)?;
        if let NodeKind::Call(call) = &rhs.kind {
            return self.call_node(rhs, call, input, scope, vec![lhs]);
        }
        let function = self.eval(rhs, input, scope)?;
        let Some(Item::Function(function)) = function else {
            let mut failure = fail("T2006", "the right side of `~>` must be a function");
            failure.value = function.and_then(Item::into_value);
            failure.token = Some("~>".to_owned());
            place(&mut failure, node.token, node.token);
            return Err(failure);
        };
        if let Some(Item::Function(first)) = lhs {
            return Ok(Some(Item::function(Function::Chain(first, function))));
        }
        self.apply(&function, vec![lhs], Some(&Item::null()), scope).map_err(|mut failure| {
            place(&mut failure, node.token, rhs.span);
            failure
        })
    }

    /// `function(argument, ?)`
    pub(super) fn partial(
        &mut self,
        node: &Node,
        call: &Call,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(match argument.kind {
                NodeKind::Placeholder => PartialArgument::Open,
                _ => PartialArgument::Given(self.eval(argument, input, scope)?),
            });
        }
        let function = self.eval(&call.function, input, scope)?;
        if function.is_none() {
            self.check_forgotten_dollar("T1007", node, call, scope)?;
        }
        let Some(Item::Function(function)) = function else {
            let message = "what is partially applied is not a function";
            return Err(named(fail("T1008", message), node, call));
        };
        // Parameters for which nothing is given stay without a value.
        arguments.truncate(function.arity().max(1));
        Ok(Some(Item::function(Function::Partial { function, arguments })))
    }
}

/// The name by which a call calls.
fn function_name(function: &Node) -> Option<Arc<str>> {
    match &function.kind {
        NodeKind::Variable(variable) => Some(variable.name.clone()),
        NodeKind::Name(name) => Some(name.clone()),
        NodeKind::Path { steps, .. } => steps.first().and_then(function_name),
        _ => None,
    }
}

/// Gives an error that a function raised itself the name of that function.
fn from_function(mut failure: Failure, name: &str) -> Failure {
    if failure.position.is_none() && failure.token.is_none() {
        failure.token = Some(name.to_owned());
    }
    failure
}

/// Gives an error from a call its place and the name of the function, unless it has them.
fn named(mut failure: Failure, node: &Node, call: &Call) -> Failure {
    let is_new = failure.position.is_none();
    place(&mut failure, node.token, call.function.span);
    if is_new && failure.token.is_none() {
        failure.token = function_name(&call.function).map(|name| name.to_string());
    }
    failure
}
