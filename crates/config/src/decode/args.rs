//! The arguments of calls, and the two dialects in which expressions are written in them.

use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes};
use mcpgraph_value::{Map, Value};

use super::problems::{Problems, quoted};
use super::record::Record;
use crate::keys::Shape;
use crate::model::{ArgValue, Spanned, Version};
use crate::{Kind, Member, Text, Tree};

/// How expressions are written in the `args` of one tool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    /// Top-level text that starts with `$` is an expression; what is nested is data.
    Dollar,
    /// `{expr: …}` at any depth is an expression; text is text.
    Expr {
        /// Whether the file leaves it to the tool, so that a `$` may have been meant in the other
        /// dialect.
        chosen_by_tool: bool,
    },
}

impl Dialect {
    /// The dialect of a tool: the newer one as soon as it is used anywhere, or the file says so.
    pub(super) fn of_tool(version: Version, nodes: &[Arc<Tree>]) -> Self {
        match version {
            Version::Two => Self::Expr { chosen_by_tool: false },
            Version::One if nodes.iter().any(uses_expr) => Self::Expr { chosen_by_tool: true },
            Version::One => Self::Dollar,
        }
    }
}

/// Whether a node, or one inside it, has an `{expr: …}` in its `args`, as its `message` or as the time
/// it waits for.
fn uses_expr(node: &Arc<Tree>) -> bool {
    let in_args = node
        .get("args")
        .is_some_and(|args| args.value.members().iter().any(|member| contains_expr(&member.value)));
    let in_message = node.get("message").is_some_and(|message| contains_expr(&message.value));
    let body = node.get("body").into_iter().flat_map(|body| body.value.items());
    let branches = node
        .get("branches")
        .into_iter()
        .flat_map(|branches| branches.value.members())
        .flat_map(|branch| branch.value.items());
    let in_wait = ["duration", "until"]
        .iter()
        .any(|key| node.get(key).is_some_and(|time| contains_expr(&time.value)));
    in_args || in_message || in_wait || body.chain(branches).any(uses_expr)
}

fn contains_expr(tree: &Arc<Tree>) -> bool {
    let is_expr = matches!(tree.members(), [member] if member.key == "expr");
    is_expr
        || tree.items().iter().any(contains_expr)
        || tree.members().iter().any(|member| contains_expr(&member.value))
}

/// Reads the `args` of a call. The mapping itself is never an expression: its keys are the names
/// of arguments, and one may be called `expr`.
pub(super) fn args(
    record: &Record<'_>,
    dialect: Dialect,
    problems: &mut Problems,
) -> Spanned<ArgValue> {
    let members = record.map("args", problems).unwrap_or_default();
    let span = record.member("args").map_or(record.span(), |member| member.value.span);
    let read: Vec<(Text, Spanned<ArgValue>)> = members
        .iter()
        .map(|member| (member.key.clone(), argument(member, dialect, problems)))
        .collect();
    object(read, span)
}

/// One argument, or another member that is written like one.
pub(super) fn argument(
    member: &Member,
    dialect: Dialect,
    problems: &mut Problems,
) -> Spanned<ArgValue> {
    let tree = &member.value;
    let dollar = tree.as_text().filter(|text| text.starts_with('$'));
    match (dialect, dollar) {
        (Dialect::Dollar, Some(text)) => Spanned::new(ArgValue::Expr(text.clone()), tree.span),
        (Dialect::Dollar, None) => {
            check_alone(tree, problems);
            Spanned::new(ArgValue::Literal(tree.to_value()), tree.span)
        }
        (Dialect::Expr { chosen_by_tool: true }, Some(text)) => {
            warn_of_dollar(&member.key, text, problems);
            value(tree, problems)
        }
        (Dialect::Expr { .. }, _) => value(tree, problems),
    }
}

/// A value in which `{expr: …}` is an expression.
fn value(tree: &Arc<Tree>, problems: &mut Problems) -> Spanned<ArgValue> {
    match &tree.kind {
        Kind::Map(members) => match members.as_slice() {
            [member] if member.key == "expr" => expression(&member.value, tree, problems),
            _ => {
                report_company(tree, problems);
                let read =
                    members.iter().map(|m| (m.key.clone(), value(&m.value, problems))).collect();
                object(read, tree.span)
            }
        },
        Kind::Seq(items) => {
            array(items.iter().map(|item| value(item, problems)).collect(), tree.span)
        }
        _ => Spanned::new(ArgValue::Literal(tree.to_value()), tree.span),
    }
}

fn expression(expr: &Tree, whole: &Tree, problems: &mut Problems) -> Spanned<ArgValue> {
    let text = super::record::text_of(Shape::Name, expr, "expr", problems);
    let value = text.map_or_else(|| ArgValue::Literal(whole.to_value()), ArgValue::Expr);
    Spanned::new(value, whole.span)
}

/// An object without an expression inside is data.
fn object(members: Vec<(Text, Spanned<ArgValue>)>, span: Span) -> Spanned<ArgValue> {
    let mut map = Map::with_capacity(members.len());
    for (key, member) in &members {
        let ArgValue::Literal(value) = &member.value else {
            return Spanned::new(ArgValue::Object(members), span);
        };
        map.insert(key.to_arc(), value.clone());
    }
    Spanned::new(ArgValue::Literal(Value::object(map)), span)
}

/// An array without an expression inside is data.
fn array(items: Vec<Spanned<ArgValue>>, span: Span) -> Spanned<ArgValue> {
    let mut list = Vec::with_capacity(items.len());
    for item in &items {
        let ArgValue::Literal(value) = &item.value else {
            return Spanned::new(ArgValue::Array(items), span);
        };
        list.push(value.clone());
    }
    Spanned::new(ArgValue::Literal(Value::array(list)), span)
}

/// Looks for `expr` beside other keys at any depth.
fn check_alone(tree: &Tree, problems: &mut Problems) {
    report_company(tree, problems);
    tree.items().iter().for_each(|item| check_alone(item, problems));
    tree.members().iter().for_each(|member| check_alone(&member.value, problems));
}

/// An `expr` beside other keys could be meant either way, so it is neither.
fn report_company(tree: &Tree, problems: &mut Problems) {
    let Some(expr) = tree.get("expr").filter(|_| tree.members().len() > 1) else { return };
    let others: Vec<String> = tree
        .members()
        .iter()
        .filter(|member| member.key != "expr")
        .take(3)
        .map(|member| quoted(&member.key))
        .collect();
    let message =
        format!("an expression object has only the key `expr`, found also {}", others.join(", "));
    problems.push(
        problems.error(codes::EXPR_NOT_ALONE, expr.key.span(), message).hint(
            "move the other keys out, or compute the whole object: `{expr: '{\"expr\": …}'}`",
        ),
    );
}

fn warn_of_dollar(key: &Text, text: &Text, problems: &mut Problems) {
    let message = format!("{} is passed as text, because the tool uses `{{expr: …}}`", quoted(key));
    problems.push(
        problems
            .warning(codes::DOLLAR_IS_LITERAL, text.span(), message)
            .hint(format!("to evaluate it write `{{expr: {}}}`", quoted_expression(text))),
    );
}

fn quoted_expression(text: &str) -> String {
    let shown = mcpgraph_diagnostics::shortened(text, 60);
    format!("'{}'", shown.replace('\'', "''"))
}
