use std::rc::Rc;
use std::sync::Arc;

use super::Evaluator;
use crate::Span;
use crate::compare::truth;
use crate::error::{Failure, Outcome, fail, place};
use crate::frame::{Frame, Scope};
use crate::function::{Arguments, Closure, Function, HostFunction, PartialArgument};
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
        site: TailSite,
    },
    /// The last call failed. The function that made it had ended by then, for the reference
    /// implementation, so the error is not one of that function.
    Failed(Failure),
}

/// A call that is not in tail position.
type Site<'n> = Option<(&'n Node, &'n Call)>;

/// What errors tell of a call in tail position, which is gone when they happen.
struct TailSite {
    word: Option<Arc<str>>,
    position: Option<usize>,
    span: Span,
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
        self.apply_at(Some((node, call)), &function, arguments, input, scope)
            .map_err(|failure| named(failure, node, call))
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
            other => {
                let message = not_a_function(call, other.is_some());
                Err(named(fail("T1006", message), node, call))
            }
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
            && let Some(name) = call.function.word()
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
        self.apply_at(None, function, arguments, context, scope)
    }

    fn apply_at(
        &mut self,
        site: Site<'_>,
        function: &Rc<Function>,
        arguments: Arguments,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        self.budget.enter()?;
        let result = self.apply_until_done(site, function, arguments, context, scope);
        self.budget.leave();
        result
    }

    /// Calls a function, then the one its last call asks for, and so on.
    fn apply_until_done(
        &mut self,
        site: Site<'_>,
        function: &Rc<Function>,
        mut arguments: Arguments,
        context: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
        let mut function = function.clone();
        let mut tail_site: Option<TailSite> = None;
        loop {
            let Function::Lambda(closure) = &*function else {
                return self
                    .apply_other(&function, arguments, context, scope)
                    .map_err(|failure| from_call(failure, &function, site));
            };
            let tail =
                self.apply_once(closure, arguments, context).map_err(
                    |failure| match &tail_site {
                        Some(tail_site) => from_tail_call(failure, tail_site),
                        None => from_call(failure, &function, site),
                    },
                )?;
            match tail {
                Tail::Done(result) => return Ok(result),
                Tail::Failed(failure) => return Err(failure),
                Tail::Call { function: next, arguments: next_arguments, site } => {
                    self.budget.step()?;
                    function = next;
                    arguments = next_arguments;
                    tail_site = Some(site);
                }
            }
        }
    }

    /// Calls a lambda, up to the call that ends it.
    fn apply_once(
        &mut self,
        closure: &Closure,
        mut arguments: Arguments,
        context: Option<&Item>,
    ) -> Outcome<Tail> {
        if let Some(signature) = &closure.plan.signature {
            arguments = self.validate(signature, arguments, context)?;
        }
        self.budget.step()?;
        let inner = Frame::of_call(&closure.scope, &closure.plan, arguments, &mut self.spare);
        let tail = self.eval_tail(&closure.plan.body, closure.input.as_ref(), &inner);
        Frame::spend(inner, &mut self.spare);
        tail
    }

    /// Evaluates a body up to the call that ends it.
    fn eval_tail(&mut self, node: &Node, input: Option<&Item>, scope: &Scope) -> Outcome<Tail> {
        if !node.predicates.is_empty() {
            return self.eval(node, input, scope).map(Tail::Done);
        }
        match &node.kind {
            NodeKind::Call(call) => {
                Ok(self.tail_call(node, call, input, scope).unwrap_or_else(Tail::Failed))
            }
            NodeKind::Condition { condition, then, otherwise } if node.group.is_none() => {
                let condition = self.eval(condition, input, scope)?;
                match (truth(condition.as_ref(), &mut self.budget)?, otherwise) {
                    (true, _) => self.eval_tail(then, input, scope),
                    (false, Some(otherwise)) => self.eval_tail(otherwise, input, scope),
                    (false, None) => Ok(Tail::Done(None)),
                }
            }
            NodeKind::Elvis { value, default } if node.group.is_none() => {
                let value = self.eval(value, input, scope)?;
                if truth(value.as_ref(), &mut self.budget)? {
                    return Ok(Tail::Done(value));
                }
                self.eval_tail(default, input, scope)
            }
            NodeKind::Coalesce { value, default } if node.group.is_none() => {
                match self.eval(value, input, scope)? {
                    Some(value) => Ok(Tail::Done(Some(value))),
                    None => self.eval_tail(default, input, scope),
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

    fn tail_call(
        &mut self,
        node: &Node,
        call: &Call,
        input: Option<&Item>,
        scope: &Scope,
    ) -> Outcome<Tail> {
        let (function, arguments) = self.prepare(node, call, input, scope, Vec::new())?;
        let site = TailSite {
            word: match &call.function.kind {
                NodeKind::Variable(variable) => Some(variable.name.clone()),
                _ => None,
            },
            position: call.function.position(),
            span: call.function.span,
        };
        // Only a lambda can go on for long.
        if matches!(*function, Function::Lambda(_)) {
            return Ok(Tail::Call { function, arguments, site });
        }
        self.apply(&function, arguments, input, scope)
            .map(Tail::Done)
            .map_err(|failure| from_tail_call(failure, &site))
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
                checked.and_then(|arguments| (builtin.call)(self, arguments, context, scope))
            }
            Function::Host(host) => self.call_host(host, arguments, context),
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
        let mut given = self.spare.arguments();
        given.extend(arguments.into_iter().take(count));
        self.call_with(function, given, scope)
    }

    /// Calls a function from another, with all the arguments.
    pub(crate) fn call_with(
        &mut self,
        function: &Rc<Function>,
        arguments: Arguments,
        scope: &Scope,
    ) -> Outcome<Option<Item>> {
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
            place(&mut failure, node.token, node.token);
            return Err(failure);
        };
        if let Some(Item::Function(first)) = lhs {
            return Ok(Some(Item::function(Function::Chain(first, function))));
        }
        self.apply(&function, vec![lhs], Some(&Item::null()), scope).map_err(|mut failure| {
            failure.span.get_or_insert(rhs.span);
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

/// Gives an error from a function the place of the call and the name that is called; whatever place
/// inside the function the error had as its position, the reference implementation forgets.
fn from_call(mut failure: Failure, function: &Function, site: Site<'_>) -> Failure {
    let Some((node, call)) = site else { return failure };
    // A regular expression is no function of the language and has no place to forget.
    if !matches!(function, Function::Matcher(_) | Function::NextMatch { .. }) {
        failure.position = Some(node.token.end as usize);
    }
    named(failure, node, call)
}

/// The same for a call in tail position, which the reference implementation places at the function.
fn from_tail_call(mut failure: Failure, site: &TailSite) -> Failure {
    failure.position = site.position.or(failure.position);
    failure.span.get_or_insert(site.span);
    if failure.token.is_none() {
        failure.token = site.word.as_ref().map(ToString::to_string);
    }
    failure
}

/// Gives an error from a call its place and the name that is called, unless it has them.
/// What is said of a call of something else, which may not even be there.
fn not_a_function(call: &Call, is_there: bool) -> String {
    match (&call.function.kind, call.function.word()) {
        (NodeKind::Variable(variable), _) if is_there => {
            format!("`${}` is not a function", variable.name)
        }
        (NodeKind::Variable(variable), _) => format!("there is no function `${}`", variable.name),
        (NodeKind::Path { .. }, Some(name)) => format!("`{name}` is not a function"),
        _ => "what is called is not a function".to_owned(),
    }
}

fn named(mut failure: Failure, node: &Node, call: &Call) -> Failure {
    place(&mut failure, node.token, call.function.span);
    if failure.token.is_none() {
        failure.token = call.function.word();
    }
    failure
}
