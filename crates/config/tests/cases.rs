//! Graph files in `cases/`, each with what reading it gives: the model in short and every problem.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_config::model::{
    ArgValue, GraphFile, HookCode, HookDef, NodeDef, NodeKind, ServerDef, Spanned, ToolDef,
    Transport, WorkflowDef, WorkflowNodeKind,
};
use mcpgraph_config::{json_schema, read_graph};
use mcpgraph_diagnostics::{Colour, Source, to_terminal};

/// The environment of every case.
fn variable(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

fn cases() -> Vec<(String, Arc<Source>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a case").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "yaml"))
        .collect();
    paths.sort();
    paths
        .into_iter()
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let source = Source::new(&name, std::fs::read_to_string(path).expect("the case"));
            (name, source)
        })
        .collect()
}

#[test]
fn every_case_reads_as_recorded() {
    for (name, source) in cases() {
        let (file, diagnostics) = read_graph(&source, &variable);
        let mut shown = file.as_ref().map(describe).unwrap_or_default();
        if !shown.is_empty() && !diagnostics.is_empty() {
            shown.push('\n');
        }
        shown.push_str(&to_terminal(&diagnostics, Colour::Plain));
        let name = name.trim_end_matches(".yaml");
        insta::with_settings!({ prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, shown);
        });
    }
}

#[test]
fn every_problem_has_a_place_and_a_pointer_into_the_file() {
    for (name, source) in cases() {
        let (file, diagnostics) = read_graph(&source, &variable);
        let Some(file) = file else { continue };
        for diagnostic in &diagnostics {
            assert!(diagnostic.primary.is_some(), "{name}: {}", diagnostic.message);
            let pointer = diagnostic.pointer.as_deref().expect("a pointer");
            assert!(file.tree.pointer(pointer).is_some(), "{name}: {pointer}");
        }
    }
}

/// A file the reader takes without an error or warning is valid by the schema editors use.
#[test]
fn good_files_are_valid_by_the_schema() {
    let schema = serde_json::Value::from(&json_schema());
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    let mut good = 0;
    for (name, source) in cases() {
        let (file, diagnostics) = read_graph(&source, &variable);
        let Some(file) = file.filter(|_| diagnostics.is_empty()) else { continue };
        let instance = serde_json::Value::from(&file.tree.to_value());
        let errors: Vec<String> = validator
            .iter_errors(&instance)
            .map(|error| format!("{name}: {} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{}", errors.join("\n"));
        good += 1;
    }
    assert!(good >= 5, "too few good cases: {good}");
}

/// A key that is an error for the reader is one for the schema.
#[test]
fn the_schema_refuses_unknown_keys() {
    let schema = serde_json::Value::from(&json_schema());
    let validator = jsonschema::draft202012::new(&schema).expect("the schema is a schema");
    let source = cases().into_iter().find(|(name, _)| name == "unknown-keys.yaml").expect("it").1;
    let (file, _) = read_graph(&source, &variable);
    let instance = serde_json::Value::from(&file.expect("a file").tree.to_value());
    assert!(!validator.is_valid(&instance));
}

#[test]
fn secrets_are_remembered_and_not_shown() {
    let source = cases().into_iter().find(|(name, _)| name == "servers.yaml").expect("it").1;
    let (file, diagnostics) = read_graph(&source, &variable);
    assert!(!diagnostics.has_errors());
    let file = file.expect("a file");
    let server = file.server("search").expect("the server");
    assert_eq!(server.secrets().collect::<Vec<_>>(), ["s3cret"]);
    assert!(!format!("{file:?}").contains("s3cret"), "debug output shows a secret");
}

/// The model in a few lines; `⟨…⟩` is evaluated, everything else is data.
fn describe(file: &GraphFile) -> String {
    let mut out = format!("{} {} {:?}\n", file.server.name, file.server.version, file.version);
    file.servers.iter().for_each(|server| describe_server(&mut out, server));
    file.tools.iter().for_each(|tool| describe_tool(&mut out, tool));
    for module in &file.hook_modules {
        writeln!(out, "module {} {:?}", module.name, &*module.script).expect("a string");
    }
    file.workflows.iter().for_each(|workflow| describe_workflow(&mut out, workflow));
    out
}

fn describe_workflow(out: &mut String, workflow: &WorkflowDef) {
    let WorkflowDef { id, name, enabled, priority, only, allow_hosts, .. } = workflow;
    let around = workflow.around.name();
    let patterns = [&only.server, &only.tool, &only.client].map(|text| text.as_deref());
    let hosts: Vec<&str> = allow_hosts.iter().map(mcpgraph_config::Text::as_str).collect();
    writeln!(
        out,
        "workflow {id} {name:?} around {around} enabled {enabled} priority {priority} only \
         {patterns:?} hosts {hosts:?}"
    )
    .map(|()| out.replace_range(.., &without_places(out)))
    .expect("a string");
    for node in &workflow.nodes {
        write!(out, "  {} {}", node.id, node.kind.name()).expect("a string");
        if let WorkflowNodeKind::Hook(hook) = &node.kind {
            let code = match &hook.code {
                HookCode::Inline(script) => format!("{:?}", &**script),
                HookCode::Module(name) => format!("module {name}"),
            };
            let HookDef { blocking, goes_on, timeout_ms, .. } = hook;
            let timeout = timeout_ms.map(|count| count.value);
            write!(out, " {code} blocking {blocking} goes on {goes_on} within {timeout:?}")
                .expect("a string");
        }
        out.push('\n');
    }
    for edge in &workflow.edges {
        writeln!(out, "  {} → {}", edge.source, edge.target).expect("a string");
    }
}

fn describe_server(out: &mut String, server: &ServerDef) {
    let transport = match &server.transport {
        Transport::Stdio { command, args, env, cwd } => {
            format!("{command:?} {args:?} env {env:?} cwd {cwd:?}")
        }
        Transport::Http { url, kind, headers } => format!("{kind:?} {url:?} headers {headers:?}"),
    };
    let flags = if server.disabled { " disabled" } else { "" };
    writeln!(
        out,
        "server {}: {} {:?}{flags}",
        server.name,
        without_places(&transport),
        server.expose
    )
    .expect("a string");
}

fn describe_tool(out: &mut String, tool: &ToolDef) {
    writeln!(out, "tool {} {}", tool.name, tool.input_schema.value()).expect("a string");
    describe_nodes(out, &tool.nodes, 1);
}

fn describe_nodes(out: &mut String, nodes: &[NodeDef], depth: usize) {
    for node in nodes {
        let indent = "  ".repeat(depth);
        write!(out, "{indent}{} {}", node.id, node.kind.name()).expect("a string");
        match &node.kind {
            NodeKind::Transform(transform) => write!(out, " ⟨{}⟩", transform.expr.trim_end()),
            NodeKind::Mcp(mcp) => write!(out, " {}.{} {}", mcp.server, mcp.tool, args(&mcp.args)),
            NodeKind::Graph(call) => write!(out, " {} {}", call.tool, args(&call.args)),
            NodeKind::Command(call) => write!(out, " {}", args(&call.args)),
            NodeKind::Ask(ask) => {
                write!(out, " {}", args(&ask.message)).expect("a string");
                if let Some(schema) = &ask.schema {
                    write!(out, " for {}", schema.value()).expect("a string");
                }
                let target = |target: &Option<mcpgraph_config::Text>| {
                    target.as_deref().unwrap_or("-").to_owned()
                };
                let (declined, late) = (target(&ask.on_decline), target(&ask.on_timeout));
                write!(out, " declined → {declined}, late → {late}")
            }
            NodeKind::Wait(wait) => {
                let word = if wait.is_until { "until" } else { "for" };
                write!(out, " {word} {}", args(&wait.time))
            }
            NodeKind::Switch(switch) => {
                for condition in &switch.conditions {
                    write!(out, " {} → {};", condition.rule.value(), condition.target)
                        .expect("a string");
                }
                write!(out, " else {}", switch.default.as_deref().unwrap_or("nothing"))
            }
            NodeKind::Foreach(foreach) => write!(
                out,
                " {} in ⟨{}⟩ {} at once",
                foreach.item_name, foreach.items, foreach.max_parallel
            ),
            NodeKind::Parallel(parallel) => {
                let names: Vec<&str> = parallel.branches.iter().map(|b| b.name.as_str()).collect();
                write!(out, " {names:?} at once {:?}", parallel.max_parallel)
            }
            NodeKind::Entry | NodeKind::Exit | NodeKind::Invalid => Ok(()),
        }
        .expect("a string");
        if let Some(next) = &node.next {
            write!(out, " → {next}").expect("a string");
        }
        if let Some(retry) = &node.retry {
            write!(out, " retry {}×{} ms {:?}", retry.times, retry.backoff_ms, retry.on)
                .expect("a string");
        }
        if let Some(timeout) = &node.timeout_ms {
            write!(out, " within {} ms", timeout.value).expect("a string");
        }
        if let Some(target) = &node.on_error {
            write!(out, " on error {target}").expect("a string");
        }
        out.push('\n');
        for inner in node.inner() {
            describe_nodes(out, inner, depth + 1);
        }
    }
}

fn args(value: &Spanned<ArgValue>) -> String {
    match &value.value {
        ArgValue::Literal(value) => value.to_json(),
        ArgValue::Expr(text) => format!("⟨{text}⟩"),
        ArgValue::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{key:?}: {}", args(value))).collect();
            without_places(&format!("{{{}}}", members.join(", ")))
        }
        ArgValue::Array(items) => {
            format!("[{}]", items.iter().map(args).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Takes the `@1..2` out of debug output.
fn without_places(text: &str) -> String {
    let mut parts = text.split("\"@");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push('"');
        out.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.'));
    }
    out
}
