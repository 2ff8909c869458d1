use super::{Key, Shape, Table};

/// A file of tests for the tools of a graph file.
pub(crate) static TEST_FILE: Table = Table {
    name: "testFile",
    noun: "a test file",
    doc: "Tests of the tools of one graph file.",
    groups: &[&[
        Key::optional(
            "graph",
            Shape::Name,
            "The graph file, relative to this file; `-g` on the command line counts before it.",
        ),
        Key::required("tests", Shape::List(&Shape::Record(&TEST)), "The tests, in order."),
    ]],
};

pub(crate) static TEST: Table = Table {
    name: "test",
    noun: "a test",
    doc: "One call of a tool, what upstream tools answer during it, and what has to come of it.",
    groups: &[&[
        Key::required("name", Shape::Name, "What the test shows, in words."),
        Key::required("tool", Shape::Name, "The tool that is called."),
        Key::optional(
            "input",
            Shape::AnyObject,
            "The arguments; those of the recorded run if answers come from one, else none.",
        ),
        Key::optional(
            "mocks",
            Shape::MapOf(ANSWERS),
            "What upstream tools answer, by the id of the node that calls or by `server.tool`. Of a list each answer is given once, in order, and the last again and again.",
        ),
        Key::optional(
            "run",
            Shape::Name,
            "The id of a recorded run whose answers stand in for what `mocks` does not have.",
        ),
        Key::optional(
            "record",
            Shape::Name,
            "The same from an exported run: a file, relative to this one.",
        ),
        Key::optional(
            "live",
            Shape::Flag,
            "Whether calls without a mock really go to the upstream servers.",
        ),
        Key::required("expect", Shape::Record(&EXPECT), "What has to come of the call."),
    ]],
};

/// One answer, or a list of them.
const ANSWERS: &Shape =
    &Shape::Either(&Shape::Record(&ANSWER), &Shape::List(&Shape::Record(&ANSWER)));

pub(crate) static ANSWER: Table = Table {
    name: "mockAnswer",
    noun: "an answer",
    doc: "What an upstream tool answers: one of `output`, `error`, `result` and `pending`.",
    groups: &[&[
        Key::optional("output", Shape::Any, "The output of the node."),
        Key::optional("error", Shape::Record(&MOCK_ERROR), "The call fails."),
        Key::optional(
            "result",
            Shape::AnyObject,
            "A result of `tools/call` as servers send it: `content`, `structuredContent`, `isError`.",
        ),
        Key::optional(
            "pending",
            Shape::Flag,
            "`true`: no answer comes, until a time limit or a failure elsewhere stops the call.",
        ),
        Key::optional("args", Shape::AnyObject, "Only calls with these arguments are answered so."),
    ]],
};

pub(crate) static MOCK_ERROR: Table = Table {
    name: "mockError",
    noun: "an error",
    doc: "Why a call fails.",
    groups: &[&[
        Key::required("kind", Shape::Words(ERROR_KINDS), "What sort of failure it is."),
        Key::optional("message", Shape::Text, "What is said of it."),
        Key::optional(
            "protocolCode",
            Shape::Any,
            "The JSON-RPC code of a `protocol_error`; -32603 if it is not given.",
        ),
        Key::optional("data", Shape::Any, "What else the other side said."),
    ]],
};

pub(crate) static EXPECT: Table = Table {
    name: "expect",
    noun: "`expect`",
    doc: "What has to come of a call. Without `error` the call must not fail.",
    groups: &[&[
        Key::optional("result", Shape::Any, "The result, exactly."),
        Key::optional("error", Shape::Record(&EXPECTED_ERROR), "The call fails, and so."),
        Key::optional(
            "path",
            Shape::List(&Shape::Name),
            "The nodes in the order in which they end, what runs side by side item by item; `...` stands for any number of nodes.",
        ),
        Key::optional(
            "calls",
            Shape::MapOf(&Shape::List(&Shape::AnyObject)),
            "The arguments of every call, by the id of the node or by `server.tool`.",
        ),
    ]],
};

pub(crate) static EXPECTED_ERROR: Table = Table {
    name: "expectedError",
    noun: "an expected error",
    doc: "How a call has to fail. What is not said may be anything.",
    groups: &[&[
        Key::optional("kind", Shape::Words(ERROR_KINDS), "What sort of failure it is."),
        Key::optional("node", Shape::Name, "The node at which it happens."),
        Key::optional("messageContains", Shape::Text, "A part of its message."),
    ]],
};

/// The words for the failures of runs.
const ERROR_KINDS: &[&str] = &[
    "expression",
    "tool_error",
    "protocol_error",
    "unavailable",
    "timeout",
    "limit",
    "no_route",
    "invalid_input",
    "invalid_output",
    "refused",
    "command_failed",
    "bad_answer",
    "outcome_unknown",
    "cancelled",
    "internal",
    "hook_failed",
    "hook_blocked",
    "no_response",
    "declined",
    "unanswered",
];
