use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes};

use super::clients::Written;
use super::command::{backends, command_tool, is_command_tool};
use super::problems::{Problems, quoted};
use super::record::{Record, Strangers};
use super::server::servers;
use super::tool::{limits, tool};
use super::variables::Lookup;
use super::workflow::{hook_modules, workflow};
use crate::keys::{FILE, Shape};
use crate::model::{ExecutionLimits, GraphFile, Origin, ServerInfo, Version};
use crate::{Kind, Style, Text, Tree};

/// Reads a graph file; none, with a diagnostic, if it is not even a mapping.
pub(crate) fn graph_file(
    tree: &Arc<Tree>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Option<GraphFile> {
    if matches!(tree.kind, Kind::Null) {
        empty(tree.span, problems);
        return None;
    }
    let written = Written::by(tree);
    written.report(tree, problems);
    let strangers = match written {
        Written::AsGraph => Strangers::Report,
        Written::ByClient => Strangers::Tolerate,
        Written::ByVsCode => return None,
    };
    let is_graph = written == Written::AsGraph;
    let record = Record::open(tree, &FILE, strangers, problems)?;
    let version = version(&record, problems);
    let items = if is_graph { record.list("tools", problems) } else { None }.unwrap_or_default();
    let has_commands = items.iter().any(|item| is_command_tool(item));
    let server = server_info(&record, has_commands, is_graph, problems);
    let default = ExecutionLimits::default();
    let limits = record
        .record("executionLimits", problems)
        .map_or(default, |record| limits(&record, default, problems));
    let redact = record.texts("redact", Shape::Name, problems);
    let discovery = record.word("discovery", problems).is_some_and(|word| word.value == "on");
    let sops = record.texts("sops", Shape::Name, problems);
    let sop_hosts = record.texts("sopHosts", Shape::Name, problems);
    let members = record.map("mcpServers", problems).unwrap_or_default();
    let servers = servers(members, Origin::Graph, lookup, problems);
    let backends = backends(&record, lookup, problems);
    let tools = items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            if is_command_tool(item) {
                return command_tool(item, index, limits, (&server, items), problems);
            }
            tool(item, index, version, limits, problems)
        })
        .collect();
    let members = record.map("hookModules", problems).unwrap_or_default();
    let hook_modules = hook_modules(members, problems);
    let items = record.list("workflows", problems).unwrap_or_default();
    let workflows = items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| workflow(item, index, limits, problems))
        .collect();
    // It is read so that something else than a flag is reported.
    record.flag("testing", problems);
    report_old_layout(&record, problems);
    Some(GraphFile {
        source: Arc::clone(problems.source()),
        tree: Arc::clone(tree),
        version,
        server,
        limits,
        redact,
        discovery,
        sops,
        sop_hosts,
        servers,
        backends,
        tools,
        hook_modules,
        workflows,
    })
}

fn empty(span: Span, problems: &mut Problems) {
    problems.push(
        problems
            .error(codes::MISSING_KEY, span, "the file is empty")
            .hint("`mcpgraph init` writes a file to start from"),
    );
}

fn version(record: &Record<'_>, problems: &mut Problems) -> Version {
    let Some(text) = record.text("version", problems) else { return Version::default() };
    match text.split('.').next() {
        Some("1") => Version::One,
        Some("2") => Version::Two,
        _ => {
            let message = format!("version {} is not known", quoted(&text));
            problems.push(
                problems
                    .error(codes::VERSION_UNKNOWN, text.span(), message)
                    .hint("known are `1.0` and `2`"),
            );
            Version::default()
        }
    }
}

/// How the server introduces itself; a file of command tools need not say.
fn server_info(
    record: &Record<'_>,
    has_commands: bool,
    is_graph: bool,
    problems: &mut Problems,
) -> ServerInfo {
    let plain = |text: &str| Text::new(text, record.span(), Style::Plain);
    let nameless = || plain("");
    let Some(server) = record.record("server", problems) else {
        let (name, version) = if has_commands { ("command-tools", "1") } else { ("", "") };
        if !has_commands && is_graph && record.member("server").is_none() {
            record.report_missing("server", problems);
        }
        return ServerInfo {
            name: plain(name),
            version: plain(version),
            title: None,
            instructions: None,
        };
    };
    ServerInfo {
        name: server.text("name", problems).unwrap_or_else(nameless),
        version: server.text("version", problems).unwrap_or_else(nameless),
        title: server.text("title", problems),
        instructions: server.text("instructions", problems),
    }
}

fn report_old_layout(record: &Record<'_>, problems: &mut Problems) {
    let Some(nodes) = record.member("nodes") else { return };
    let message = "nodes stand at the level of the file, and belong to no tool";
    problems.push(problems.error(codes::OLD_LAYOUT, nodes.key.span(), message).hint(
        "move each node into the `nodes` of its tool (the one its `entry` and `exit` name in \
         `tool`), and remove the key `tool` from `entry` and `exit`",
    ));
}
