//! One body: its nodes compiled, their edges resolved. Expressions are compiled in `expressions`,
//! what nodes call is looked up in `calls`.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_config::Text;
use mcpgraph_config::model::{
    Ask as AskDef, FailureKind, GraphFile, NodeDef, NodeKind, Retry as RetryDef, Switch, ToolDef,
};
use mcpgraph_diagnostics::{Diagnostic, codes, suggest};

use super::reach;
use super::reads::Names;
use super::report::Report;
use crate::{Body, Case, Kind, Node, NodeIx, Retry, RetryOn, Target, Template};

/// The name under which a node that handles an error reads it.
pub(super) const ERROR: &str = "error";

/// The name under which the body of a loop reads the position of its item.
pub(super) const INDEX: &str = "index";

/// Compiles the nodes of a tool; none if something in them cannot be compiled.
pub(super) fn compile_body(file: &GraphFile, tool: &ToolDef, report: &mut Report) -> Option<Body> {
    let mut names = Names::new();
    if has_handler(&tool.nodes) {
        names.insert(ERROR);
    }
    let mut ids = Names::new();
    collect_ids(&tool.nodes, &mut ids);
    let mut compiler = Compiler { tool: Some(tool), ..Compiler::new(file, ids, report) };
    let start = tool.nodes.iter().position(|node| matches!(node.kind, NodeKind::Entry));
    compiler.body(&tool.nodes, start, &names, true)
}

fn has_handler(nodes: &[NodeDef]) -> bool {
    nodes.iter().any(|node| {
        node.on_error.is_some()
            || node.other_handlers().next().is_some()
            || node.inner().into_iter().any(has_handler)
    })
}

fn collect_ids<'a>(nodes: &'a [NodeDef], ids: &mut Names<'a>) {
    for node in nodes {
        ids.insert(&*node.id);
        node.inner().into_iter().for_each(|inner| collect_ids(inner, ids));
    }
}

pub(super) struct Compiler<'a, 'r> {
    pub(super) file: &'a GraphFile,
    /// The tool, unless it is a workflow.
    pub(super) tool: Option<&'a ToolDef>,
    /// The ids of all nodes of the tool.
    pub(super) ids: Names<'a>,
    pub(super) report: &'r mut Report,
}

/// Something is wrong, and a diagnostic says what.
struct Reported;

/// The ids of one body and what its expressions may read.
pub(super) struct Place<'a> {
    ids: HashMap<&'a str, NodeIx>,
    names: Names<'a>,
    is_tool: bool,
}

impl<'a> Place<'a> {
    /// The place of the nodes of a workflow.
    pub(super) fn new(ids: HashMap<&'a str, NodeIx>, names: Names<'a>) -> Self {
        Self { ids, names, is_tool: true }
    }

    pub(super) fn ids(&self) -> Names<'a> {
        self.ids.keys().copied().collect()
    }

    pub(super) fn names(&self) -> &Names<'a> {
        &self.names
    }
}

impl<'a, 'r> Compiler<'a, 'r> {
    pub(super) fn new(file: &'a GraphFile, ids: Names<'a>, report: &'r mut Report) -> Self {
        Self { file, tool: None, ids, report }
    }

    pub(super) fn report(&mut self) -> &mut Report {
        self.report
    }
}

impl<'a> Compiler<'a, '_> {
    /// Compiles a list of nodes. `outer` are the names of the bodies around it.
    fn body(
        &mut self,
        defs: &'a [NodeDef],
        start: Option<NodeIx>,
        outer: &Names<'a>,
        is_tool: bool,
    ) -> Option<Body> {
        let mut ids = HashMap::new();
        for (index, def) in defs.iter().enumerate() {
            ids.entry(&*def.id).or_insert(index);
        }
        let mut names = outer.clone();
        for def in defs {
            self.check_name(def, outer);
            names.insert(&*def.id);
        }
        let place = Place { ids, names, is_tool };
        let nodes: Vec<Option<Node>> = defs.iter().map(|def| self.node(def, &place)).collect();
        let start = start?;
        reach::check(defs, &place.ids, start, is_tool, self.report);
        Some(Body { nodes: nodes.into_iter().collect::<Option<_>>()?, start })
    }

    fn node(&mut self, def: &'a NodeDef, place: &Place<'a>) -> Option<Node> {
        let kind = self.kind(def, place);
        let next = self.next(def, place);
        let on_error = def.on_error.as_ref().map(|id| self.edge(id, "onError", place));
        Some(Node {
            id: def.id.to_arc(),
            kind: kind?,
            next: next.ok()?,
            timeout: timeout(def),
            retry: def.retry.as_ref().map(retry),
            on_error: on_error.map_or(Some(None), |target| target.map(Some))?,
        })
    }

    /// Where a node goes, if it goes on.
    fn next(&mut self, def: &'a NodeDef, place: &Place<'a>) -> Result<Option<NodeIx>, Reported> {
        match (&def.kind, &def.next) {
            (NodeKind::Exit | NodeKind::Switch(_), _) => Ok(None),
            (_, Some(next)) => self.edge(next, "next", place).map(Some).ok_or(Reported),
            // It may be an exit.
            (_, None) if def.is_unknown() => Err(Reported),
            (_, None) if place.is_tool => {
                self.report.push(
                    Diagnostic::error(
                        codes::NEXT_MISSING,
                        format!("node `{}` does not say what comes next", def.id),
                    )
                    .at(self.report.source(), def.id.span(), "")
                    .hint("add `next` with the id of a node, the exit for example"),
                );
                Err(Reported)
            }
            (_, None) => Ok(None),
        }
    }

    fn kind(&mut self, def: &'a NodeDef, place: &Place<'a>) -> Option<Kind> {
        Some(match &def.kind {
            NodeKind::Entry | NodeKind::Exit if !place.is_tool => {
                self.report.push(
                    Diagnostic::error(
                        codes::NODE_MISPLACED,
                        "a body begins at its first node and ends at a node without `next`; only \
                         a tool has an entry and an exit",
                    )
                    .at(self.report.source(), def.kind_span, "")
                    .hint("remove the node and the edges to it"),
                );
                return None;
            }
            // What is wrong with it has been said when the file was read.
            NodeKind::Invalid => return None,
            NodeKind::Entry => Kind::Entry,
            NodeKind::Exit => Kind::Exit,
            NodeKind::Transform(transform) => {
                Kind::Transform(self.expression(&transform.expr, &place.names)?)
            }
            NodeKind::Switch(switch) => self.switch(&def.id, switch, place)?,
            NodeKind::Mcp(mcp) => {
                self.check_server(&mcp.server);
                let (server, tool) = (mcp.server.to_arc(), mcp.tool.to_arc());
                Kind::Call {
                    target: Target::Tool { server, tool },
                    args: self.template(&mcp.args, &place.names)?,
                }
            }
            NodeKind::Command(call) => {
                let args = self.template(&call.args, &place.names);
                let command = self.command(call)?;
                Kind::Call { target: Target::Command(Arc::new(command)), args: args? }
            }
            NodeKind::Ask(ask) => self.ask(def, ask, place)?,
            NodeKind::Wait(wait) => {
                let longest = self.tool.map_or(0, |tool| tool.limits.max_wait_ms);
                self.check_wait(wait, longest);
                let key = if wait.is_until { "until" } else { "duration" };
                let time = self.template(&wait.time, &place.names)?;
                Kind::Call {
                    target: Target::Time { longest: Duration::from_millis(longest) },
                    args: Template::Object(vec![(key.into(), time)]),
                }
            }
            NodeKind::Graph(call) => {
                self.check_tool(&call.tool);
                Kind::Graph {
                    tool: call.tool.to_arc(),
                    args: self.template(&call.args, &place.names)?,
                }
            }
            NodeKind::Foreach(foreach) => {
                self.check_item_name(def, &foreach.item_name, &place.names);
                let items = self.expression(&foreach.items, &place.names);
                let mut names = place.names.clone();
                names.extend([&*foreach.item_name, INDEX]);
                let body = self.body(&foreach.body, Some(0), &names, false);
                Kind::Foreach {
                    items: items?,
                    item_name: foreach.item_name.to_arc(),
                    body: Arc::new(body?),
                    max_parallel: count(foreach.max_parallel),
                }
            }
            NodeKind::Parallel(parallel) => {
                let branches: Vec<Option<_>> = parallel
                    .branches
                    .iter()
                    .map(|branch| {
                        let body = self.body(&branch.nodes, Some(0), &place.names, false)?;
                        Some((branch.name.to_arc(), Arc::new(body)))
                    })
                    .collect();
                Kind::Parallel {
                    branches: branches.into_iter().collect::<Option<_>>()?,
                    max_parallel: parallel.max_parallel.map_or(usize::MAX, count),
                }
            }
        })
    }

    pub(super) fn switch(
        &mut self,
        id: &Text,
        switch: &'a Switch,
        place: &Place<'a>,
    ) -> Option<Kind> {
        let cases: Vec<Option<Case>> = switch
            .conditions
            .iter()
            .map(|condition| {
                let rule = self.rule(condition, &place.names);
                let target = self.edge(&condition.target, "a condition", place);
                let source = condition.rule.value().clone();
                let position = condition.position;
                Some(Case { position, rule: rule?, source, target: target? })
            })
            .collect();
        let default = match &switch.default {
            Some(id) => self.edge(id, "the default", place).map(Some),
            None => {
                self.report.push(
                    Diagnostic::warning(
                        codes::NO_DEFAULT,
                        format!("switch `{id}` has no default"),
                    )
                    .at(self.report.source(), id.span(), "")
                    .hint("the run fails when no rule holds; add a condition without a rule, or a `next`"),
                );
                Some(None)
            }
        };
        Some(Kind::Switch { cases: cases.into_iter().collect::<Option<_>>()?, default: default? })
    }

    /// Resolves an edge to a node of the same body.
    pub(super) fn edge(&mut self, id: &Text, what: &str, place: &Place<'_>) -> Option<NodeIx> {
        let index = place.ids.get(&**id).copied();
        if index.is_none() {
            let (why, hint) = if self.ids.contains(&**id) {
                ("not in the same body", String::from("an edge cannot leave or enter a body"))
            } else {
                let hint = suggest::did_you_mean(id, place.ids.keys().copied());
                let otherwise = || String::from("name a node of the same tool");
                ("not a node", hint.unwrap_or_else(otherwise))
            };
            self.report.push(
                Diagnostic::error(
                    codes::DANGLING_EDGE,
                    format!("{what} leads to `{id}`, which is {why}"),
                )
                .at(self.report.source(), id.span(), "")
                .hint(hint),
            );
        }
        index
    }
}

fn count(number: NonZeroU32) -> usize {
    usize::try_from(number.get()).unwrap_or(usize::MAX)
}

/// How long one attempt may take; a question does not wait for ever.
fn timeout(def: &NodeDef) -> Option<Duration> {
    let default = matches!(def.kind, NodeKind::Ask(_)).then_some(AskDef::TIMEOUT_MS);
    def.timeout_ms.map(|ms| ms.value).or(default).map(Duration::from_millis)
}

fn retry(def: &RetryDef) -> Retry {
    let on = |kind| def.on.contains(&kind) || def.on.contains(&FailureKind::Any);
    Retry {
        times: def.times,
        backoff: Duration::from_millis(def.backoff_ms),
        on: RetryOn {
            timeout: on(FailureKind::Timeout),
            unavailable: on(FailureKind::Unavailable),
            tool_error: on(FailureKind::ToolError),
            protocol_error: on(FailureKind::ProtocolError),
            expression: on(FailureKind::Expression),
        },
    }
}
