use super::graph::LIMITS;
use super::node::{CONDITION, EXPRESSION};
use super::{Key, Shape, Table};
use crate::model::HookDef;

pub(crate) static WORKFLOW: Table = Table {
    name: "workflow",
    noun: "a workflow",
    doc: "A workflow: a graph put around the calls of other tools, or around the list of all tools.",
    groups: &[&[
        Key::optional("id", Shape::Name, "What tells the workflow apart; `name` if there is none."),
        Key::required("name", Shape::Name, "The name of the workflow."),
        Key::optional("description", Shape::Text, "What the workflow is for."),
        Key::required(
            "workflowType",
            Shape::Words(&["tools/list", "tools/call"]),
            "What the workflow is put around.",
        ),
        Key::optional(
            "enabled",
            Shape::Flag,
            "Whether the workflow is used; `true` if it is not given.",
        ),
        Key::optional(
            "priority",
            Shape::Count { min: 0, max: 1_000_000, default: Some(0) },
            "Of two workflows around one call, the one with the greater priority is outside: it sees the request first and the response last.",
        ),
        Key::optional(
            "match",
            Shape::Record(&MATCH),
            "Which calls the workflow is put around; all of them if it is not given.",
        ),
        Key::optional(
            "allowHosts",
            Shape::List(&Shape::Name),
            "The hosts that `fetch` may reach in the hooks of this workflow; none if it is not given.",
        ),
        Key::optional(
            "executionLimits",
            Shape::Record(&LIMITS),
            "The limits of this workflow's runs, in place of the file's.",
        ),
        Key::required(
            "nodes",
            Shape::List(&Shape::Record(&WORKFLOW_NODE)),
            "The nodes: one `start`, one `mcp-call`, one `end`, and what happens between them.",
        ),
        Key::optional(
            "edges",
            Shape::List(&Shape::Record(&WORKFLOW_EDGE)),
            "The edges; `next` in a node says the same.",
        ),
        Key::optional("createdAt", Shape::Any, "When it was made, in milliseconds since 1970."),
        Key::optional(
            "updatedAt",
            Shape::Any,
            "When it was last changed, in milliseconds since 1970.",
        ),
    ]],
};

static MATCH: Table = Table {
    name: "match",
    noun: "`match`",
    doc: "Which calls a workflow is put around. In patterns `*` stands for any text, `?` for one character, and `|` is between choices.",
    groups: &[&[
        Key::optional("server", Shape::Name, "A pattern for the name of the upstream server."),
        Key::optional(
            "tool",
            Shape::Name,
            "A pattern for the name of the tool, as clients call it or as its server does.",
        ),
        Key::optional("client", Shape::Name, "A pattern for the name of the client."),
    ]],
};

/// What says what a node does: beside its `type`, or under `data` as editors write it.
static NODE_DATA: &[Key] = &[
    Key::optional("label", Shape::Any, "The name people see."),
    Key::optional("hook", Shape::Record(&HOOK), "What a `hook` node runs."),
    Key::optional(
        "transform",
        Shape::Record(&EXPRESSION),
        "What a `transform` node computes: the same that a hook may return.",
    ),
    Key::optional(
        "conditions",
        Shape::List(&Shape::Record(&CONDITION)),
        "The conditions of a `switch` node in the order they are tried; the first whose rule holds decides.",
    ),
];

pub(crate) static WORKFLOW_NODE: Table = Table {
    name: "workflowNode",
    noun: "a node of a workflow",
    doc: "A node of a workflow.",
    groups: &[
        &[
            Key::required("id", Shape::Name, "The name edges and expressions use."),
            Key::required(
                "type",
                Shape::Words(&["start", "end", "mcp-call", "hook", "transform", "switch"]),
                "What the node does.",
            ),
            Key::optional(
                "next",
                Shape::Either(&Shape::Name, &Shape::List(&Shape::Name)),
                "The node or nodes that follow; for a switch the node that follows when no rule holds.",
            ),
            Key::optional("position", Shape::Any, "Where the studio draws the node: `x` and `y`."),
            Key::optional(
                "data",
                Shape::Record(&WORKFLOW_NODE_DATA),
                "The same keys, as editors write them.",
            ),
            Key::optional(
                "deletable",
                Shape::Any,
                "Whether an editor lets people delete the node.",
            ),
        ],
        NODE_DATA,
    ],
};

pub(crate) static WORKFLOW_NODE_DATA: Table = Table {
    name: "workflowNodeData",
    noun: "`data`",
    doc: "What says what a node does, as editors write it.",
    groups: &[NODE_DATA],
};

pub(crate) static HOOK: Table = Table {
    name: "hook",
    noun: "`hook`",
    doc: "A script, in the node or in a module.",
    groups: &[&[
        Key::optional("id", Shape::Any, "What an editor calls the script."),
        Key::optional("script", Shape::Text, "The body of an async function of `context`."),
        Key::optional("module", Shape::Name, "The hook module that has the script."),
        Key::optional(
            "hookModuleId",
            Shape::Name,
            "The hook module that has the script, by its id.",
        ),
        Key::optional(
            "blocking",
            Shape::Flag,
            "Whether what follows waits for the script; `true` if it is not given.",
        ),
        Key::optional(
            "onError",
            Shape::Words(&["stop", "continue"]),
            "Whether the workflow goes on when the script fails; `stop` if it is not given.",
        ),
        Key::optional(
            "timeoutMs",
            Shape::Count {
                min: 1,
                max: HookDef::MAX_TIMEOUT_MS,
                default: Some(HookDef::TIMEOUT_MS),
            },
            "How long the script may take, in milliseconds.",
        ),
    ]],
};

pub(crate) static WORKFLOW_EDGE: Table = Table {
    name: "workflowEdge",
    noun: "an edge",
    doc: "From one node to another.",
    groups: &[&[
        Key::optional("id", Shape::Any, "What an editor calls the edge."),
        Key::required("source", Shape::Name, "The id of the node it leaves."),
        Key::required("target", Shape::Name, "The id of the node it enters."),
    ]],
};
