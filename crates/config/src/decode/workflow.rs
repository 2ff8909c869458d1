//! Workflows, as people write them in YAML and as editors keep them in JSON.

use std::sync::Arc;

use mcpgraph_diagnostics::codes;

use super::problems::Problems;
use super::record::{Record, Strangers, text_of, wrong_type};
use super::switch::switch;
use super::tool::limits;
use crate::keys::{HOOK, Shape, WORKFLOW, WORKFLOW_EDGE, WORKFLOW_NODE, WORKFLOW_NODE_DATA};
use crate::model::{
    Around, EdgeDef, ExecutionLimits, HookCode, HookDef, HookModuleDef, MatchDef, Transform,
    WorkflowDef, WorkflowNodeDef, WorkflowNodeKind,
};
use crate::{Kind, Member, Style, Text, Tree};

/// More than anybody draws, and few enough to be checked in no time.
const MAX_NODES: usize = 500;

/// Reads a workflow; `base` are the limits of its file.
pub(super) fn workflow(
    tree: &Arc<Tree>,
    index: usize,
    base: ExecutionLimits,
    problems: &mut Problems,
) -> Option<WorkflowDef> {
    // Editors keep things of their own in a workflow, and much in its nodes and edges.
    let record = Record::open(tree, &WORKFLOW, Strangers::Tolerate, problems)?;
    let name = record
        .text("name", problems)
        .unwrap_or_else(|| Text::new(format!("#{}", index + 1), tree.span, Style::Plain));
    let word = record.word("workflowType", problems);
    let around = word.and_then(|word| Around::ALL.iter().find(|(name, _)| *name == word.value));
    let own_limits = record.record("executionLimits", problems);
    let mut edges = Vec::new();
    let items = record.list("nodes", problems).unwrap_or_default();
    if items.len() > MAX_NODES {
        let message = format!("a workflow has at most {MAX_NODES} nodes, not {}", items.len());
        problems.push(problems.error(codes::OUT_OF_RANGE, record.span(), message));
    }
    let nodes: Vec<WorkflowNodeDef> = items
        .iter()
        .take(MAX_NODES)
        .enumerate()
        .filter_map(|(index, item)| node(item, index, &mut edges, problems))
        .collect();
    for item in record.list("edges", problems).unwrap_or_default() {
        edges.extend(edge(item, problems));
    }
    Some(WorkflowDef {
        span: tree.span,
        id: record.text("id", problems).unwrap_or_else(|| name.clone()),
        name,
        description: record.text("description", problems),
        around: around.map_or(Around::Call, |(_, around)| *around),
        enabled: record.flag("enabled", problems).unwrap_or(true),
        priority: record.count("priority", problems).map_or(0, |count| count.value),
        only: record.record("match", problems).map_or_else(MatchDef::default, |record| MatchDef {
            server: record.text("server", problems),
            tool: record.text("tool", problems),
            client: record.text("client", problems),
        }),
        allow_hosts: record.texts("allowHosts", Shape::Name, problems),
        limits: own_limits.map_or(base, |record| limits(&record, base, problems)),
        nodes,
        edges,
    })
}

/// Reads the scripts that several hooks use.
pub(super) fn hook_modules(members: &[Member], problems: &mut Problems) -> Vec<HookModuleDef> {
    let module = |member: &Member| {
        let script = text_of(Shape::Text, &member.value, &member.key, problems)?;
        Some(HookModuleDef { name: member.key.clone(), script })
    };
    members.iter().filter_map(module).collect()
}

/// Reads a node, and the edges that its `next` stands for.
fn node(
    tree: &Arc<Tree>,
    index: usize,
    edges: &mut Vec<EdgeDef>,
    problems: &mut Problems,
) -> Option<WorkflowNodeDef> {
    let record = Record::open(tree, &WORKFLOW_NODE, Strangers::Tolerate, problems)?;
    let id = record
        .text("id", problems)
        .unwrap_or_else(|| Text::new(format!("#{}", index + 1), tree.span, Style::Plain));
    let data = record.member("data").and_then(|member| {
        Record::open(&member.value, &WORKFLOW_NODE_DATA, Strangers::Tolerate, problems)
    });
    let word = record.word("type", problems);
    let kind = word.and_then(|word| kind(word.value, &record, data.as_ref(), problems));
    if !matches!(kind, Some(WorkflowNodeKind::Switch(_))) {
        next(&record, &id, edges, problems);
    }
    Some(WorkflowNodeDef {
        span: tree.span,
        id,
        kind_span: word.map_or(tree.span, |word| word.span),
        kind: kind.unwrap_or(WorkflowNodeKind::Invalid),
        position: record.json("position", problems),
    })
}

fn kind(
    name: &str,
    record: &Record<'_>,
    data: Option<&Record<'_>>,
    problems: &mut Problems,
) -> Option<WorkflowNodeKind> {
    // What the node says itself counts before what an editor says for it.
    let with = |key: &str| match data {
        Some(data) if record.member(key).is_none() && data.member(key).is_some() => *data,
        _ => *record,
    };
    Some(match name {
        "start" => WorkflowNodeKind::Start,
        "end" => WorkflowNodeKind::End,
        "mcp-call" => WorkflowNodeKind::McpCall,
        "hook" => {
            let Some(member) = with("hook").member("hook") else {
                missing("hook", "a `hook` node", record, problems);
                return None;
            };
            WorkflowNodeKind::Hook(hook(member, problems)?)
        }
        "transform" => {
            let Some(transform) = with("transform").record("transform", problems) else {
                missing("transform", "a `transform` node", record, problems);
                return None;
            };
            WorkflowNodeKind::Transform(Transform { expr: transform.text("expr", problems)? })
        }
        "switch" => {
            let conditions = with("conditions");
            if conditions.member("conditions").is_none() {
                missing("conditions", "a `switch` node", record, problems);
                return None;
            }
            WorkflowNodeKind::Switch(switch(&conditions, problems)?)
        }
        _ => return None,
    })
}

fn missing(key: &str, noun: &str, record: &Record<'_>, problems: &mut Problems) {
    let message = format!("{noun} needs the key `{key}`");
    problems.push(
        problems
            .error(codes::MISSING_KEY, record.span(), message)
            .hint(format!("write `{key}` beside `type`, or under `data` as editors do")),
    );
}

fn hook(member: &Member, problems: &mut Problems) -> Option<HookDef> {
    let record = Record::open(&member.value, &HOOK, Strangers::Report, problems)?;
    let script = record.text("script", problems);
    let module = record.text("module", problems);
    let module = module.or_else(|| record.text("hookModuleId", problems));
    let blocking = record.flag("blocking", problems).unwrap_or(true);
    let on_error = record.word("onError", problems);
    let timeout_ms = record.count("timeoutMs", problems);
    let code = match (module, script) {
        // An editor leaves an old script in a node that uses a module now.
        (Some(module), _) => HookCode::Module(module),
        (None, Some(script)) => HookCode::Inline(script),
        (None, None) => {
            let message = "`hook` needs the key `script` or `module`";
            problems.push(problems.error(codes::MISSING_KEY, record.span(), message));
            return None;
        }
    };
    let goes_on = on_error.is_some_and(|word| word.value == "continue");
    Some(HookDef { code, blocking, goes_on, timeout_ms })
}

/// `next` is the id of a node or a list of them.
fn next(record: &Record<'_>, id: &Text, edges: &mut Vec<EdgeDef>, problems: &mut Problems) {
    let Some(member) = record.member("next") else { return };
    let targets = match &member.value.kind {
        Kind::Seq(items) => items.as_slice(),
        Kind::String(_) => std::slice::from_ref(&member.value),
        _ => {
            wrong_type("next", Shape::Name, &member.value, problems);
            return;
        }
    };
    for target in targets {
        if let Some(target) = text_of(Shape::Name, target, "next", problems) {
            edges.push(EdgeDef { source: id.clone(), target });
        }
    }
}

fn edge(tree: &Arc<Tree>, problems: &mut Problems) -> Option<EdgeDef> {
    let record = Record::open(tree, &WORKFLOW_EDGE, Strangers::Tolerate, problems)?;
    let (source, target) = (record.text("source", problems), record.text("target", problems));
    Some(EdgeDef { source: source?, target: target? })
}
