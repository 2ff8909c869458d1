use super::{Key, MAX_MS, MAX_PARALLEL, Shape, Table};

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
    doc: "An upstream MCP server: a `command` to start or a `url` to talk to. `${NAME}` and `${NAME:-default}` stand for environment variables, `$${` for a plain `${`.",
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
    ]],
};

pub(crate) static EXPOSE: Table = Table {
    name: "expose",
    noun: "`expose`",
    doc: "How a server's own tools, resources and prompts are offered to clients.",
    groups: &[&[Key::required(
        "prefix",
        Shape::Words(&["none", "server"]),
        "`server` puts the server's name before theirs, `none` keeps theirs.",
    )]],
};
