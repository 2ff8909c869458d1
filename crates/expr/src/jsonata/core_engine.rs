//! The engine that evaluates JSONata: the crate `jsonata-core`.
//!
//! It computes on values of its own that belong to one thread, so that the parts of the context an
//! expression reads are converted for each evaluation. What it lacks is made up for here and in the
//! modules below, and nowhere else.

mod convert;
mod functions;
mod guard;
mod syntax;
mod wanted;

use std::rc::Rc;
use std::sync::Arc;

use jsonata_core::ast::AstNode;
use jsonata_core::evaluator::{Context, Evaluator, EvaluatorOptions};
use jsonata_core::parser;
use mcpgraph_value::Value;

use crate::budget::{Meter, cancelled};
use crate::{ExprError, Limit, Scope, code};
use wanted::Wanted;

/// A parsed expression.
pub(super) struct Program {
    ast: AstNode,
    wanted: Wanted,
}

impl Program {
    pub(super) fn compile(program: &mcpgraph_jsonata::Program) -> Result<Self, ExprError> {
        let parsed = guard::catch(|| parser::parse(program.source()))?;
        let mut ast = parsed.map_err(|error| coded(&error.to_string()))?;
        syntax::adapt(&mut ast);
        Ok(Self { ast, wanted: Wanted::by(program) })
    }

    pub(super) fn eval(
        &self,
        scope: &Arc<dyn Scope>,
        meter: &Meter<'_>,
    ) -> Result<Option<Value>, ExprError> {
        let budget = &meter.env.budget;
        let remaining = meter.remaining()?.as_millis().max(1);
        let options = EvaluatorOptions {
            timeout_ms: Some(u64::try_from(remaining).unwrap_or(u64::MAX)),
            cancel: Some(meter.env.cancel.token().clone()),
            max_stack_depth: Some(budget.depth),
            max_sequence_length: Some(budget.sequence),
        };
        let input = self.wanted.of_context(scope.as_ref())?;
        guard::catch(|| {
            let spent = Rc::new(functions::Spent::new(budget.bytes));
            let mut evaluator = Evaluator::with_options(Context::new(), options);
            functions::register(&mut evaluator, scope, meter.env.now, &spent)
                .map_err(|error| coded(error.message()))?;
            let result = evaluator.evaluate(&self.ast, &input);
            meter.spend(spent.total())?;
            let result = result.map_err(|error| explain(error.message(), meter))?;
            convert::result(&result, meter)
        })?
    }
}

/// Lifts JSONata's code out of a message such as `Invalid syntax: S0201: Syntax error`.
fn coded(message: &str) -> ExprError {
    let is_code = |bytes: &[u8]| {
        bytes[0].is_ascii_uppercase()
            && bytes[1..5].iter().all(u8::is_ascii_digit)
            && bytes[5] == b':'
    };
    match message.as_bytes().windows(6).position(is_code) {
        Some(at) => ExprError::new(&message[at..at + 5], message[at + 6..].trim_start()),
        None => ExprError::new(code::INTERNAL, message),
    }
}

/// The error of an evaluation, with the limit where one was exceeded.
fn explain(message: &str, meter: &Meter<'_>) -> ExprError {
    let mut error = coded(message);
    let budget = &meter.env.budget;
    let (limit, message) = match error.code.as_str() {
        "U1003" => return cancelled(),
        code::TIME => return meter.out_of_time(),
        "D1011" | "U1001" => (
            Limit::Depth,
            format!("the expression's calls nest deeper than the limit of {} levels", budget.depth),
        ),
        "D2014" | code::SEQUENCE => (
            Limit::Sequence,
            format!("a sequence has more than the limit of {} items", budget.sequence),
        ),
        code::BYTES => (Limit::Bytes, error.message),
        _ => return error,
    };
    error.message = message;
    error.limit = Some(limit);
    error
}
