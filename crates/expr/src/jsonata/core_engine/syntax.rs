//! What is done to the engine's syntax tree.

use jsonata_core::ast::{AstNode, BinaryOp, PathStep, Stage};

use super::functions::CONCATENATE;

/// The functions that are replaced by ours and take the context as their first argument where
/// fewer are given. The engine does not tell our functions what the context is.
const CONTEXTUAL: [(&str, usize); 4] =
    [("pad", 2), ("formatInteger", 2), ("encodeUrl", 1), ("encodeUrlComponent", 1)];

/// Makes an expression use our functions: in the place of every `&`, because the engine does not
/// count the bytes of the strings it builds, and with the context where it is left out.
pub(super) fn adapt(ast: &mut AstNode) {
    let mut pending = vec![ast];
    while let Some(node) = pending.pop() {
        match node {
            AstNode::Binary { op: BinaryOp::Concatenate, lhs, rhs } => {
                let args = vec![take(lhs), take(rhs)];
                *node = AstNode::Function { name: CONCATENATE.to_owned(), args, is_builtin: true };
            }
            AstNode::Function { name, args, .. } if lacks_context(name, args) => {
                args.insert(0, AstNode::Variable(String::new()));
            }
            // What stands before `~>` is the first argument.
            AstNode::Binary { op: BinaryOp::ChainPipe, lhs, rhs } => {
                pending.push(lhs);
                match &mut **rhs {
                    AstNode::Function { args, .. } => pending.extend(args),
                    rhs => pending.push(rhs),
                }
                continue;
            }
            _ => {}
        }
        push_children(node, &mut pending);
    }
}

fn lacks_context(name: &str, args: &[AstNode]) -> bool {
    let fewest = CONTEXTUAL.iter().find(|(known, _)| *known == name).map(|(_, fewest)| *fewest);
    fewest.is_some_and(|fewest| args.len() + 1 == fewest)
        && !args.iter().any(|arg| matches!(arg, AstNode::Placeholder))
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
