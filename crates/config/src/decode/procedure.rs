//! The parts of a procedure that are YAML: its front matter and its prompts.

use std::sync::Arc;

use mcpgraph_diagnostics::codes;

use super::problems::Problems;
use super::record::{Record, Strangers, text_of, wrong_type};
use super::server::server;
use super::variables::Lookup;
use crate::keys::{FRONT_MATTER, PROMPT, PROMPTS, Shape};
use crate::model::{FrontMatter, GuardDef, HubDef, Origin, PromptDef, ServerDef};
use crate::{Json, Kind, Member, Style, Text, Tree};

/// Reads a front matter; none, with a diagnostic, if it is not even a mapping.
pub(crate) fn front_matter(tree: &Arc<Tree>, problems: &mut Problems) -> Option<FrontMatter> {
    // Other programs read the same files.
    let record = Record::open(tree, &FRONT_MATTER, Strangers::Tolerate, problems)?;
    let nameless = || Text::new("", record.span(), Style::Plain);
    record.json("api", problems);
    Some(FrontMatter {
        span: record.span(),
        agent: record.text("agent", problems).unwrap_or_else(nameless),
        version: record.text("version", problems),
        entry: record.text("entry_node", problems),
        hub: hub(&record, problems),
        model: record.json("model", problems),
        servers: server_items(&record, problems).iter().map(Json::new).collect(),
        tools: record.list("tools", problems).map(|items| names("tools", items, problems)),
        always_tools: list(&record, "always_tools", problems),
        enforce: record.flag("enforce", problems).unwrap_or(false),
        guards: guards(&record, problems),
    })
}

/// The servers of a front matter, with their variables.
pub(crate) fn procedure_servers(
    tree: &Arc<Tree>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Vec<ServerDef> {
    let Some(servers) = tree.get("mcp_servers") else { return Vec::new() };
    let named = servers.value.items().iter().filter_map(|item| {
        let Some(name) = item.get("name").and_then(|name| name.value.as_text()) else {
            let message = "a server of a procedure needs a `name`";
            problems.push(problems.error(codes::MISSING_KEY, item.span, message));
            return None;
        };
        let member = Member { key: name.clone(), value: Arc::clone(item) };
        Some(server(&member, Origin::Procedure, lookup, problems))
    });
    named.collect()
}

/// Reads a block with the prompts of all nodes.
pub(crate) fn prompts(tree: &Arc<Tree>, problems: &mut Problems) -> Vec<(Text, PromptDef)> {
    let record = Record::open(tree, &PROMPTS, Strangers::Tolerate, problems);
    let members = record.and_then(|record| record.map("node_prompts", problems));
    let prompts = members.unwrap_or_default().iter().filter_map(|member| {
        let prompt = match &member.value.kind {
            Kind::Null => PromptDef::default(),
            // A text alone is the prompt.
            Kind::String(text) => PromptDef { prompt: Some(text.clone()), ..PromptDef::default() },
            _ => prompt(&member.value, problems)?,
        };
        Some((member.key.clone(), prompt))
    });
    prompts.collect()
}

/// Reads what belongs to one node; nothing stands for nothing.
pub(crate) fn prompt(tree: &Arc<Tree>, problems: &mut Problems) -> Option<PromptDef> {
    if matches!(tree.kind, Kind::Null) {
        return Some(PromptDef::default());
    }
    let record = Record::open(tree, &PROMPT, Strangers::Report, problems)?;
    let mut tools = list(&record, "tools", problems);
    tools.extend(list(&record, "tool_hints", problems));
    let prompt = record.text("prompt", problems);
    Some(PromptDef { prompt, tools, examples: record.json("examples", problems) })
}

/// The hub that a front matter names; an empty `hub_node` says that there is none.
fn hub(record: &Record<'_>, problems: &mut Problems) -> HubDef {
    let Some(member) = record.member("hub_node") else { return HubDef::Usual };
    if matches!(member.value.kind, Kind::Null) {
        return HubDef::None;
    }
    let name = text_of(Shape::Name, &member.value, "hub_node", problems);
    name.map_or(HubDef::None, HubDef::Named)
}

fn server_items<'t>(record: &Record<'t>, problems: &mut Problems) -> &'t [Arc<Tree>] {
    record.list("mcp_servers", problems).unwrap_or_default()
}

fn guards(record: &Record<'_>, problems: &mut Problems) -> Vec<GuardDef> {
    let mut found = Vec::new();
    for node in record.map("guards", problems).unwrap_or_default() {
        if !matches!(node.value.kind, Kind::Map(_)) {
            wrong_type(&node.key, Shape::AnyObject, &node.value, problems);
        }
        found.extend(node.value.members().iter().map(|edge| GuardDef {
            node: node.key.clone(),
            edge: edge.key.clone(),
            rule: Json::new(&edge.value),
        }));
    }
    found
}

fn list(record: &Record<'_>, key: &str, problems: &mut Problems) -> Vec<Text> {
    let items = record.list(key, problems).unwrap_or_default();
    names(key, items, problems)
}

fn names(key: &str, items: &[Arc<Tree>], problems: &mut Problems) -> Vec<Text> {
    items.iter().filter_map(|item| text_of(Shape::Name, item, key, problems)).collect()
}
