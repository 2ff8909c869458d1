//! Names that would mean two things in expressions.

use mcpgraph_config::Text;
use mcpgraph_config::model::NodeDef;
use mcpgraph_diagnostics::{Diagnostic, codes};

use super::body::{Compiler, ERROR, INDEX};
use super::reads::Names;

impl Compiler<'_, '_> {
    /// A node that hides a name of the bodies around it would change what expressions mean.
    pub(super) fn check_name(&mut self, def: &NodeDef, outer: &Names<'_>) {
        if outer.contains(&*def.id) && [ERROR, INDEX].contains(&&*def.id) {
            self.name_taken(&def.id);
        }
    }

    /// So would an item; only the item of a loop around it may be hidden, as in any language.
    pub(super) fn check_item_name(&mut self, foreach: &NodeDef, name: &Text, outer: &Names<'_>) {
        let is_error = &**name == ERROR && outer.contains(ERROR);
        if is_error || &**name == INDEX {
            self.name_taken(name);
            return;
        }
        let node = self.tool.and_then(|tool| find_node(&tool.nodes, name));
        let Some(node) = node else { return };
        // Where nobody named the item, the node is what can be seen in the file.
        let is_named = name.span() != foreach.span;
        let span = if is_named { name.span() } else { node.id.span() };
        let mut diagnostic = Diagnostic::error(
            codes::NAME_TAKEN,
            format!("`{name}` is a node, and the item of foreach `{}` too", foreach.id),
        )
        .at(self.report.source(), span, "");
        if is_named {
            diagnostic = diagnostic.also(self.report.source(), node.id.span(), "this is the node");
        } else {
            let foreach = foreach.id.span();
            diagnostic = diagnostic.also(self.report.source(), foreach, "this is the foreach");
        }
        self.report.push(diagnostic.hint(
            "give the node another id, or the item another name with `as`; expressions could not \
             tell them apart",
        ));
    }

    fn name_taken(&mut self, name: &Text) {
        self.report.push(
            Diagnostic::error(
                codes::NAME_TAKEN,
                format!("`{name}` means something else in expressions here"),
            )
            .at(self.report.source(), name.span(), "")
            .hint(
                "`error` is the error an `onError` caught, `index` the position in a foreach, and \
                 any node's id its output",
            ),
        );
    }
}

/// The node with an id, wherever it is in the tool.
fn find_node<'a>(nodes: &'a [NodeDef], id: &str) -> Option<&'a NodeDef> {
    nodes.iter().find_map(|node| {
        let inner = || node.inner().into_iter().find_map(|inner| find_node(inner, id));
        if &*node.id == id { Some(node) } else { inner() }
    })
}
