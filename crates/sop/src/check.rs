//! Whether the parts of a procedure fit together.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use indexmap::IndexMap;
use mcpgraph_config::Text;
use mcpgraph_config::model::{FrontMatter, GuardDef, HubDef};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes, shortened, suggest};
use mcpgraph_expr::JsonLogic;

use crate::chart::Guard;
use crate::read::{Prompts, named_tools};
use crate::{Chart, NodeId};

/// The entry of a procedure that names none.
const ENTRY: &str = "START";

/// The hub of a procedure that names none, if it has such a node.
const HUB: &str = "ROUTE";

/// Checks everything that needs more than one part, and puts the guards in their places. Gives the
/// entry and the hub.
pub(crate) fn check(
    source: &Arc<Source>,
    front: &FrontMatter,
    chart: &mut Chart,
    prompts: Prompts,
    diagnostics: &mut Diagnostics,
) -> Option<(NodeId, Option<NodeId>)> {
    let mut check = Check { source, front, diagnostics };
    check.tools(&prompts);
    let mut by_node: IndexMap<&str, Vec<&GuardDef>> = IndexMap::new();
    for guard in &front.guards {
        by_node.entry(guard.node.as_str()).or_default().push(guard);
    }
    for guards in by_node.values() {
        check.guards(chart, &guards[0].node, guards);
    }
    check.branches(chart);
    let entry = check.entry(chart);
    let hub = check.hub(chart);
    if let (Some(entry), Ok(hub)) = (entry, hub) {
        check.reach(chart, entry, hub);
    }
    Some((entry?, hub.ok()?))
}

/// The nearest of the names that would have been right; in a flood nobody sees it, and it takes
/// time.
pub(crate) fn meant<'a>(
    found: &Diagnostics,
    word: &str,
    names: impl Iterator<Item = &'a str>,
) -> Option<String> {
    const MAX_SUGGESTIONS: usize = 20;
    (found.len() < MAX_SUGGESTIONS).then(|| suggest::did_you_mean(word, names)).flatten()
}

struct Check<'a> {
    source: &'a Arc<Source>,
    front: &'a FrontMatter,
    diagnostics: &'a mut Diagnostics,
}

impl Check<'_> {
    /// The tools that prompts name have to be in the list of all tools, where there is one.
    fn tools(&mut self, prompts: &Prompts) {
        let Some(listed) = named_tools(self.front) else { return };
        let known: HashSet<&str> = listed.iter().copied().collect();
        for tool in prompts.values().flat_map(|prompt| &prompt.tools) {
            if known.contains(tool.as_str()) {
                continue;
            }
            let message =
                format!("the tool `{}` is not in the front matter's list", shortened(tool, 60));
            let hint = meant(self.diagnostics, tool, listed.iter().copied())
                .unwrap_or_else(|| String::from("add it to `tools` in the front matter"));
            self.diagnostics.push(
                Diagnostic::warning(codes::PROMPT_TOOL, message)
                    .at(self.source, tool.span(), "")
                    .hint(hint),
            );
        }
    }

    /// Compiles the guards of one node and puts them on its edges.
    fn guards(&mut self, chart: &mut Chart, name: &Text, guards: &[&GuardDef]) {
        let Some(node) = chart.find(name) else {
            let hint = meant(self.diagnostics, name, chart.ids());
            self.no_edge(name, "which is not in the flowchart", hint);
            return;
        };
        // An edge is meant by its label or by where it leads.
        let mut edges: HashMap<Arc<str>, Vec<usize>> = HashMap::new();
        for (number, edge) in chart.nodes[node].edges.iter().enumerate() {
            let label = edge.condition.as_deref().map(|label| label.trim().into());
            let target = Arc::clone(&chart.nodes[edge.to].id);
            for name in label.into_iter().chain([target]) {
                edges.entry(name).or_default().push(number);
            }
        }
        for guard in guards {
            let Some(compiled) = self.compiled(guard) else { continue };
            let Some(numbers) = edges.get(guard.edge.as_str()) else {
                let hint = meant(self.diagnostics, &guard.edge, edges.keys().map(|name| &**name));
                let why = format!("an edge that `{}` does not have", shortened(name, 60));
                self.no_edge(&guard.edge, &why, hint);
                continue;
            };
            for number in numbers {
                chart.nodes[node].edges[*number].guard = Some(Arc::clone(&compiled));
            }
        }
    }

    fn compiled(&mut self, guard: &GuardDef) -> Option<Arc<Guard>> {
        let errors = match JsonLogic::condition(guard.rule.value()) {
            Ok(rule) => {
                let text = guard.rule.value().to_json().into();
                return Some(Arc::new(Guard { text, rule }));
            }
            Err(errors) => errors,
        };
        for error in errors {
            let part = guard.rule.tree().pointer(error.pointer.as_deref().unwrap_or_default());
            let place = part.unwrap_or(guard.rule.tree()).span;
            let message = format!("the guard cannot be read: {}", error.message);
            self.diagnostics.push(
                Diagnostic::error(codes::RULE_INVALID, message)
                    .at(self.source, place, "")
                    .maybe_hint(error.hint()),
            );
        }
        None
    }

    fn no_edge(&mut self, name: &Text, why: &str, hint: Option<String>) {
        let message = format!("the guard is for `{}`, {why}", shortened(name, 60));
        self.diagnostics.push(
            Diagnostic::error(codes::GUARD_WITHOUT_EDGE, message)
                .at(self.source, name.span(), "")
                .maybe_hint(hint),
        );
    }

    /// Every way out of a decision needs a label that says when it is taken.
    fn branches(&mut self, chart: &Chart) {
        for node in chart.nodes.iter().filter(|node| node.is_decision() && node.edges.len() > 1) {
            for edge in node.edges.iter().filter(|edge| edge.condition.is_none()) {
                let to = &chart.nodes[edge.to].id;
                let message = format!("the branch from `{}` to `{to}` has no label", node.id);
                self.diagnostics.push(
                    Diagnostic::warning(codes::BRANCH_UNLABELLED, message)
                        .at(self.source, node.span, "")
                        .hint(format!("say when it is taken: `{} -->|when| {to}`", node.id)),
                );
            }
        }
    }

    fn entry(&mut self, chart: &Chart) -> Option<NodeId> {
        match &self.front.entry {
            Some(name) => self.find("entry", name, chart),
            None => chart.find(ENTRY).or_else(|| {
                let message = format!("there is no node `{ENTRY}` to begin at");
                self.diagnostics.push(
                    Diagnostic::error(codes::ENTRY_UNKNOWN, message)
                        .at(self.source, Span::empty(chart.span.start), "")
                        .hint("name the first node as `entry_node` in the front matter"),
                );
                None
            }),
        }
    }

    fn hub(&mut self, chart: &Chart) -> Result<Option<NodeId>, ()> {
        match &self.front.hub {
            HubDef::Named(name) => self.find("hub", name, chart).map(Some).ok_or(()),
            HubDef::None => Ok(None),
            HubDef::Usual => Ok(chart.find(HUB)),
        }
    }

    fn find(&mut self, what: &str, name: &Text, chart: &Chart) -> Option<NodeId> {
        let found = chart.find(name);
        if found.is_none() {
            let hint = meant(self.diagnostics, name, chart.ids());
            let message = format!("the {what} `{}` is not in the flowchart", shortened(name, 60));
            self.diagnostics.push(
                Diagnostic::error(codes::ENTRY_UNKNOWN, message)
                    .at(self.source, name.span(), "")
                    .maybe_hint(hint),
            );
        }
        found
    }

    /// Nodes that no walk comes to.
    fn reach(&mut self, chart: &Chart, entry: NodeId, hub: Option<NodeId>) {
        let mut reached = vec![false; chart.nodes.len()];
        let mut open: Vec<NodeId> = hub.into_iter().chain([entry]).collect();
        while let Some(number) = open.pop() {
            if !std::mem::replace(&mut reached[number], true) {
                open.extend(chart.nodes[number].edges.iter().map(|edge| edge.to));
            }
        }
        for (node, _) in chart.nodes.iter().zip(reached).filter(|(_, reached)| !reached) {
            let entry = &chart.nodes[entry].id;
            let message = format!("`{}` cannot be reached from `{entry}`", node.id);
            self.diagnostics.push(
                Diagnostic::warning(codes::NODE_UNREACHABLE, message)
                    .at(self.source, node.span, "")
                    .hint("draw an edge that leads to it, or remove it"),
            );
        }
    }
}
