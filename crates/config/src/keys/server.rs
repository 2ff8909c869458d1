use super::{Key, MAX_MS, MAX_PARALLEL, Shape, Table};

/// The most that `maxMessageBytes` can be: 1 GiB.
const MAX_MESSAGE_BYTES: u64 = 1 << 30;

/// `mcp.json`, as MCP clients keep it.
pub(crate) static MCP_JSON: Table = Table {
    name: "mcpJson",
    noun: "an mcp.json",
    doc: "The upstream servers of an MCP client.",
    groups: &[&[Key::required(
        "mcpServers",
        Shape::MapOf(&Shape::Record(&SERVER)),
        "The servers by their names.",
    )]],
};

pub(crate) static SERVER: Table = Table {
    name: "mcpServer",
    noun: "a server",
    doc: "An upstream MCP server: a `command` to start or a `url` to talk to. `${NAME}` and `${NAME:-default}` stand for environment variables, `${file:PATH}` for what is in a file, `$${` for a plain `${`.",
    groups: &[&[
        Key::optional(
            "type",
            Shape::Words(&["stdio", "http", "streamableHttp", "streamable-http", "sse"]),
            "The transport. Without it a `command` means stdio and a `url` HTTP.",
        ),
        Key::optional("command", Shape::Name, "The program to start."),
        Key::optional("args", Shape::List(&Shape::Scalar), "The arguments of the program."),
        Key::optional(
            "env",
            Shape::MapOf(&Shape::Scalar),
            "Variables added to the program's environment.",
        ),
        Key::optional("cwd", Shape::Name, "The working directory of the program."),
        Key::optional("url", Shape::Name, "The endpoint: http:// or https://."),
        Key::optional(
            "headers",
            Shape::MapOf(&Shape::Scalar),
            "Headers sent with each request to the endpoint.",
        ),
        Key::optional(
            "timeoutMs",
            Shape::Count { min: 1, max: MAX_MS, default: None },
            "How long a request to the server may take, in milliseconds.",
        ),
        Key::optional("disabled", Shape::Flag, "Whether the server is left alone."),
        Key::optional(
            "expose",
            Shape::Either(&Shape::Flag, &Shape::Record(&EXPOSE)),
            "Whether the server's own tools, resources and prompts are offered to clients as well. `true` puts the server's name before theirs.",
        ),
        Key::optional(
            "maxConcurrent",
            Shape::Count { min: 1, max: MAX_PARALLEL, default: None },
            "How many requests to the server may be under way at once.",
        ),
        Key::optional(
            "maxMessageBytes",
            Shape::Count { min: 1024, max: MAX_MESSAGE_BYTES, default: None },
            "The longest message that is read from the server, in bytes. 64 MiB if not given.",
        ),
    ]],
};

pub(crate) static EXPOSE: Table = Table {
    name: "expose",
    noun: "`expose`",
    doc: "How a server's own tools, resources and prompts are offered to clients.",
    groups: &[&[
        Key::optional(
            "prefix",
            Shape::Words(&["none", "server"]),
            "`server` puts the server's name before theirs, `none` keeps theirs. `server` if not given.",
        ),
        Key::optional(
            "tools",
            Shape::MapOf(&Shape::Record(&EXPOSED_TOOL)),
            "What is different about some of its tools, by the names the server has for them.",
        ),
    ]],
};

pub(crate) static EXPOSED_TOOL: Table = Table {
    name: "exposedTool",
    noun: "an exposed tool",
    doc: "How a tool of a server is offered to clients.",
    groups: &[&[
        Key::optional("rename", Shape::Name, "The name clients see, whatever the prefix is."),
        Key::optional("description", Shape::Text, "The description clients see."),
        Key::optional("hide", Shape::Flag, "Whether clients neither see nor can call it."),
        Key::optional(
            "arguments",
            Shape::MapOf(&Shape::Record(&EXPOSED_ARGUMENT)),
            "What is different about some of its arguments, by their names.",
        ),
    ]],
};

pub(crate) static EXPOSED_ARGUMENT: Table = Table {
    name: "exposedArgument",
    noun: "an exposed argument",
    doc: "How an argument of a server's tool is offered to clients.",
    groups: &[&[
        Key::optional(
            "default",
            Shape::Any,
            "The value the tool gets where the client gives none.",
        ),
        Key::optional(
            "hide",
            Shape::Flag,
            "Whether clients neither see nor can set it. The tool gets the default, or nothing.",
        ),
    ]],
};
