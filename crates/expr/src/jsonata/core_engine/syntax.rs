//! What is done to the engine's syntax tree.

use jsonata_core::ast::{AstNode, BinaryOp, PathStep, Stage};

use super::functions::CONCATENATE;

/// Puts a function of ours in the place of every `&`, because the engine does not count the bytes
/// of the strings it builds.
pub(super) fn count_concatenations(ast: &mut AstNode) {
    let mut pending = vec![ast];
    while let Some(node) = pending.pop() {
        if let AstNode::Binary { op: BinaryOp::Concatenate, lhs, rhs } = node {
            let args = vec![take(lhs), take(rhs)];
            *node = AstNode::Function { name: CONCATENATE.to_owned(), args, is_builtin: true };
        }
        push_children(node, &mut pending);
    }
}

fn take(node: &mut AstNode) -> AstNode {
    std::mem::replace(node, AstNode::Undefined)
}

fn push_children<'a>(node: &'a mut AstNode, into: &mut Vec<&'a mut AstNode>) {
    match node {
        AstNode::Path { steps } => {
            for PathStep { node, stages, .. } in steps {
                into.push(node);
                into.extend(stages.iter_mut().filter_map(|stage| match stage {
                    Stage::Filter(filter) => Some(&mut **filter),
                    Stage::KeepArray | Stage::Index(_) => None,
                }));
            }
        }
        AstNode::Binary { lhs, rhs, .. } => into.extend([&mut **lhs, &mut **rhs]),
        AstNode::Unary { operand, .. } => into.push(operand),
        AstNode::Function { args, .. }
        | AstNode::Array(args)
        | AstNode::ArrayGroup(args)
        | AstNode::Block(args) => into.extend(args),
        AstNode::Call { procedure, args } => {
            into.push(procedure);
            into.extend(args);
        }
        AstNode::Lambda { body, .. } => into.push(body),
        AstNode::FunctionApplication(body) => into.push(body),
        AstNode::Object(pairs) => push_pairs(pairs, into),
        AstNode::ObjectTransform { input, pattern } => {
            into.push(input);
            push_pairs(pattern, into);
        }
        AstNode::Conditional { condition, then_branch, else_branch } => {
            into.extend([&mut **condition, &mut **then_branch]);
            into.extend(else_branch.as_deref_mut());
        }
        AstNode::Sort { input, terms } => {
            into.push(input);
            into.extend(terms.iter_mut().map(|(term, _)| term));
        }
        AstNode::Transform { location, update, delete } => {
            into.extend([&mut **location, &mut **update]);
            into.extend(delete.as_deref_mut());
        }
        AstNode::String(_)
        | AstNode::Name(_)
        | AstNode::Number(_)
        | AstNode::Boolean(_)
        | AstNode::Null
        | AstNode::Undefined
        | AstNode::Placeholder
        | AstNode::Regex { .. }
        | AstNode::Variable(_)
        | AstNode::ParentVariable(_)
        | AstNode::Wildcard
        | AstNode::Descendant
        | AstNode::Parent(_) => {}
    }
}

fn push_pairs<'a>(pairs: &'a mut [(AstNode, AstNode)], into: &mut Vec<&'a mut AstNode>) {
    for (key, value) in pairs {
        into.extend([key, value]);
    }
}
