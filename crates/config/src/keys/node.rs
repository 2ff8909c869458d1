use super::command::COMMAND;
use super::{Key, MAX_MS, MAX_PARALLEL, Shape, Table};
use crate::model::{Ask, Retry};

/// The words that `type` of a node may say.
pub const NODE_TYPES: [&str; 11] = [
    "entry",
    "exit",
    "transform",
    "switch",
    "mcp",
    "foreach",
    "parallel",
    "graph",
    "command",
    "ask",
    "wait",
];

/// The keys that each of them brings, in their order.
static NODE_TABLES: [&Table; NODE_TYPES.len()] = [
    &ENTRY,
    &EXIT,
    &TRANSFORM,
    &SWITCH,
    &MCP,
    &FOREACH,
    &PARALLEL,
    &GRAPH,
    &COMMAND_NODE,
    &ASK,
    &WAIT,
];

/// The words, each with its keys.
pub(crate) fn node_kinds() -> impl Iterator<Item = (&'static str, &'static Table)> {
    NODE_TYPES.into_iter().zip(NODE_TABLES)
}

/// The table of a kind of node.
pub(crate) fn kind_table(kind: &str) -> Option<&'static Table> {
    node_kinds().find(|(name, _)| *name == kind).map(|(_, table)| table)
}

/// What every node has.
static COMMON: &[Key] = &[
    Key::required("id", Shape::Name, "The name other nodes and expressions use."),
    Key::required("type", Shape::Words(&NODE_TYPES), "What the node does."),
    Key::optional(
        "onError",
        Shape::Name,
        "The node that follows when this one fails for good; it reads the error as `$.error`.",
    ),
    Key::optional("position", Shape::AnyObject, "Where the studio draws the node: `x` and `y`."),
];

/// What every node has that can be tried more than once.
static ATTEMPTS: &[Key] = &[
    Key::optional(
        "timeoutMs",
        Shape::Count { min: 1, max: MAX_MS, default: None },
        "How long one attempt may take, in milliseconds.",
    ),
    Key::optional("retry", Shape::Record(&RETRY), "When and how often the node is tried again."),
];

static NEXT: &[Key] = &[Key::optional(
    "next",
    Shape::Name,
    "The node that follows. In a body or branch a node without it is the end.",
)];

static ENTRY: Table = Table {
    name: "entryNode",
    noun: "an `entry` node",
    doc: "Where the graph starts. Its output is the tool's arguments.",
    groups: &[COMMON, NEXT, ATTEMPTS],
};

static EXIT: Table = Table {
    name: "exitNode",
    noun: "an `exit` node",
    doc: "Where the graph ends. The result is the last output that is not a switch's.",
    groups: &[COMMON, ATTEMPTS],
};

static TRANSFORM: Table = Table {
    name: "transformNode",
    noun: "a `transform` node",
    doc: "Computes a value with JSONata.",
    groups: &[
        COMMON,
        NEXT,
        &[Key::required("transform", Shape::Record(&EXPRESSION), "What is computed.")],
        ATTEMPTS,
    ],
};

static SWITCH: Table = Table {
    name: "switchNode",
    noun: "a `switch` node",
    doc: "Chooses the next node by JSON Logic. Its output is the id of the chosen node.",
    groups: &[
        COMMON,
        &[
            Key::required(
                "conditions",
                Shape::List(&Shape::Record(&CONDITION)),
                "The conditions in the order they are tried; the first whose rule holds decides.",
            ),
            Key::optional(
                "next",
                Shape::Name,
                "The node that follows when no rule holds; in place of a condition without a rule.",
            ),
        ],
        ATTEMPTS,
    ],
};

static MCP: Table = Table {
    name: "mcpNode",
    noun: "an `mcp` node",
    doc: "Calls a tool of an upstream MCP server.",
    groups: &[
        COMMON,
        NEXT,
        &[
            Key::required("server", Shape::Name, "The server, by its name in `mcpServers`."),
            Key::required("tool", Shape::Name, "The tool of that server."),
        ],
        ARGS,
        ATTEMPTS,
    ],
};

static ARGS: &[Key] = &[Key::optional(
    "args",
    Shape::MapOf(&Shape::Any),
    "The arguments. `{expr: \"…\"}` at any depth is JSONata. In a tool that uses no `{expr: …}`, and in a file of version 1, a top-level text that starts with `$` is JSONata too.",
)];

static FOREACH: Table = Table {
    name: "foreachNode",
    noun: "a `foreach` node",
    doc: "Runs its body once for each item. Its output is the list of the bodies' outputs, in the order of the items.",
    groups: &[
        COMMON,
        NEXT,
        &[
            Key::required(
                "items",
                Shape::Either(&Shape::Name, &Shape::Record(&EXPRESSION)),
                "The JSONata expression that gives the items.",
            ),
            Key::optional(
                "as",
                Shape::Name,
                "The name under which the body reads its item; `item` if there is none.",
            ),
            Key::required(
                "body",
                Shape::List(&Shape::Node),
                "The nodes that run for each item. The first is the start, a node without `next` an end.",
            ),
            Key::optional(
                "maxParallel",
                Shape::Count { min: 1, max: MAX_PARALLEL, default: Some(1) },
                "How many items are worked on at once.",
            ),
        ],
        ATTEMPTS,
    ],
};

static PARALLEL: Table = Table {
    name: "parallelNode",
    noun: "a `parallel` node",
    doc: "Runs branches side by side and waits for all. Its output has the output of each branch under the branch's name.",
    groups: &[
        COMMON,
        NEXT,
        &[
            Key::required(
                "branches",
                Shape::MapOf(&Shape::List(&Shape::Node)),
                "The branches by their names. The first node is the start, a node without `next` an end.",
            ),
            Key::optional(
                "maxParallel",
                Shape::Count { min: 1, max: MAX_PARALLEL, default: None },
                "How many branches run at once; all of them if it is not given.",
            ),
        ],
        ATTEMPTS,
    ],
};

static GRAPH: Table = Table {
    name: "graphNode",
    noun: "a `graph` node",
    doc: "Calls another tool of this file.",
    groups: &[
        COMMON,
        NEXT,
        &[Key::required("tool", Shape::Name, "The tool of this file that is called.")],
        ARGS,
        ATTEMPTS,
    ],
};

static COMMAND_NODE: Table = Table {
    name: "commandNode",
    noun: "a `command` node",
    doc: "Sends a command to a backend: EdgeLake, a program, HTTP or a database.",
    groups: &[
        COMMON,
        NEXT,
        &[Key::required("command", Shape::Record(&COMMAND), "What is sent.")],
        ARGS,
        ATTEMPTS,
    ],
};

static ASK: Table = Table {
    name: "askNode",
    noun: "an `ask` node",
    doc: "Asks a person and waits for the answer, which is its output. The time of waiting does not count as the run's.",
    groups: &[COMMON, NEXT, QUESTION, PATIENCE],
};

static QUESTION: &[Key] = &[
    Key::required(
        "message",
        Shape::Either(&Shape::Name, &Shape::Record(&EXPRESSION)),
        "What is asked: text, or `{expr: \"…\"}` for JSONata. In a tool that uses no `{expr: …}`, and in a file of version 1, text that starts with `$` is JSONata too.",
    ),
    Key::optional(
        "schema",
        Shape::AnyObject,
        "The JSON Schema of the answer: an object whose properties are texts, numbers, booleans or choices. Without it the answer is only yes or no.",
    ),
    Key::optional(
        "onDecline",
        Shape::Name,
        "The node that follows when the person declines; without it the run fails.",
    ),
    Key::optional(
        "onTimeout",
        Shape::Name,
        "The node that follows when there is no answer in time; without it the run fails.",
    ),
];

static PATIENCE: &[Key] = &[Key::optional(
    "timeoutMs",
    Shape::Count { min: 1, max: Ask::MAX_TIMEOUT_MS, default: Some(Ask::TIMEOUT_MS) },
    "How long the question waits for an answer, in milliseconds: a day if it is not given, thirty days at most.",
)];

static WAIT: Table = Table {
    name: "waitNode",
    noun: "a `wait` node",
    doc: "Waits for a while or until a time, also across restarts. It has one of `duration` and `until`; its output is the time it waited for, which is not the result of the tool.",
    groups: &[
        COMMON,
        NEXT,
        &[
            Key::optional(
                "duration",
                Shape::Either(&Shape::Scalar, &Shape::Record(&EXPRESSION)),
                "How long: `500ms`, `90s`, `5m`, `2h`, `3d`, a number of milliseconds, or an expression that gives one of these.",
            ),
            Key::optional(
                "until",
                Shape::Either(&Shape::Scalar, &Shape::Record(&EXPRESSION)),
                "Until when: a time such as `2030-01-31T12:00:00Z`, or an expression that gives one, or milliseconds since 1970.",
            ),
        ],
    ],
};

pub(crate) static CONDITION: Table = Table {
    name: "condition",
    noun: "a condition",
    doc: "A condition of a switch: a rule and where to go when it holds.",
    groups: &[&[
        Key::optional(
            "rule",
            Shape::Any,
            "The JSON Logic rule; `var` operands are JSONata. A condition with `target` and without a rule is the default.",
        ),
        Key::optional("target", Shape::Name, "The node to go to when the rule holds."),
        Key::optional(
            "next",
            Shape::Name,
            "The node to go to when the rule holds; the newer word for `target`.",
        ),
    ]],
};

pub(crate) static EXPRESSION: Table = Table {
    name: "expression",
    noun: "an expression",
    doc: "A JSONata expression.",
    groups: &[&[Key::required("expr", Shape::Name, "The JSONata expression.")]],
};

pub(crate) static RETRY: Table = Table {
    name: "retry",
    noun: "`retry`",
    doc: "When and how often a node is tried again.",
    groups: &[&[
        Key::optional(
            "times",
            Shape::Count {
                min: 0,
                max: Retry::MAX_TIMES as u64,
                default: Some(Retry::TIMES as u64),
            },
            "How many attempts may follow the first.",
        ),
        Key::optional(
            "backoffMs",
            Shape::Count { min: 0, max: MAX_MS, default: Some(Retry::BACKOFF_MS) },
            "The pause before the second attempt, in milliseconds; it doubles with each further one.",
        ),
        Key::optional(
            "on",
            Shape::List(&Shape::Words(&[
                "timeout",
                "unavailable",
                "tool_error",
                "protocol_error",
                "expression",
                "any",
            ])),
            "The failures after which another attempt is made; `timeout` and `unavailable` if it is not given.",
        ),
    ]],
};

/// Every key any node may have, for nodes whose kind is not known.
pub(crate) static ANY_NODE: Table = Table {
    name: "node",
    noun: "a node",
    doc: "A node of a graph.",
    groups: &[
        COMMON,
        NEXT,
        TRANSFORM.groups[2],
        SWITCH.groups[1],
        MCP.groups[2],
        ARGS,
        FOREACH.groups[2],
        PARALLEL.groups[2],
        COMMAND_NODE.groups[2],
        QUESTION,
        ATTEMPTS,
        WAIT.groups[2],
    ],
};
