use mcpgraph_value::Value;

use super::Spanned;
use crate::Text;

/// The arguments of a call, or a part of them, with the dialects resolved: what is evaluated is an
/// `Expr`, and everything else is data.
#[derive(Clone, Debug)]
pub enum ArgValue {
    /// Data without an expression anywhere inside.
    Literal(Value),
    /// A JSONata expression.
    Expr(Text),
    /// An object with an expression somewhere inside; keys in the order of the file.
    Object(Vec<(Text, Spanned<ArgValue>)>),
    /// An array with an expression somewhere inside.
    Array(Vec<Spanned<ArgValue>>),
}

impl Spanned<ArgValue> {
    /// Every expression inside, in the order of the file.
    pub fn expressions(&self) -> Vec<&Text> {
        let mut found = Vec::new();
        self.value.collect(&mut found);
        found
    }
}

impl ArgValue {
    fn collect<'a>(&'a self, found: &mut Vec<&'a Text>) {
        match self {
            Self::Literal(_) => {}
            Self::Expr(text) => found.push(text),
            Self::Object(members) => {
                for (_, member) in members {
                    member.value.collect(found);
                }
            }
            Self::Array(items) => {
                for item in items {
                    item.value.collect(found);
                }
            }
        }
    }
}
