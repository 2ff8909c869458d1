use std::sync::Arc;

use super::ancestry::Ancestry;
use super::{
    Block, Call, Group, LambdaPlan, Node, NodeKind, Plan, Slot, SortKey, Stage, TransformPlan,
    Variable,
};
use crate::Span;
use crate::builtins;
use crate::regex::Regex;
use crate::stack;
use crate::syntax::MAX_ERRORS;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Literal};
use crate::syntax::error::{Fault, SyntaxError};
use crate::syntax::names::BoundNames;

/// Makes the plan of a syntax tree, or says what in it has no meaning.
pub(crate) fn lower(expr: &Expr, embedding: Embedding) -> Result<Plan, Vec<SyntaxError>> {
    let names = BoundNames::of(expr);
    // What `$eval` runs sees the variables around it and may bind more of them.
    let open = embedding == Embedding::Nested || names.mentions("eval");
    let mut lowering = Lowering { ancestry: Ancestry::default(), names, open, binds: 0 };
    let root = lowering.node(expr);
    if matches!(root.kind, NodeKind::Parent(_)) || !root.seeking.is_empty() {
        lowering.ancestry.no_parent(&root, root.span);
    }
    let mut errors = lowering.ancestry.errors;
    if errors.is_empty() {
        return Ok(Plan { root });
    }
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// Where an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Embedding {
    /// By itself.
    Whole,
    /// By `$eval`, inside another.
    Nested,
}

struct Lowering {
    ancestry: Ancestry,
    names: BoundNames,
    /// Whether variables may be bound by expressions that are not known here.
    open: bool,
    /// How many bindings have been met in the scope being lowered.
    binds: usize,
}

impl Lowering {
    fn fault(&mut self, fault: Fault, span: Span) {
        let error = fault.at(span);
        // A path is looked at again with every step that is added to it.
        if !self.ancestry.errors.contains(&error) {
            self.ancestry.errors.push(error);
        }
    }

    fn variable(&self, name: &Arc<str>) -> NodeKind {
        if name.is_empty() {
            return NodeKind::Context;
        }
        NodeKind::Variable(Variable {
            name: name.clone(),
            may_be_local: self.open || self.names.binds(name),
            builtin: builtins::find(name),
        })
    }

    /// Lowers what has a scope of its own; says whether anything is bound there.
    fn in_scope<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> (R, bool) {
        let outside = std::mem::replace(&mut self.binds, 0);
        let result = work(self);
        let inside = std::mem::replace(&mut self.binds, outside);
        (result, inside > 0)
    }

    fn boxed(&mut self, expr: &Expr) -> Box<Node> {
        Box::new(self.node(expr))
    }

    fn node(&mut self, expr: &Expr) -> Node {
        let mut node = stack::grow(|| self.any(expr));
        node.keep_array |= expr.keep_array;
        node
    }

    fn any(&mut self, expr: &Expr) -> Node {
        let mut seeking = Vec::new();
        let mut cons_array = false;
        let kind = match &expr.kind {
            ExprKind::Literal(literal) => NodeKind::Literal(literal.clone()),
            ExprKind::Regex { pattern, flags } => match Regex::new(pattern, *flags) {
                Ok(regex) => NodeKind::Regex(Arc::new(regex)),
                Err(reason) => {
                    let pattern = pattern.to_string();
                    self.fault(Fault::BadRegex { pattern, reason }, expr.span);
                    NodeKind::Placeholder
                }
            },
            ExprKind::Variable(name) => self.variable(name),
            ExprKind::Wildcard => NodeKind::Wildcard,
            ExprKind::Descendants => NodeKind::Descendants,
            ExprKind::Parent => NodeKind::Parent(self.ancestry.new_slot()),
            ExprKind::Placeholder => NodeKind::Placeholder,
            ExprKind::Missing => {
                self.fault(Fault::UnexpectedEnd, expr.span);
                NodeKind::Placeholder
            }
            ExprKind::Name(name) => {
                let mut step = Node::new(NodeKind::Name(name.clone()), expr.token, expr.span);
                step.keep_array = expr.keep_array;
                NodeKind::Path { steps: vec![step], keep_singleton: expr.keep_array }
            }
            ExprKind::Binary { op: BinaryOp::Map, lhs, rhs } => return self.map(lhs, rhs),
            ExprKind::Filter { input, predicate } => return self.filter(expr, input, predicate),
            ExprKind::Group { input, pairs } => return self.group(expr, input, pairs),
            ExprKind::Focus { input, name } => return self.focus(expr, input, name),
            ExprKind::Index { input, name } => return self.index(input, name),
            ExprKind::Sort { input, terms } => {
                let mut path = into_path(self.node(input));
                let mut keys = Vec::with_capacity(terms.len());
                for term in terms {
                    let key = self.node(&term.key);
                    Ancestry::push(&mut seeking, &key);
                    keys.push(SortKey { descending: term.descending, key });
                }
                let mut sort = Node::new(NodeKind::Sort(keys), expr.token, expr.span);
                sort.seeking = seeking;
                if let Some(steps) = path.steps_mut() {
                    steps.push(sort);
                }
                self.ancestry.resolve(&mut path);
                return path;
            }
            ExprKind::Negate(operand) => {
                let operand = self.boxed(operand);
                if let NodeKind::Literal(Literal::Number(number)) = operand.kind {
                    let kind = NodeKind::Literal(Literal::Number(-number));
                    return Node { kind, ..*operand };
                }
                Ancestry::push(&mut seeking, &operand);
                NodeKind::Negate(operand)
            }
            ExprKind::Binary { op: BinaryOp::Chain, lhs, rhs } => {
                let (lhs, rhs) = (self.boxed(lhs), self.boxed(rhs));
                let keep_array = lhs.keep_array || rhs.keep_array;
                let kind = NodeKind::Chain { lhs, rhs };
                return Node { keep_array, ..Node::new(kind, expr.token, expr.span) };
            }
            ExprKind::Binary { op, lhs, rhs } => {
                let (lhs, rhs) = (self.boxed(lhs), self.boxed(rhs));
                Ancestry::push(&mut seeking, &lhs);
                Ancestry::push(&mut seeking, &rhs);
                NodeKind::Binary { op: *op, lhs, rhs }
            }
            ExprKind::Bind { name, value } => {
                self.binds += 1;
                let value = self.boxed(value);
                Ancestry::push(&mut seeking, &value);
                NodeKind::Bind { name: name.clone(), value }
            }
            ExprKind::Condition { condition, then, otherwise } => {
                let condition = self.boxed(condition);
                let then = self.boxed(then);
                let otherwise = otherwise.as_ref().map(|otherwise| self.boxed(otherwise));
                for part in [Some(&condition), Some(&then), otherwise.as_ref()] {
                    part.inspect(|part| Ancestry::push(&mut seeking, part));
                }
                NodeKind::Condition { condition, then, otherwise }
            }
            ExprKind::Elvis { value, default } => {
                let (value, default) = self.alternatives(value, default, &mut seeking);
                NodeKind::Elvis { value, default }
            }
            ExprKind::Coalesce { value, default } => {
                let (value, default) = self.alternatives(value, default, &mut seeking);
                NodeKind::Coalesce { value, default }
            }
            ExprKind::Block(items) => {
                let (items, binds) = self.in_scope(|lowering| lowering.list(items, &mut seeking));
                cons_array = items.iter().any(|item| match &item.kind {
                    NodeKind::Path { steps, .. } => {
                        item.cons_array || steps.first().is_some_and(|step| step.cons_array)
                    }
                    _ => item.cons_array,
                });
                NodeKind::Block(Block { items, is_scope: binds || self.open })
            }
            ExprKind::Array(items) => NodeKind::Array(self.list(items, &mut seeking)),
            ExprKind::Object(pairs) => {
                let pairs = self.pairs(pairs);
                for (key, value) in &pairs {
                    Ancestry::push(&mut seeking, key);
                    Ancestry::push(&mut seeking, value);
                }
                NodeKind::Object(Group { pairs, token: expr.token })
            }
            ExprKind::Call { function, arguments } => {
                let arguments = self.list(arguments, &mut seeking);
                let partial =
                    arguments.iter().any(|node| matches!(node.kind, NodeKind::Placeholder));
                let call = Box::new(Call { function: self.node(function), arguments });
                if partial { NodeKind::Partial(call) } else { NodeKind::Call(call) }
            }
            ExprKind::Lambda(lambda) => {
                let (body, _) = self.in_scope(|lowering| lowering.node(&lambda.body));
                NodeKind::Lambda(Arc::new(LambdaPlan {
                    parameters: lambda.parameters.clone(),
                    signature: lambda.signature.clone(),
                    body,
                }))
            }
            ExprKind::Transform { pattern, update, delete } => {
                NodeKind::Transform(Arc::new(TransformPlan {
                    pattern: self.node(pattern),
                    update: self.node(update),
                    delete: delete.as_ref().map(|delete| self.node(delete)),
                    token: expr.token,
                }))
            }
        };
        Node { cons_array, seeking, ..Node::new(kind, expr.token, expr.span) }
    }

    fn list(&mut self, items: &[Expr], seeking: &mut Vec<Slot>) -> Vec<Node> {
        let nodes: Vec<_> = items.iter().map(|item| self.node(item)).collect();
        for node in &nodes {
            Ancestry::push(seeking, node);
        }
        nodes
    }

    fn pairs(&mut self, pairs: &[(Expr, Expr)]) -> Vec<(Node, Node)> {
        pairs.iter().map(|(key, value)| (self.node(key), self.node(value))).collect()
    }

    fn alternatives(
        &mut self,
        value: &Expr,
        default: &Expr,
        seeking: &mut Vec<Slot>,
    ) -> (Box<Node>, Box<Node>) {
        let (value, default) = (self.boxed(value), self.boxed(default));
        Ancestry::push(seeking, &value);
        Ancestry::push(seeking, &default);
        (value, default)
    }

    /// `lhs.rhs`: a path that ends with the steps of `rhs`.
    fn map(&mut self, lhs: &Expr, rhs: &Expr) -> Node {
        let lhs = self.node(lhs);
        let parent = if let NodeKind::Parent(slot) = lhs.kind { Some(slot) } else { None };
        let mut path = into_path(lhs);
        path.seeking.extend(parent);
        let mut rest = self.node(rhs);
        path.span = path.span.to(rest.span);
        let NodeKind::Path { steps, keep_singleton } = &mut path.kind else { return path };
        if let Some(more) = rest.steps_mut() {
            steps.append(more);
        } else {
            rest.step
                .stages
                .extend(std::mem::take(&mut rest.predicates).into_iter().map(Stage::Filter));
            steps.push(rest);
        }
        let mut faults = Vec::new();
        for step in &mut *steps {
            let NodeKind::Literal(literal) = &step.kind else { continue };
            if let Literal::String(name) = literal {
                step.kind = NodeKind::Name(name.clone());
            } else {
                faults.push((Fault::LiteralStep(literal.to_value()), step.token));
            }
        }
        *keep_singleton |= steps.iter().any(|step| step.keep_array);
        // An array that begins or ends a path is one item of it.
        let last = steps.len() - 1;
        for place in [0, last] {
            if matches!(steps[place].kind, NodeKind::Array(_)) {
                steps[place].cons_array = true;
            }
        }
        for (fault, token) in faults {
            self.fault(fault, token);
        }
        self.ancestry.resolve(&mut path);
        path
    }

    fn filter(&mut self, expr: &Expr, input: &Expr, predicate: &Expr) -> Node {
        let mut node = self.node(input);
        let is_path = node.steps_mut().is_some();
        if node.with_last_step(|step| step.group.is_some()) {
            self.fault(Fault::PredicateAfterGroup, expr.token);
        }
        let predicate = self.node(predicate);
        node.with_last_step(|step| {
            self.ancestry.enter_predicate(step, &predicate);
            if is_path {
                step.step.stages.push(Stage::Filter(predicate));
            } else {
                step.predicates.push(predicate);
            }
        });
        node.span = node.span.to(expr.span);
        node
    }

    fn group(&mut self, expr: &Expr, input: &Expr, pairs: &[(Expr, Expr)]) -> Node {
        let mut node = self.node(input);
        if node.group.is_some() {
            self.fault(Fault::SecondGroup, expr.token);
        }
        let pairs = self.pairs(pairs);
        node.group = Some(Box::new(Group { pairs, token: expr.token }));
        node
    }

    fn focus(&mut self, expr: &Expr, input: &Expr, name: &Arc<str>) -> Node {
        let mut node = self.node(input);
        let fault = node.with_last_step(|step| {
            step.keep_array |= expr.keep_array;
            step.step.focus = Some(name.clone());
            step.step.tuple = true;
            if !step.step.stages.is_empty() || !step.predicates.is_empty() {
                Some(Fault::BindingAfterPredicate)
            } else if matches!(step.kind, NodeKind::Sort(_)) {
                Some(Fault::BindingAfterSort)
            } else {
                None
            }
        });
        if let Some(fault) = fault {
            self.fault(fault, expr.token);
        }
        node
    }

    fn index(&mut self, input: &Expr, name: &Arc<str>) -> Node {
        let mut node = self.node(input);
        if node.steps_mut().is_none() {
            node.step
                .stages
                .extend(std::mem::take(&mut node.predicates).into_iter().map(Stage::Filter));
            node = into_path(node);
        }
        node.with_last_step(|node| {
            let step = &mut node.step;
            if step.stages.is_empty() {
                step.index = Some(name.clone());
            } else {
                step.stages.push(Stage::Index(name.clone()));
            }
            step.tuple = true;
        });
        node
    }
}

/// The node as a path, of one step if it is none.
fn into_path(node: Node) -> Node {
    if matches!(node.kind, NodeKind::Path { .. }) {
        return node;
    }
    let (token, span) = (node.token, node.span);
    Node::new(NodeKind::Path { steps: vec![node], keep_singleton: false }, token, span)
}
