//! Commands, the backends they are for, and tools that are one command.

use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes, suggest};
use mcpgraph_value::{Map, Value};

use super::problems::{Problems, quoted};
use super::record::{MAX_COMPARED, Record, Strangers, text_of};
use super::server::expand_map;
use super::tool::{self, no_schema};
use super::variables::{Lookup, expand};
use crate::keys::{BACKEND, COMMAND_TOOL, Shape, TOOL};
use crate::model::{
    Allow, ArgValue, BackendDef, BackendKind, BackendRef, CommandCall, CommandDef, ExecutionLimits,
    FilterDef, FilterValue, NodeDef, NodeKind, ResponseDef, ServerInfo, Spanned, ToolDef,
    Transform,
};
use crate::{Json, Kind, Member, Style, Text, Tree};

/// The only question a server answers about itself.
const SERVER_INFO: &str = "server_info";

/// The keys behind which a command stands.
const COMMANDS: [&str; 2] = ["command", "edgelake_command"];

/// Whether a tool is one command, or would be if its key were written right.
pub(super) fn is_command_tool(tree: &Tree) -> bool {
    let is_command = |member: &Member| {
        let key = member.key.as_str();
        let is_meant = || {
            matches!(member.value.kind, Kind::Map(_))
                && TOOL.key(key).is_none()
                && suggest::nearest(key, COMMANDS).is_some()
        };
        COMMANDS.contains(&key) || is_meant()
    };
    tree.get("nodes").is_none() && tree.members().iter().take(MAX_COMPARED).any(is_command)
}

/// Reads `backend` and `backends`.
pub(super) fn backends(
    record: &Record<'_>,
    lookup: Lookup<'_>,
    problems: &mut Problems,
) -> Vec<BackendDef> {
    let mut read = Vec::new();
    if let Some(record) = record.record("backend", problems) {
        let kind = backend_kind(&record, lookup, problems);
        let name = Text::new(kind.word(), record.span(), Style::Plain);
        read.push(BackendDef { span: record.span(), name, kind });
    }
    for member in record.map("backends", problems).unwrap_or_default() {
        let kind = Record::open(&member.value, &BACKEND, Strangers::Report, problems)
            .map_or(BackendKind::Invalid, |record| backend_kind(&record, lookup, problems));
        let (span, name) = (member.value.span, member.key.clone());
        read.push(BackendDef { span, name, kind });
    }
    read
}

fn backend_kind(record: &Record<'_>, lookup: Lookup<'_>, problems: &mut Problems) -> BackendKind {
    let words = ["edgelake", "process", "http", "sqlite", "postgres"];
    let written: Vec<&str> =
        words.into_iter().filter(|word| record.member(word).is_some()).collect();
    let [word] = written.as_slice() else {
        let message = match written.as_slice() {
            [] => "a backend needs to say what it is".to_owned(),
            several => format!("a backend is one thing, not `{}`", several.join("` and `")),
        };
        problems.push(
            problems
                .error(codes::BACKEND_UNCLEAR, record.span(), message)
                .hint(format!("write exactly one of `{}`", words.join("`, `"))),
        );
        return BackendKind::Invalid;
    };
    let Some(inner) = record.record(word, problems) else { return BackendKind::Invalid };
    let text = |name: &str, problems: &mut Problems| {
        inner.text(name, problems).map(|text| expand(&text, lookup, problems))
    };
    let read = match *word {
        "edgelake" => text("url", problems).map(|url| BackendKind::EdgeLake { url }),
        "process" => {
            let env = inner.map("env", problems).unwrap_or_default();
            let env = expand_map(env, lookup, problems);
            Some(BackendKind::Process { cwd: text("cwd", problems), env })
        }
        "http" => {
            let headers = inner.map("headers", problems).unwrap_or_default();
            let headers = expand_map(headers, lookup, problems);
            let allow_hosts = inner.texts("allow_hosts", Shape::Name, problems);
            Some(BackendKind::Http { url: text("url", problems), headers, allow_hosts })
        }
        kind => {
            let write = inner.flag("write", problems).unwrap_or(false);
            if kind == "sqlite" {
                text("path", problems).map(|path| BackendKind::Sqlite { path, write })
            } else {
                text("url", problems).map(|url| BackendKind::Postgres { url, write })
            }
        }
    };
    read.unwrap_or(BackendKind::Invalid)
}

/// Reads the `command` of a node or a tool.
pub(super) fn command(record: &Record<'_>, problems: &mut Problems) -> CommandDef {
    let backend = record.text("backend", problems);
    let backend = backend.map(|name| {
        let span = name.span();
        Spanned::new(BackendRef::Name(name), span)
    });
    parts(record, backend, problems)
}

fn parts(
    record: &Record<'_>,
    backend: Option<Spanned<BackendRef>>,
    problems: &mut Problems,
) -> CommandDef {
    let argv = record.member("argv").is_some();
    let count = |name, problems: &mut Problems| record.count(name, problems);
    let success_codes = record
        .list("success_codes", problems)
        .unwrap_or_default()
        .iter()
        .filter_map(|item| exit_code(item, problems))
        .collect();
    CommandDef {
        span: record.span(),
        backend,
        kind: record.word("type", problems),
        method: record.text("method", problems),
        template: record.text("template", problems),
        conditional: text_map("conditional_template", record, problems),
        build_sql: record.flag("build_sql", problems).unwrap_or(false),
        allow: Allow {
            union: record.flag("allow_union", problems).unwrap_or(false),
            subqueries: record.flag("allow_subqueries", problems).unwrap_or(false),
            functions: record.texts("allow_functions", Shape::Name, problems),
        },
        headers: text_map("headers", record, problems),
        argv: argv.then(|| record.texts("argv", Shape::Scalar, problems)),
        stdin: record.text("stdin", problems),
        success_codes,
        url: record.text("url", problems),
        json: record.json("json", problems),
        form: text_map("form", record, problems),
        output: record.word("output", problems),
        max_output_bytes: count("max_output_bytes", problems)
            .map_or(CommandDef::MAX_OUTPUT_BYTES, |count| count.value),
        timeout_ms: count("timeout_ms", problems),
        response: record.record("response_parser", problems).and_then(|r| response(&r, problems)),
    }
}

fn exit_code(tree: &Tree, problems: &mut Problems) -> Option<u64> {
    let code = match &tree.kind {
        Kind::Number(number) => number.as_i64().and_then(|code| u64::try_from(code).ok()),
        _ => None,
    };
    let code = code.filter(|code| *code <= 255);
    if code.is_none() {
        let message = "`success_codes` needs whole numbers from 0 to 255";
        problems.push(problems.error(codes::OUT_OF_RANGE, tree.span, message));
    }
    code
}

fn response(record: &Record<'_>, problems: &mut Problems) -> Option<ResponseDef> {
    // It is read so that another word is reported.
    record.word("type", problems);
    record.text("description", problems);
    let path = record.text("extract_path", problems);
    let filter = record.record("filter", problems).map(|record| filter(&record, problems));
    let map = record.text("map", problems);
    let unique = record.flag("unique", problems).unwrap_or(false);
    let sort = record.flag("sort", problems).unwrap_or(false);
    Some(ResponseDef {
        path: path?,
        filter: filter.map_or(Some(None), |filter| filter.map(Some))?,
        map,
        unique,
        sort,
    })
}

fn filter(record: &Record<'_>, problems: &mut Problems) -> Option<FilterDef> {
    let field = record.text("field", problems);
    let source = record.word("source", problems).map_or("argument", |word| word.value);
    let argument = record.text("argument", problems);
    let value = record.json("value", problems);
    let (wanted, equals) = match source {
        "literal" => ("value", value.map(FilterValue::Literal)),
        _ => ("argument", argument.map(FilterValue::Argument)),
    };
    if equals.is_none() && record.member(wanted).is_none() {
        let message = format!("`filter` with `source: {source}` needs the key `{wanted}`");
        problems.push(problems.error(codes::MISSING_KEY, record.span(), message));
    }
    Some(FilterDef { field: field?, equals: equals? })
}

/// Reads a tool that is one command: an entry, the command, an exit.
pub(super) fn command_tool(
    tree: &Arc<Tree>,
    index: usize,
    limits: ExecutionLimits,
    (server, tools): (&ServerInfo, &[Arc<Tree>]),
    problems: &mut Problems,
) -> Option<ToolDef> {
    let record = Record::open(tree, &COMMAND_TOOL, Strangers::Report, problems)?;
    let edgelake = record.record("edgelake_command", problems);
    let common = record.record("command", problems);
    if let (Some(_), Some(second)) = (&edgelake, record.member("command")) {
        let message = "a tool is one command: `command` or `edgelake_command`, not both";
        problems.push(problems.error(codes::COMMAND_UNCLEAR, second.key.span(), message));
    }
    let mut command = match (edgelake, common) {
        (Some(record), _) => {
            let backend = Spanned::new(BackendRef::EdgeLake, record.span());
            Some(parts(&record, Some(backend), problems))
        }
        (None, Some(record)) => Some(command(&record, problems)),
        (None, None) => None,
    };
    let schema = |first: &str, second: &str, problems: &mut Problems| {
        record.json(first, problems).or_else(|| record.json(second, problems))
    };
    let input_schema = schema("inputSchema", "input_schema", problems);
    let output_schema = schema("outputSchema", "output_schema", problems);
    let gives_list = command.as_ref().is_some_and(|command| command.response.is_some());
    let timeout_ms = command.as_mut().and_then(|command| command.timeout_ms.take());
    let kind = match command {
        Some(command) if command.kind.is_some_and(|kind| kind.value == "internal") => {
            internal(&command, server, tools, problems)
        }
        Some(command) => {
            let entry = Text::new("entry", command.span, Style::Plain);
            let args = Spanned::new(ArgValue::Expr(entry), command.span);
            NodeKind::Command(Box::new(CommandCall { command, args }))
        }
        None => NodeKind::Invalid,
    };
    Some(ToolDef {
        nodes: nodes(kind, tree.span, timeout_ms),
        input_schema: input_schema.unwrap_or_else(|| no_schema(tree)),
        // What a response parser gives is always a list, and clients may know.
        output_schema: output_schema.or_else(|| gives_list.then(|| list_schema(tree.span))),
        ..tool::face(&record, tree, index, limits, problems)
    })
}

/// The graph of a tool that is one command.
fn nodes(kind: NodeKind, span: Span, timeout_ms: Option<Spanned<u64>>) -> Vec<NodeDef> {
    let text = |text: &str| Text::new(text, span, Style::Plain);
    let node = |id: &str, kind: NodeKind, next: Option<&str>| NodeDef {
        span,
        id: text(id),
        kind_span: span,
        kind,
        next: next.map(text),
        timeout_ms: None,
        retry: None,
        on_error: None,
        position: None,
    };
    vec![
        node("entry", NodeKind::Entry, Some("command")),
        NodeDef { timeout_ms, ..node("command", kind, Some("exit")) },
        node("exit", NodeKind::Exit, None),
    ]
}

/// What is answered without a backend.
fn internal(
    command: &CommandDef,
    server: &ServerInfo,
    tools: &[Arc<Tree>],
    problems: &mut Problems,
) -> NodeKind {
    match &command.method {
        Some(method) if method == SERVER_INFO => {
            let names: Vec<Value> = tools
                .iter()
                .filter_map(|tool| Some(Value::from(tool.get("name")?.value.as_text()?.as_str())))
                .collect();
            let about: Map = Map::from_iter([
                ("name", Value::from(server.name.as_str())),
                ("version", Value::from(server.version.as_str())),
                ("tools", Value::from(names)),
            ]);
            // JSON is JSONata.
            let expr = Text::new(Value::from(about).to_json(), command.span, Style::Plain);
            NodeKind::Transform(Transform { expr })
        }
        method => {
            let (span, what) = match method {
                Some(method) => (method.span(), format!("the method {} is", quoted(method))),
                None => (command.span, "a command without `method` is".to_owned()),
            };
            let message = format!("{what} not one that is answered without a backend");
            problems.push(
                problems
                    .error(codes::COMMAND_UNCLEAR, span, message)
                    .hint(format!("`method: {SERVER_INFO}` is; others need `type: get` or `sql`")),
            );
            NodeKind::Invalid
        }
    }
}

fn list_schema(span: Span) -> Json {
    let text = |text: &str| Text::new(text, span, Style::Plain);
    let array = Arc::new(Tree::new(span, Kind::String(text("array"))));
    let member = Member { key: text("type"), value: array };
    Json::new(&Arc::new(Tree::new(span, Kind::Map(vec![member]))))
}

fn text_map(name: &str, record: &Record<'_>, problems: &mut Problems) -> Vec<(Text, Text)> {
    let members = record.map(name, problems).unwrap_or_default();
    members
        .iter()
        .filter_map(|member| {
            let text = text_of(Shape::Scalar, &member.value, &member.key, problems)?;
            Some((member.key.clone(), text))
        })
        .collect()
}

impl BackendKind {
    /// The word a file uses for it.
    fn word(&self) -> &'static str {
        match self {
            Self::EdgeLake { .. } => "edgelake",
            Self::Process { .. } => "process",
            Self::Http { .. } => "http",
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres { .. } => "postgres",
            Self::Invalid => "invalid",
        }
    }
}
