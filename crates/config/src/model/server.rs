use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use mcpgraph_diagnostics::{Source, Span};
use mcpgraph_value::Value;

use super::Spanned;
use crate::Text;

/// An upstream MCP server.
#[derive(Clone, Debug)]
pub struct ServerDef {
    /// The file it was read from; all its spans point into it.
    pub source: Arc<Source>,
    /// Which kind of file that was.
    pub origin: Origin,
    /// The whole definition.
    pub span: Span,
    /// The name nodes use.
    pub name: Text,
    /// How it is reached.
    pub transport: Transport,
    /// How long a request to it may take, where the file says.
    pub timeout_ms: Option<Spanned<u64>>,
    /// Whether it is left alone.
    pub disabled: bool,
    /// How its own tools, resources and prompts are offered to clients; none if they are not.
    pub expose: Option<Expose>,
    /// Whether the file says whether they are.
    pub says_expose: bool,
    /// How many requests may be under way to it at once, where the file says.
    pub max_concurrent: Option<NonZeroU32>,
    /// The longest message that is read from it, in bytes.
    pub max_message_bytes: Option<NonZeroU32>,
}

/// Where a server was defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// In the graph file.
    Graph,
    /// In an `mcp.json` that was merged under it.
    McpJson,
    /// In the front matter of a procedure.
    Procedure,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Transport {
    /// A process that talks on its standard streams.
    Stdio {
        /// The program; empty only in a file with errors.
        command: Expanded,
        /// Its arguments.
        args: Vec<Expanded>,
        /// Variables added to its environment.
        env: Vec<(Text, Expanded)>,
        /// Its working directory.
        cwd: Option<Expanded>,
    },
    /// A URL.
    Http {
        /// The endpoint.
        url: Expanded,
        /// Which of the two HTTP transports it speaks.
        kind: HttpKind,
        /// Headers sent with each request.
        headers: Vec<(Text, Expanded)>,
    },
}

/// The HTTP transports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpKind {
    /// Streamable HTTP: `http`, `streamableHttp` or `streamable-http`.
    Streamable,
    /// The older HTTP with server-sent events: `sse`.
    Sse,
    /// The file does not say: streamable HTTP first, then the older one.
    Unstated,
}

/// How a server's own tools, resources and prompts are offered to clients.
#[derive(Clone, Debug, PartialEq)]
pub struct Expose {
    /// The names under which they appear.
    pub prefix: Prefix,
    /// What is different about some of the tools.
    pub tools: Vec<ExposedTool>,
}

/// How a tool of a server is offered to clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ExposedTool {
    /// The server's name for it.
    pub name: Text,
    /// The name clients see.
    pub rename: Option<Text>,
    /// The description clients see.
    pub description: Option<Text>,
    /// Whether it is not offered at all.
    pub is_hidden: bool,
    /// What is different about some of its arguments.
    pub arguments: Vec<ExposedArgument>,
}

/// How an argument of a server's tool is offered to clients.
#[derive(Clone, Debug, PartialEq)]
pub struct ExposedArgument {
    /// Its name.
    pub name: Text,
    /// What the tool gets where the client gives nothing.
    pub default: Option<Value>,
    /// Whether clients neither see nor can set it.
    pub is_hidden: bool,
}

/// The names under which an exposed server's things appear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefix {
    /// Their own.
    None,
    /// Their own behind the server's name; what `expose: true` means.
    #[default]
    Server,
}

impl Expose {
    /// Everything under the server's name; what `expose: true` means.
    pub fn all() -> Self {
        Self { prefix: Prefix::default(), tools: Vec::new() }
    }
}

/// A text of a server definition with its `${VARIABLE}` references replaced.
#[derive(Clone, PartialEq, Eq)]
pub struct Expanded {
    /// The text as it is used.
    pub value: String,
    /// Where it was written.
    pub span: Span,
    /// The values that came from the environment or from files, and may be secrets.
    pub secrets: Vec<String>,
}

/// A text with something from the environment in it is not shown.
impl fmt::Debug for Expanded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.secrets.is_empty() { write!(f, "{:?}", self.value) } else { f.write_str("\"***\"") }
    }
}

impl Prefix {
    /// What stands between a server's name and a tool's.
    pub const SEPARATOR: &str = "__";
}

impl ServerDef {
    /// Everything in the definition that records must mask: what came from the environment or from
    /// files, and the headers, wherever they came from.
    pub fn masked(&self) -> impl Iterator<Item = &str> {
        let headers = match &self.transport {
            Transport::Http { headers, .. } => headers.as_slice(),
            Transport::Stdio { .. } => &[],
        };
        self.secrets().chain(headers.iter().map(|(_, header)| header.value.as_str()))
    }

    /// Everything in the definition that came from elsewhere: what logs must mask.
    pub fn secrets(&self) -> impl Iterator<Item = &str> {
        let (single, lists): (Vec<&Expanded>, Vec<&(Text, Expanded)>) = match &self.transport {
            Transport::Stdio { command, args, env, cwd } => {
                (std::iter::once(command).chain(args).chain(cwd).collect(), env.iter().collect())
            }
            Transport::Http { url, headers, .. } => (vec![url], headers.iter().collect()),
        };
        single
            .into_iter()
            .chain(lists.into_iter().map(|(_, value)| value))
            .flat_map(|text| text.secrets.iter().map(String::as_str))
    }
}
