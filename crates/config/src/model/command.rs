use mcpgraph_diagnostics::Span;

use super::{Expanded, Spanned};
use crate::{Json, Text};

/// Where commands are carried out.
#[derive(Clone, Debug)]
pub struct BackendDef {
    /// The whole definition.
    pub span: Span,
    /// The name commands use; that of its kind where the file gives none.
    pub name: Text,
    /// What it is.
    pub kind: BackendKind,
}

/// The kinds of backend.
#[derive(Clone, Debug)]
pub enum BackendKind {
    /// A node of an EdgeLake network.
    EdgeLake {
        /// Its REST endpoint.
        url: Expanded,
    },
    /// Programs of this machine.
    Process {
        /// Where they run.
        cwd: Option<Expanded>,
        /// Variables added to their environment.
        env: Vec<(Text, Expanded)>,
    },
    /// An HTTP service.
    Http {
        /// What the URLs of commands are relative to.
        url: Option<Expanded>,
        /// Headers sent with each request.
        headers: Vec<(Text, Expanded)>,
        /// Hosts that may be reached although their addresses are not public.
        allow_hosts: Vec<Text>,
    },
    /// An SQLite database.
    Sqlite {
        /// Its file.
        path: Expanded,
        /// Whether statements may change it.
        write: bool,
    },
    /// A PostgreSQL database.
    Postgres {
        /// How to connect to it.
        url: Expanded,
        /// Whether statements may change it.
        write: bool,
    },
    /// It could not be read, and a diagnostic says why; only in a file with errors.
    Invalid,
}

/// A command: what is sent, and what is taken from the answer.
///
/// Which of its parts mean something depends on the backend.
#[derive(Clone, Debug)]
pub struct CommandDef {
    /// The whole definition.
    pub span: Span,
    /// The backend; the file's only one where the command names none.
    pub backend: Option<Spanned<BackendRef>>,
    /// What kind of EdgeLake command it is.
    pub kind: Option<Spanned<&'static str>>,
    /// The HTTP method; on EdgeLake only a label.
    pub method: Option<Text>,
    /// The text with `{placeholders}`.
    pub template: Option<Text>,
    /// Other texts, taken by which arguments are there: `with_<argument>` and `full`.
    pub conditional: Vec<(Text, Text)>,
    /// Whether a SELECT is built from the arguments.
    pub build_sql: bool,
    /// What a built SELECT may have that it otherwise may not.
    pub allow: Allow,
    /// Headers, with `{placeholders}`.
    pub headers: Vec<(Text, Text)>,
    /// The program and its arguments, with `{placeholders}`.
    pub argv: Option<Vec<Text>>,
    /// What the program reads, with `{placeholders}`.
    pub stdin: Option<Text>,
    /// Exit codes that are no failure.
    pub success_codes: Vec<u64>,
    /// The URL, with `{placeholders}`.
    pub url: Option<Text>,
    /// The body as JSON, with `{placeholders}` in its texts.
    pub json: Option<Json>,
    /// The body as a form, with `{placeholders}`.
    pub form: Vec<(Text, Text)>,
    /// How the answer is read.
    pub output: Option<Spanned<&'static str>>,
    /// How large the answer may be.
    pub max_output_bytes: u64,
    /// How long it may take.
    pub timeout_ms: Option<Spanned<u64>>,
    /// What is taken from the answer.
    pub response: Option<ResponseDef>,
}

/// How a command names its backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BackendRef {
    /// By its name.
    Name(Text),
    /// The one EdgeLake node there is: what `edgelake_command` means.
    EdgeLake,
}

/// What a built SELECT may have that it otherwise may not.
#[derive(Clone, Debug, Default)]
pub struct Allow {
    /// UNION and its kin.
    pub union: bool,
    /// SELECTs inside of the SELECT.
    pub subqueries: bool,
    /// Functions besides the common ones.
    pub functions: Vec<Text>,
}

/// What is taken from an answer.
#[derive(Clone, Debug)]
pub struct ResponseDef {
    /// The JSONPath query.
    pub path: Text,
    /// Keeps only some of what it finds.
    pub filter: Option<FilterDef>,
    /// The member that is taken of each object.
    pub map: Option<Text>,
    /// Whether repetitions go.
    pub unique: bool,
    /// Whether the rest is sorted.
    pub sort: bool,
}

/// Which objects of an answer are kept.
#[derive(Clone, Debug)]
pub struct FilterDef {
    /// The member that is looked at.
    pub field: Text,
    /// What it has to be.
    pub equals: FilterValue,
}

/// What a member of an answer is compared with.
#[derive(Clone, Debug)]
pub enum FilterValue {
    /// An argument of the tool.
    Argument(Text),
    /// A value in the file.
    Literal(Json),
}

impl CommandDef {
    /// The default of `max_output_bytes`.
    pub const MAX_OUTPUT_BYTES: u64 = 16 * 1024 * 1024;
}

impl BackendDef {
    /// Everything in the definition that records and messages must not show: what came from the
    /// environment or from files, and the headers, wherever they came from.
    pub fn masked(&self) -> impl Iterator<Item = &str> {
        let (single, lists): (Vec<&Expanded>, &[(Text, Expanded)]) = match &self.kind {
            BackendKind::EdgeLake { url } | BackendKind::Postgres { url, .. } => (vec![url], &[]),
            BackendKind::Process { cwd, env } => (cwd.iter().collect(), env),
            BackendKind::Http { url, headers, .. } => (url.iter().collect(), headers),
            BackendKind::Sqlite { path, .. } => (vec![path], &[]),
            BackendKind::Invalid => (Vec::new(), &[]),
        };
        let headers = match &self.kind {
            BackendKind::Http { headers, .. } => headers.as_slice(),
            _ => &[],
        };
        let texts = single.into_iter().chain(lists.iter().map(|(_, value)| value));
        texts
            .flat_map(|text| text.secrets.iter().map(String::as_str))
            .chain(headers.iter().map(|(_, header)| header.value.as_str()))
    }
}
