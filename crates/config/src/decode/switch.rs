use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostic, codes};

use super::problems::Problems;
use super::record::{Record, Strangers};
use crate::keys::CONDITION;
use crate::model::{Condition, Switch};
use crate::{Json, Kind, Member, Text, Tree};

/// Reads the conditions and the default of a `switch`, in either of the two ways to write them:
/// `target` with a condition without a rule as the default, or `next` with the node's own `next`.
pub(super) fn switch(record: &Record<'_>, problems: &mut Problems) -> Option<Switch> {
    let next = record.text("next", problems);
    let items = record.list("conditions", problems)?;
    if items.is_empty()
        && let Some(member) = record.member("conditions")
    {
        let message = "a `switch` node needs at least one condition";
        problems.push(problems.error(codes::OUT_OF_RANGE, member.value.span, message));
    }
    let mut conditions = Vec::with_capacity(items.len());
    let mut default: Option<Text> = None;
    let mut complete = true;
    for (position, item) in items.iter().enumerate() {
        match condition(item, position, problems) {
            Some(Read::Rule(condition)) => conditions.push(condition),
            Some(Read::Default(target)) => match &default {
                Some(first) => second_default(&target, first, "another condition", problems),
                None => default = Some(target),
            },
            None => complete = false,
        }
    }
    if let (Some(next), Some(first)) = (&next, &default) {
        second_default(next, first, "a condition", problems);
    }
    complete.then_some(Switch { conditions, default: default.or(next) })
}

enum Read {
    Rule(Condition),
    Default(Text),
}

fn condition(tree: &Arc<Tree>, position: usize, problems: &mut Problems) -> Option<Read> {
    let record = Record::open(tree, &CONDITION, Strangers::Report, problems)?;
    let rule = record.member("rule").filter(|rule| !matches!(rule.value.kind, Kind::Null));
    let target = match (record.member("target"), record.member("next")) {
        (Some(target), Some(next)) => {
            both(target, next, problems);
            return None;
        }
        (Some(_), None) => record.text("target", problems)?,
        (None, Some(next)) => {
            if rule.is_none() {
                no_rule(next, problems);
                return None;
            }
            record.text("next", problems)?
        }
        (None, None) => {
            if !record.is_mistyped("target") && !record.is_mistyped("next") {
                let message = "a condition needs the key `target` or `next`";
                problems.push(problems.error(codes::MISSING_KEY, tree.span, message));
            }
            return None;
        }
    };
    Some(match rule {
        Some(rule) => {
            let rule = Json::new(&rule.value);
            Read::Rule(Condition { span: tree.span, position, rule, target })
        }
        None => Read::Default(target),
    })
}

fn both(target: &Member, next: &Member, problems: &mut Problems) {
    let message = "a condition has both `target` and `next`";
    let diagnostic = problems
        .error(codes::CONDITION_DIALECTS, next.key.span(), message)
        .also(problems.source(), target.key.span(), "`target` says the same")
        .hint("keep one of them; they are two words for where the condition leads");
    problems.push(diagnostic);
}

fn no_rule(next: &Member, problems: &mut Problems) {
    let message = "a condition with `next` needs the key `rule`";
    problems.push(
        problems.error(codes::MISSING_KEY, next.key.span(), message).hint(
            "for a default write `target` in place of `next`, or give the node itself a `next`",
        ),
    );
}

fn second_default(second: &Text, first: &Text, what: &str, problems: &mut Problems) {
    let message = format!("the switch has a second default, beside that of {what} without a rule");
    let diagnostic = Diagnostic::error(codes::SECOND_DEFAULT, message)
        .at(problems.source(), second.span(), "the second default")
        .also(problems.source(), first.span(), "the first default")
        .hint("keep one: a condition without a rule, or the node's own `next`");
    problems.push(diagnostic);
}
