//! What an expression reads, as far as its text tells.

use std::sync::Arc;

use crate::Span;
use crate::builtins;
use crate::stack;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, Literal};
use crate::syntax::names::BoundNames;

/// The parts of its input that an expression reads.
///
/// Every path listed is certain to start at the root of the input. What is read relative to
/// something else (inside a step, a predicate, a group) is not listed: it lies below a path that is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The paths of static names, in the order they are written.
    pub paths: Vec<ReadPath>,
    /// Calls with a literal string as first argument.
    pub literal_calls: Vec<LiteralCall>,
    /// The functions it calls, without `$`, that are neither built in nor given a value anywhere in
    /// it; whoever evaluates it has to bind them.
    pub free_functions: Vec<Segment>,
    /// Whether the root may also be read as a whole or by names that are computed.
    pub whole_context: bool,
}

/// A path such as `node.items.price` that starts at the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadPath {
    /// At least one; filters, `[]` and order-by clauses between them are left out.
    pub segments: Vec<Segment>,
}

/// One name of a path, or of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The name it stands for.
    pub name: Arc<str>,
    /// The name as it is written, with its quotes or backticks if it has some.
    pub span: Span,
}

/// A call such as `$previousNode("a")`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteralCall {
    /// The function, without `$`.
    pub function: Arc<str>,
    /// The function as it is written.
    pub function_span: Span,
    /// The first argument.
    pub argument: Arc<str>,
    /// The first argument as it is written, with its quotes.
    pub argument_span: Span,
}

/// Collects what `expr` reads.
pub(crate) fn reads(expr: &Expr) -> Reads {
    let mut reader = Reader { reads: Reads::default(), names: BoundNames::of(expr) };
    reader.visit(expr, Context::Root);
    reader.reads
}

/// What `$` and names refer to at some place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Context {
    Root,
    /// Something inside the root, or computed.
    Other,
}

struct Reader {
    reads: Reads,
    /// A variable that the expression binds may not be what its name says.
    names: BoundNames,
}

/// How far a path is known.
enum Head {
    /// It starts at the root and has gone through these names.
    Known(Vec<Segment>),
    /// It may go anywhere; what could be reported has been.
    Lost,
}

impl Head {
    /// What `$` and names refer to in what is applied to it, such as a predicate or a computed step.
    fn inside(&self) -> Context {
        match self {
            Self::Known(segments) if segments.is_empty() => Context::Root,
            Self::Known(_) | Self::Lost => Context::Other,
        }
    }
}

impl Reader {
    fn visit_all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>, context: Context) {
        for expr in exprs {
            self.visit(expr, context);
        }
    }

    fn visit(&mut self, expr: &Expr, context: Context) {
        stack::grow(|| self.visit_here(expr, context));
    }

    fn visit_here(&mut self, expr: &Expr, context: Context) {
        match &expr.kind {
            ExprKind::Name(_)
            | ExprKind::Variable(_)
            | ExprKind::Wildcard
            | ExprKind::Descendants
            | ExprKind::Parent
            | ExprKind::Binary { op: BinaryOp::Map, .. }
            | ExprKind::Filter { .. }
            | ExprKind::Sort { .. }
            | ExprKind::Index { .. }
            | ExprKind::Focus { .. } => {
                let head = self.follow(expr, context);
                self.finish(head);
            }
            ExprKind::Group { input, pairs } => {
                let head = self.follow(input, context);
                let inside = head.inside();
                self.finish(head);
                self.visit_all(pairs.iter().flat_map(|(key, value)| [key, value]), inside);
            }
            ExprKind::Call { function, arguments } => self.call(function, arguments, context, 0),
            ExprKind::Binary { op: BinaryOp::Chain, lhs, rhs } => {
                self.visit(lhs, context);
                match &rhs.kind {
                    // The left side is one more argument.
                    ExprKind::Call { function, arguments } => {
                        self.call(function, arguments, context, 1);
                    }
                    _ => {
                        self.called(rhs);
                        self.visit(rhs, context);
                    }
                }
            }
            // A transform runs on what it is applied to.
            ExprKind::Transform { .. } => self.visit_all(expr.children(), Context::Other),
            // The body of a function keeps the context in which the function was written.
            _ => self.visit_all(expr.children(), context),
        }
    }

    fn finish(&mut self, head: Head) {
        match head {
            Head::Known(segments) if segments.is_empty() => self.reads.whole_context = true,
            Head::Known(segments) => self.reads.paths.push(ReadPath { segments }),
            Head::Lost => {}
        }
    }

    /// Reports everything beside the path that `expr` is, and returns how far that is known.
    fn follow(&mut self, expr: &Expr, context: Context) -> Head {
        stack::grow(|| self.follow_here(expr, context))
    }

    fn follow_here(&mut self, expr: &Expr, context: Context) -> Head {
        match &expr.kind {
            ExprKind::Name(name) => match context {
                Context::Root => {
                    Head::Known(vec![Segment { name: name.clone(), span: expr.token }])
                }
                Context::Other => Head::Lost,
            },
            ExprKind::Variable(name) => match &**name {
                "" if context == Context::Root => Head::Known(Vec::new()),
                "$" if !self.names.binds(name) => Head::Known(Vec::new()),
                _ => Head::Lost,
            },
            ExprKind::Wildcard | ExprKind::Descendants | ExprKind::Parent => {
                self.reads.whole_context |= context == Context::Root;
                Head::Lost
            }
            ExprKind::Binary { op: BinaryOp::Map, lhs, rhs } => self.step(lhs, rhs, context),
            ExprKind::Filter { input, predicate } => {
                let head = self.follow(input, context);
                self.visit(predicate, head.inside());
                head
            }
            ExprKind::Sort { input, terms } => {
                let head = self.follow(input, context);
                self.visit_all(terms.iter().map(|term| &term.key), head.inside());
                head
            }
            ExprKind::Index { input, .. } => self.follow(input, context),
            ExprKind::Focus { input, .. } => {
                // The next step starts where this one did.
                let head = self.follow(input, context);
                self.finish(head);
                Head::Lost
            }
            ExprKind::Block(items) if items.len() == 1 => self.follow(&items[0], context),
            _ => {
                self.visit(expr, context);
                Head::Lost
            }
        }
    }

    /// `lhs.rhs`
    fn step(&mut self, lhs: &Expr, rhs: &Expr, context: Context) -> Head {
        // A string that begins a path is a name.
        let head = match &lhs.kind {
            ExprKind::Literal(Literal::String(name)) if context == Context::Root => {
                Head::Known(vec![Segment { name: name.clone(), span: lhs.token }])
            }
            _ => self.follow(lhs, context),
        };
        if let ExprKind::Focus { input, .. } = &rhs.kind {
            // The next step starts where this one did.
            let head = self.step_from(head, input);
            self.finish(head);
            return Head::Lost;
        }
        self.step_from(head, rhs)
    }

    fn step_from(&mut self, head: Head, rhs: &Expr) -> Head {
        let Some((name, span)) = self.static_step(rhs) else {
            // `a.%` is the root again.
            self.reads.whole_context |=
                matches!(head, Head::Known(_)) && matches!(rhs.kind, ExprKind::Parent);
            let inside = head.inside();
            // `$.(a)` reads `a` and nothing else.
            if inside == Context::Other {
                self.finish(head);
            }
            self.visit(rhs, inside);
            return Head::Lost;
        };
        match head {
            Head::Known(mut segments) => {
                segments.push(Segment { name, span });
                Head::Known(segments)
            }
            Head::Lost => Head::Lost,
        }
    }

    /// The name a step selects, if it is written in the source. Its predicates are visited.
    fn static_step(&mut self, expr: &Expr) -> Option<(Arc<str>, Span)> {
        match &expr.kind {
            ExprKind::Name(name) | ExprKind::Literal(Literal::String(name)) => {
                Some((name.clone(), expr.token))
            }
            ExprKind::Filter { input, predicate } => {
                let step = self.static_step(input)?;
                self.visit(predicate, Context::Other);
                Some(step)
            }
            ExprKind::Index { input, .. } => self.static_step(input),
            _ => None,
        }
    }

    /// Notes a function that nothing in the expression explains.
    fn called(&mut self, function: &Expr) {
        let ExprKind::Variable(name) = &function.kind else { return };
        let is_context = matches!(&**name, "" | "$");
        if !is_context && !self.names.binds(name) && builtins::find(name).is_none() {
            let segment = Segment { name: name.clone(), span: function.token };
            self.reads.free_functions.push(segment);
        }
    }

    fn call(&mut self, function: &Expr, arguments: &[Expr], context: Context, implied: usize) {
        self.called(function);
        if let ExprKind::Variable(name) = &function.kind {
            let rebound = self.names.binds(name);
            if !rebound && context == Context::Root {
                let given = implied + arguments.len();
                self.reads.whole_context |= builtins::reads_context(name, given);
            }
            if !rebound
                && implied == 0
                && let Some(Expr { kind: ExprKind::Literal(Literal::String(text)), token, .. }) =
                    arguments.first()
            {
                self.reads.literal_calls.push(LiteralCall {
                    function: name.clone(),
                    function_span: function.token,
                    argument: text.clone(),
                    argument_span: *token,
                });
            }
        } else {
            self.visit(function, context);
        }
        self.visit_all(arguments, context);
    }
}
