use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes};

use super::clients::report_vs_code;
use super::node::to_u32;
use super::problems::{Problems, quoted};
use super::record::{Record, Strangers, text_of};
use super::variables::{Lookup, expand};
use crate::keys::{EXPOSE, EXPOSED_ARGUMENT, EXPOSED_TOOL, MCP_JSON, SERVER, Shape};
use crate::model::{
    Expanded, Expose, ExposedArgument, ExposedTool, HttpKind, Origin, Prefix, ServerDef, Spanned,
    Transport,
};
use crate::{Kind, Member, Text, Tree};

/// Reads an `mcp.json`.
pub(crate) fn mcp_json(
    tree: &Arc<Tree>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Vec<ServerDef> {
    if report_vs_code(tree, problems) {
        return Vec::new();
    }
    let Some(record) = Record::open(tree, &MCP_JSON, Strangers::Tolerate, problems) else {
        return Vec::new();
    };
    let members = record.map("mcpServers", problems).unwrap_or_default();
    servers(members, Origin::McpJson, lookup, problems)
}

/// Reads the members of `mcpServers`.
pub(super) fn servers(
    members: &[Member],
    origin: Origin,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Vec<ServerDef> {
    members.iter().map(|member| server(member, origin, lookup, problems)).collect()
}

pub(super) fn server(
    member: &Member,
    origin: Origin,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> ServerDef {
    let mut server = ServerDef {
        source: Arc::clone(problems.source()),
        origin,
        span: member.value.span,
        name: member.key.clone(),
        transport: unusable(member.value.span),
        timeout_ms: None,
        disabled: false,
        expose: None,
        says_expose: false,
        max_concurrent: None,
        max_message_bytes: None,
    };
    let strangers = match origin {
        Origin::Graph => Strangers::Report,
        Origin::McpJson | Origin::Procedure => Strangers::Tolerate,
    };
    let Some(record) = Record::open(&member.value, &SERVER, strangers, problems) else {
        return server;
    };
    server.disabled = record.flag("disabled", problems).unwrap_or(false);
    // A server that is left alone does not need its variables.
    let nothing_needed = |name: &str| Some(lookup(name).unwrap_or_default());
    let lookup: Lookup<'_> = if server.disabled { &nothing_needed } else { lookup };
    if let Some(transport) = transport(&member.key, &record, lookup, problems) {
        server.transport = transport;
    }
    server.timeout_ms = record.count("timeoutMs", problems);
    server.max_concurrent = record.count("maxConcurrent", problems).and_then(to_u32);
    server.max_message_bytes = record.count("maxMessageBytes", problems).and_then(to_u32);
    server.says_expose = record.member("expose").is_some();
    server.expose = expose(&record, problems);
    server
}

/// Stands in for a transport that could not be read, so that nodes which name the server are not
/// reported as well.
fn unusable(span: Span) -> Transport {
    let command = Expanded { value: String::new(), span, secrets: Vec::new() };
    Transport::Stdio { command, args: Vec::new(), env: Vec::new(), cwd: None }
}

fn transport(
    name: &Text,
    record: &Record<'_>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Option<Transport> {
    let kind = record.word("type", problems);
    let (command, url) = (record.member("command"), record.member("url"));
    let is_stdio = match (kind.map(|kind| kind.value), command, url) {
        (_, Some(command), Some(_)) => {
            let message = format!("the server {} has both `command` and `url`", quoted(name));
            problems.push(
                problems
                    .error(codes::TRANSPORT_UNCLEAR, command.key.span(), message)
                    .hint("keep `command` for a program that is started, `url` for one that runs"),
            );
            return None;
        }
        (Some("stdio"), ..) => true,
        (Some(_), ..) => false,
        (None, Some(_), None) => true,
        (None, None, Some(_)) => false,
        (None, None, None) => {
            let message = format!("the server {} has neither `command` nor `url`", quoted(name));
            problems.push(
                problems
                    .error(codes::TRANSPORT_UNCLEAR, record.span(), message)
                    .hint("give the program to start as `command`, or the endpoint as `url`"),
            );
            return None;
        }
    };
    if is_stdio {
        stdio(name, record, lookup, problems)
    } else {
        http(name, record, kind, lookup, problems)
    }
}

fn stdio(
    name: &Text,
    record: &Record<'_>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Option<Transport> {
    let command = wanted("command", "stdio", name, record, problems);
    warn_of_unused(&["headers"], "stdio", record, problems);
    let args = record.list("args", problems).unwrap_or_default();
    let env = record.map("env", problems).unwrap_or_default();
    let cwd = record.text("cwd", problems);
    let args = args
        .iter()
        .filter_map(|item| text_of(Shape::Scalar, item, "args", problems))
        .collect::<Vec<_>>();
    Some(Transport::Stdio {
        args: args.iter().map(|arg| expand(arg, lookup, problems)).collect(),
        env: expand_map(env, lookup, problems),
        cwd: cwd.map(|cwd| expand(&cwd, lookup, problems)),
        command: expand(&command?, lookup, problems),
    })
}

fn http(
    name: &Text,
    record: &Record<'_>,
    kind: Option<Spanned<&str>>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Option<Transport> {
    let word = kind.map(|kind| kind.value);
    let url = wanted("url", word.unwrap_or("http"), name, record, problems);
    warn_of_unused(&["args", "env", "cwd"], word.unwrap_or("http"), record, problems);
    let headers = record.map("headers", problems).unwrap_or_default();
    let headers = expand_map(headers, lookup, problems);
    let url = expand(&url?, lookup, problems);
    check_url(&url, problems);
    let kind = match word {
        None => HttpKind::Unstated,
        Some("sse") => HttpKind::Sse,
        Some(_) => HttpKind::Streamable,
    };
    Some(Transport::Http { url, kind, headers })
}

/// A key that the transport cannot do without.
fn wanted(
    key: &str,
    transport: &str,
    name: &Text,
    record: &Record<'_>,
    problems: &mut Problems,
) -> Option<Text> {
    if record.member(key).is_none() {
        let message = format!("the {transport} server {} needs the key `{key}`", quoted(name));
        problems.push(problems.error(codes::MISSING_KEY, record.span(), message));
    }
    record.text(key, problems)
}

fn warn_of_unused(keys: &[&str], transport: &str, record: &Record<'_>, problems: &mut Problems) {
    for key in keys {
        if let Some(member) = record.member(key) {
            let message = format!("`{key}` has no meaning for a server of type `{transport}`");
            problems.push(problems.warning(codes::UNKNOWN_KEY, member.key.span(), message));
        }
    }
}

fn check_url(url: &Expanded, problems: &mut Problems) {
    let scheme = url.value.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let is_http = matches!(scheme.as_deref(), Some("http" | "https"));
    // What an unset variable left behind has been reported already.
    if !is_http && !url.value.is_empty() {
        let message = "`url` needs to start with `http://` or `https://`";
        problems.push(problems.error(codes::TRANSPORT_UNCLEAR, url.span, message));
    }
}

pub(super) fn expand_map(
    members: &[Member],
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Vec<(Text, Expanded)> {
    members
        .iter()
        .filter_map(|member| {
            let text = text_of(Shape::Scalar, &member.value, &member.key, problems)?;
            Some((member.key.clone(), expand(&text, lookup, problems)))
        })
        .collect()
}

fn expose(record: &Record<'_>, problems: &mut Problems) -> Option<Expose> {
    let member = record.member("expose")?;
    if !matches!(member.value.kind, Kind::Map(_)) {
        return record.flag("expose", problems)?.then(Expose::all);
    }
    let record = Record::open(&member.value, &EXPOSE, Strangers::Report, problems)?;
    let prefix = match record.word("prefix", problems).map(|prefix| prefix.value) {
        Some("none") => Prefix::None,
        _ => Prefix::Server,
    };
    let tools = record.map("tools", problems).unwrap_or_default();
    let tools = tools.iter().filter_map(|member| exposed_tool(member, problems)).collect();
    Some(Expose { prefix, tools })
}

fn exposed_tool(member: &Member, problems: &mut Problems) -> Option<ExposedTool> {
    let record = Record::open(&member.value, &EXPOSED_TOOL, Strangers::Report, problems)?;
    let arguments = record.map("arguments", problems).unwrap_or_default();
    Some(ExposedTool {
        name: member.key.clone(),
        rename: record.text("rename", problems),
        description: record.text("description", problems),
        is_hidden: record.flag("hide", problems).unwrap_or(false),
        arguments: arguments
            .iter()
            .filter_map(|member| exposed_argument(member, problems))
            .collect(),
    })
}

fn exposed_argument(member: &Member, problems: &mut Problems) -> Option<ExposedArgument> {
    let record = Record::open(&member.value, &EXPOSED_ARGUMENT, Strangers::Report, problems)?;
    Some(ExposedArgument {
        name: member.key.clone(),
        default: record.member("default").map(|member| member.value.to_value()),
        is_hidden: record.flag("hide", problems).unwrap_or(false),
    })
}
