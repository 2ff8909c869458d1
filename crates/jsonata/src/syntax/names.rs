use std::sync::Arc;

use super::ast::{Expr, ExprKind};
use crate::stack;

/// The variables an expression binds and mentions, anywhere.
#[derive(Default)]
pub(crate) struct BoundNames {
    bound: Vec<Arc<str>>,
    mentioned: Vec<Arc<str>>,
}

impl BoundNames {
    pub(crate) fn of(expr: &Expr) -> Self {
        let mut names = Self::default();
        names.collect(expr);
        names
    }

    /// Whether `name` is given a value somewhere, so that it may not be what it is outside.
    pub(crate) fn binds(&self, name: &str) -> bool {
        self.bound.iter().any(|bound| **bound == *name)
    }

    pub(crate) fn mentions(&self, name: &str) -> bool {
        self.mentioned.iter().any(|mentioned| **mentioned == *name)
    }

    fn collect(&mut self, expr: &Expr) {
        stack::grow(|| {
            match &expr.kind {
                ExprKind::Variable(name) => add(&mut self.mentioned, name),
                ExprKind::Bind { name, .. }
                | ExprKind::Focus { name, .. }
                | ExprKind::Index { name, .. } => add(&mut self.bound, name),
                ExprKind::Lambda(lambda) => {
                    for name in &lambda.parameters {
                        add(&mut self.bound, name);
                    }
                }
                _ => {}
            }
            for child in expr.children() {
                self.collect(child);
            }
        });
    }
}

fn add(names: &mut Vec<Arc<str>>, name: &Arc<str>) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}
