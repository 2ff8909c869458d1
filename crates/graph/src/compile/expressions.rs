//! Expressions, rules and arguments: compiled, and what they read checked.

use mcpgraph_config::model::{ArgValue, Condition, Spanned};
use mcpgraph_config::{Json, Text, Tree};
use mcpgraph_diagnostics::{Diagnostic, Span, codes};
use mcpgraph_expr::{JsonLogic, Jsonata, code};

use super::body::Compiler;
use super::reads::{self, Known, Names};
use crate::Template;

impl Compiler<'_, '_> {
    pub(super) fn rule(&mut self, condition: &Condition, names: &Names<'_>) -> Option<JsonLogic> {
        match JsonLogic::condition(condition.rule.value()) {
            Ok(rule) => {
                let known = Known { names, ids: &self.ids };
                reads::check_rule(rule.reads(), &condition.rule, known, self.report);
                Some(rule)
            }
            Err(errors) => {
                for error in errors {
                    let pointer = error.pointer.as_deref().unwrap_or_default();
                    let span = match condition.rule.text_at(pointer) {
                        Some(text) if error.position.is_some() => {
                            self.report.place_in(text, &error)
                        }
                        _ if error.code == code::UNKNOWN_OPERATOR => {
                            operator_span(&condition.rule, pointer)
                        }
                        _ => condition.rule.span_at(pointer),
                    };
                    self.report.push(
                        Diagnostic::error(codes::RULE_INVALID, error.to_string())
                            .at(self.report.source(), span, "")
                            .hint(
                                "a rule is JSON Logic; the operand of `var` is a JSONata expression",
                            )
                            .maybe_hint(error.hint()),
                    );
                }
                // One fault hides nothing that others read.
                let reads = JsonLogic::reads_of(condition.rule.value());
                let known = Known { names, ids: &self.ids };
                reads::check_rule(&reads, &condition.rule, known, self.report);
                None
            }
        }
    }

    pub(super) fn expression(&mut self, text: &Text, names: &Names<'_>) -> Option<Jsonata> {
        match Jsonata::compile(text) {
            Ok(expression) => {
                let known = Known { names, ids: &self.ids };
                reads::check_expression(expression.reads(), text, known, self.report);
                Some(expression)
            }
            Err(_) => {
                for error in Jsonata::problems(text) {
                    let span = self.report.place_in(text, &error);
                    self.report.push(
                        Diagnostic::error(codes::EXPRESSION_SYNTAX, error.to_string())
                            .at(self.report.source(), span, "")
                            .hint("try it with `mcpgraph eval jsonata`"),
                    );
                }
                None
            }
        }
    }

    pub(super) fn template(
        &mut self,
        args: &Spanned<ArgValue>,
        names: &Names<'_>,
    ) -> Option<Template> {
        Template::new(&args.value, &mut |text| self.expression(text, names))
    }
}

/// Where the word of an operator stands, by the pointer to its operands.
fn operator_span(rule: &Json, operands: &str) -> Span {
    let operation = operands.rsplit_once('/').and_then(|(at, _)| rule.tree().pointer(at));
    match operation.map(Tree::members) {
        Some([operator]) => operator.key.span(),
        _ => rule.span_at(operands),
    }
}
