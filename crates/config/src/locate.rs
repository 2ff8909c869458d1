//! Where in a file an expression stands that a run names by its node.

use crate::{Kind, Text, Tree};

/// The expression of a node of a tool, by the pointer to it from the node; none if the file has no
/// such thing.
pub fn expression_at<'t>(
    file: &'t Tree,
    tool: &str,
    node: &str,
    pointer: &str,
) -> Option<&'t Text> {
    let mut tools = file.get("tools")?.value.items().iter();
    let tool = tools.find(|definition| says(definition, "name", tool))?;
    let mut open: Vec<&Tree> =
        tool.get("nodes")?.value.items().iter().map(|node| &**node).collect();
    while let Some(definition) = open.pop() {
        if says(definition, "id", node) {
            let place = definition.pointer(pointer)?;
            return match place.get("expr") {
                Some(member) => member.value.as_text(),
                None => place.as_text(),
            };
        }
        let body = definition.get("body").into_iter().map(|body| &body.value);
        let branches = definition.get("branches").into_iter();
        let branches = branches.flat_map(|branches| branches.value.members());
        for nodes in body.chain(branches.map(|branch| &branch.value)) {
            open.extend(nodes.items().iter().map(|node| &**node));
        }
    }
    None
}

fn says(definition: &Tree, key: &str, word: &str) -> bool {
    let value = definition.get(key).map(|member| &member.value.kind);
    matches!(value, Some(Kind::String(text)) if *text == *word)
}
