use super::graph::LIMITS;
use super::{Key, MAX_EXACT, MAX_MS, Shape, Table};
use crate::model::CommandDef;

/// A backend in a file is one of these; each word has its own keys.
pub(crate) static BACKEND: Table = Table {
    name: "backend",
    noun: "a backend",
    doc: "Where commands are carried out: exactly one of these.",
    groups: &[&[
        backend("edgelake", &EDGELAKE),
        backend("process", &PROCESS),
        backend("http", &HTTP),
        backend("sqlite", &SQLITE),
        backend("postgres", &POSTGRES),
    ]],
};

/// The key of a kind of backend, which is told about in one place.
const fn backend(name: &'static str, table: &'static Table) -> Key {
    Key::optional(name, Shape::Record(table), table.doc)
}

/// Of a database.
const WRITE: Key =
    Key::optional("write", Shape::Flag, "Whether statements may change the database.");

static EDGELAKE: Table = Table {
    name: "edgelakeBackend",
    noun: "`edgelake`",
    doc: "A node of an EdgeLake network.",
    groups: &[&[Key::required(
        "url",
        Shape::Name,
        "The REST endpoint of the node, such as `http://127.0.0.1:32149`; `${NAME}` is a variable of the environment.",
    )]],
};

static PROCESS: Table = Table {
    name: "processBackend",
    noun: "`process`",
    doc: "Programs of this machine, never through a shell.",
    groups: &[&[
        Key::optional("cwd", Shape::Name, "Where programs run; `${NAME}` is a variable."),
        Key::optional(
            "env",
            Shape::MapOf(&Shape::Scalar),
            "Variables added to a small environment; `${NAME}` passes one of ours on.",
        ),
    ]],
};

static HTTP: Table = Table {
    name: "httpBackend",
    noun: "`http`",
    doc: "An HTTP service.",
    groups: &[&[
        Key::optional("url", Shape::Name, "What the URLs of commands are relative to."),
        Key::optional(
            "headers",
            Shape::MapOf(&Shape::Scalar),
            "Headers sent with each request; `${NAME}` is a variable of the environment.",
        ),
        Key::optional(
            "allow_hosts",
            Shape::List(&Shape::Name),
            "Hosts that may be reached although they are on this machine or in a private network: `localhost:8080`, `10.0.0.7`.",
        ),
    ]],
};

static SQLITE: Table = Table {
    name: "sqliteBackend",
    noun: "`sqlite`",
    doc: "An SQLite database.",
    groups: &[&[
        Key::required("path", Shape::Name, "The file; `${GRAPH_DIR}` is the folder of this file."),
        WRITE,
    ]],
};

static POSTGRES: Table = Table {
    name: "postgresBackend",
    noun: "`postgres`",
    doc: "A PostgreSQL database.",
    groups: &[&[
        Key::required(
            "url",
            Shape::Name,
            "How to connect: `${DATABASE_URL}`, for example; `?sslmode=verify-full` makes sure who answers.",
        ),
        WRITE,
    ]],
};

/// A command in a graph or a tool.
pub(crate) static COMMAND: Table = Table {
    name: "command",
    noun: "a command",
    doc: "What is sent to a backend, with `{placeholders}` for arguments, and what is taken from the answer.",
    groups: &[
        &[Key::optional(
            "backend",
            Shape::Name,
            "The backend, by its name in `backends`; not needed if the file has only one.",
        )],
        PARTS,
    ],
};

/// A command as EdgeLake's own files write it.
pub(crate) static EDGELAKE_COMMAND: Table = Table {
    name: "edgelakeCommand",
    noun: "`edgelake_command`",
    doc: "A command for the EdgeLake node of this file.",
    groups: &[PARTS],
};

static PARTS: &[Key] = &[
    Key::optional(
        "type",
        Shape::Words(&["get", "sql", "internal"]),
        "On EdgeLake: `get` (a command), `sql` (a query) or `internal` (answered without the node).",
    ),
    Key::optional(
        "method",
        Shape::Name,
        "The HTTP method (`GET` if there is none); of an `internal` command what it asks; otherwise a label.",
    ),
    Key::optional(
        "template",
        Shape::Name,
        "The text of the command. `{name}` is an argument, quoted as its place needs it; `{number:name}`, `{id:name}` and `{string:name}` say what it has to be, `{raw:name}` takes it as it is; `{{` is a brace.",
    ),
    Key::optional(
        "conditional_template",
        Shape::MapOf(&Shape::Name),
        "Other templates: `full` if all its arguments are there, else the first `with_<argument>` whose argument is, else `template`.",
    ),
    Key::optional(
        "build_sql",
        Shape::Flag,
        "Builds one SELECT from the arguments `table`, `select`, `where`, `group_by`, `order_by` and `limit`.",
    ),
    Key::optional(
        "allow_union",
        Shape::Flag,
        "Whether a statement may have UNION, EXCEPT or INTERSECT; a built one has it behind `where`.",
    ),
    Key::optional("allow_subqueries", Shape::Flag, "Whether a built SELECT may contain others."),
    Key::optional(
        "allow_functions",
        Shape::List(&Shape::Name),
        "Functions a built SELECT may call besides the common ones.",
    ),
    Key::optional(
        "headers",
        Shape::MapOf(&Shape::Scalar),
        "On EdgeLake `destination: network` asks the whole network; on HTTP the headers of the request.",
    ),
    Key::optional(
        "argv",
        Shape::List(&Shape::Scalar),
        "The program and its arguments, each one text; never a shell.",
    ),
    Key::optional("stdin", Shape::Text, "What the program reads."),
    Key::optional(
        "success_codes",
        Shape::List(&Shape::Count { min: 0, max: 255, default: None }),
        "Exit codes that are no failure; `[0]` if it is not given.",
    ),
    Key::optional("url", Shape::Name, "The URL, whole or relative to the backend's."),
    Key::optional(
        "json",
        Shape::Any,
        "The body as JSON; `\"{name}\"` alone is the argument itself.",
    ),
    Key::optional("form", Shape::MapOf(&Shape::Scalar), "The body as a form."),
    Key::optional(
        "output",
        Shape::Words(&["auto", "json", "text"]),
        "How the answer is read: `auto` takes it as JSON if it is that, `json` looks for JSON in it and fails without, `text` never looks.",
    ),
    Key::optional(
        "max_output_bytes",
        Shape::Count { min: 1, max: MAX_EXACT, default: Some(CommandDef::MAX_OUTPUT_BYTES) },
        "How large the answer may be.",
    ),
    Key::optional(
        "timeout_ms",
        Shape::Count { min: 1, max: MAX_MS, default: None },
        "How long one attempt may take, in milliseconds.",
    ),
    Key::optional(
        "response_parser",
        Shape::Record(&RESPONSE),
        "What is taken from the answer. Without it the answer is the result.",
    ),
];

pub(crate) static RESPONSE: Table = Table {
    name: "responseParser",
    noun: "`response_parser`",
    doc: "What is taken from an answer: extracted, filtered, mapped, made unique and sorted, in this order. The result is a list.",
    groups: &[&[
        Key::optional("type", Shape::Words(&["jsonpath"]), "The language of `extract_path`."),
        Key::optional("description", Shape::Text, "For people; it has no effect."),
        Key::required("extract_path", Shape::Name, "A JSONPath query (RFC 9535)."),
        Key::optional("filter", Shape::Record(&FILTER), "Keeps only some objects."),
        Key::optional("map", Shape::Name, "Takes this member of each object."),
        Key::optional("unique", Shape::Flag, "Keeps only the first of equal values."),
        Key::optional("sort", Shape::Flag, "Sorts: numbers by value, texts by code point."),
    ]],
};

pub(crate) static FILTER: Table = Table {
    name: "responseFilter",
    noun: "`filter`",
    doc: "Keeps the objects whose `field` equals a value.",
    groups: &[&[
        Key::required("field", Shape::Name, "The member that is looked at."),
        Key::optional(
            "source",
            Shape::Words(&["argument", "literal"]),
            "Where the value comes from; `argument` if there is none.",
        ),
        Key::optional(
            "argument",
            Shape::Name,
            "The argument to compare with; if it is not given, everything is kept.",
        ),
        Key::optional("value", Shape::Any, "The value to compare with, for `source: literal`."),
    ]],
};

/// A tool that is one command.
pub(crate) static COMMAND_TOOL: Table = Table {
    name: "commandTool",
    noun: "a command tool",
    doc: "A tool that is one command: `command`, or `edgelake_command` as EdgeLake writes it.",
    groups: &[&[
        Key::required("name", Shape::Name, "The name clients call the tool by."),
        Key::optional("title", Shape::Text, "The name people see."),
        Key::optional("description", Shape::Text, "What the tool does, for the model."),
        Key::optional(
            "inputSchema",
            Shape::AnyObject,
            "The JSON Schema of the arguments; none if there is none.",
        ),
        Key::optional("input_schema", Shape::AnyObject, "The same as `inputSchema`."),
        Key::optional("outputSchema", Shape::AnyObject, "The JSON Schema of the result."),
        Key::optional("output_schema", Shape::AnyObject, "The same as `outputSchema`."),
        Key::optional("annotations", Shape::AnyObject, "MCP annotations such as `readOnlyHint`."),
        Key::optional("_meta", Shape::AnyObject, "MCP metadata, passed on as it is."),
        Key::optional("icons", Shape::AnyArray, "MCP icons, passed on as they are."),
        Key::optional("executionLimits", Shape::Record(&LIMITS), "The limits of this tool's runs."),
        Key::optional("command", Shape::Record(&COMMAND), "The command."),
        Key::optional(
            "edgelake_command",
            Shape::Record(&EDGELAKE_COMMAND),
            "The command, for the EdgeLake node of this file.",
        ),
    ]],
};
