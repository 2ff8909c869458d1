use super::command::{BACKEND, COMMAND_TOOL};
use super::workflow::WORKFLOW;
use super::{Key, MAX_EXACT, MAX_MS, Need, SERVER, Shape, Table};
use crate::model::ExecutionLimits;

pub(crate) static FILE: Table = Table {
    name: "file",
    noun: "a graph file",
    doc: "A graph file: tools whose calls run a graph of nodes.",
    groups: &[&[
        Key::optional(
            "version",
            Shape::Scalar,
            "The version of this file's rules: \"1.0\" (the default) or \"2\". In version 2 text in `args` that starts with `$` is text; expressions are written `{expr: …}`.",
        ),
        Key::optional(
            "server",
            Shape::Record(&SERVER_INFO),
            "How the MCP server introduces itself to clients; only a file of command tools can do without.",
        ),
        Key::optional(
            "executionLimits",
            Shape::Record(&LIMITS),
            "The limits of every run; a tool can have its own.",
        ),
        Key::optional(
            "redact",
            Shape::List(&Shape::Name),
            "Names of fields whose values are masked before a run is recorded, wherever they are.",
        ),
        Key::optional(
            "mcpServers",
            Shape::MapOf(&Shape::Record(&SERVER)),
            "The upstream MCP servers, by the names nodes use; written as MCP clients write them.",
        ),
        Key::optional(
            "discovery",
            Shape::Words(&["on", "off"]),
            "`on` shows clients `find_tools` and `call_tool` in the place of the tools of exposed servers.",
        ),
        Key::optional(
            "sops",
            Shape::List(&Shape::Name),
            "Procedures that agents walk: markdown files, relative to this file. They add the tools `load_graph`, `todo` and `goto_node`.",
        ),
        Key::optional(
            "sopHosts",
            Shape::List(&Shape::Name),
            "The hosts from which agents may load further procedures over https, at public addresses only: `docs.example.com`. None if it is not given.",
        ),
        Key::optional(
            "backend",
            Shape::Record(&BACKEND),
            "Where commands are carried out that name no backend.",
        ),
        Key::optional(
            "backends",
            Shape::MapOf(&Shape::Record(&BACKEND)),
            "Where commands are carried out, by the names commands use.",
        ),
        Key::optional(
            "tools",
            Shape::List(&Shape::Either(&Shape::Record(&TOOL), &Shape::Record(&COMMAND_TOOL))),
            "The tools this file provides: graphs of nodes, or single commands.",
        ),
        Key::optional("testing", Shape::Flag, "Written by EdgeLake's own files; it has no effect."),
        Key::optional(
            "hookModules",
            Shape::MapOf(&Shape::Text),
            "Scripts that several hooks use, by their names.",
        ),
        Key::optional(
            "workflows",
            Shape::List(&Shape::Record(&WORKFLOW)),
            "What is put around the calls of tools and around the list of them.",
        ),
        Key {
            name: "nodes",
            need: Need::Retired,
            shape: Shape::List(&Shape::Node),
            doc: "Nodes belong to their tools.",
        },
    ]],
};

pub(crate) static SERVER_INFO: Table = Table {
    name: "serverInfo",
    noun: "`server`",
    doc: "How the MCP server introduces itself to clients.",
    groups: &[&[
        Key::required("name", Shape::Name, "The name of the server."),
        Key::required("version", Shape::Scalar, "The version of the server."),
        Key::optional("title", Shape::Text, "The name people see; `name` if there is none."),
        Key::optional(
            "instructions",
            Shape::Text,
            "What the server tells the model about itself and its tools.",
        ),
    ]],
};

pub(super) static LIMITS: Table = Table {
    name: "executionLimits",
    noun: "`executionLimits`",
    doc: "The limits of a run.",
    groups: &[&[
        Key::optional(
            "maxNodeExecutions",
            limit(MAX_EXACT, ExecutionLimits::MAX_NODE_EXECUTIONS),
            "How many nodes a run may execute, loops included.",
        ),
        Key::optional(
            "maxExecutionTimeMs",
            limit(MAX_MS, ExecutionLimits::MAX_EXECUTION_TIME_MS),
            "How long a run may take, in milliseconds; it also interrupts a call or an expression.",
        ),
        Key::optional(
            "maxContextBytes",
            limit(MAX_EXACT, ExecutionLimits::MAX_CONTEXT_BYTES),
            "How much all outputs a run keeps may take in memory, in bytes.",
        ),
        Key::optional(
            "maxPayloadBytes",
            limit(MAX_EXACT, ExecutionLimits::MAX_PAYLOAD_BYTES),
            "How large a single output or argument may be, in bytes.",
        ),
        Key::optional(
            "maxDepth",
            limit(100, ExecutionLimits::MAX_DEPTH),
            "How deep `graph` nodes may call tools that call tools.",
        ),
        Key::optional(
            "maxWaitMs",
            limit(MAX_EXACT, ExecutionLimits::MAX_WAIT_MS),
            "How long a `wait` node may wait, in milliseconds. Waiting does not count as execution time.",
        ),
    ]],
};

pub(crate) static TOOL: Table = Table {
    name: "tool",
    noun: "a tool",
    doc: "A tool: its face to clients and the graph a call runs.",
    groups: &[&[
        Key::required("name", Shape::Name, "The name clients call the tool by."),
        Key::optional("title", Shape::Text, "The name people see."),
        Key::optional("description", Shape::Text, "What the tool does, for the model."),
        Key::required("inputSchema", Shape::AnyObject, "The JSON Schema of the arguments."),
        Key::optional("outputSchema", Shape::AnyObject, "The JSON Schema of the result."),
        Key::optional(
            "annotations",
            Shape::AnyObject,
            "MCP annotations such as `readOnlyHint`, passed on as they are.",
        ),
        Key::optional("_meta", Shape::AnyObject, "MCP metadata, passed on as it is."),
        Key::optional("icons", Shape::AnyArray, "MCP icons, passed on as they are."),
        Key::optional(
            "executionLimits",
            Shape::Record(&LIMITS),
            "The limits of this tool's runs, in place of the file's.",
        ),
        Key::optional(
            "durable",
            Shape::Flag,
            "Whether the tool's runs survive the process that executes them; those of a tool that waits or asks always do.",
        ),
        Key::required(
            "nodes",
            Shape::List(&Shape::Node),
            "The nodes: one `entry`, one `exit`, and what happens between them.",
        ),
    ]],
};

const fn limit(max: u64, default: u64) -> Shape {
    Shape::Count { min: 1, max, default: Some(default) }
}
