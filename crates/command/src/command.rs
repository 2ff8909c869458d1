use std::cmp::Ordering;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcpgraph_diagnostics::Secrets;
use mcpgraph_expr::Pipeline;
use mcpgraph_value::Value;

use crate::answer::{clean, find_json, only_list, whole_json};
use crate::body::BodyPlan;
use crate::edgelake::EdgeLakeText;
use crate::fill::{self, Place, Refusal, free};
use crate::sql::{Built, Dialect, Rules, SqlTemplate, build};
use crate::template::Template;
use crate::url_template::UrlTemplate;
use crate::{Answer, Request};

/// A command, ready to be filled.
#[derive(Debug)]
pub struct Command {
    /// Where it goes.
    pub backend: Arc<Backend>,
    /// How large its answer may be.
    pub max_output_bytes: usize,
    /// How its answer is read.
    pub output: Output,
    /// What is taken of the answer.
    pub response: Option<Pipeline>,
    /// What people recognise it by.
    pub(crate) label: Arc<str>,
    pub(crate) written: Value,
    pub(crate) plan: Plan,
}

/// Where commands are carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The name in the file.
    pub name: Arc<str>,
    /// What it is.
    pub kind: BackendKind,
    /// What of its definition no message may show.
    pub secrets: Secrets,
}

/// The kinds of backend.
#[derive(Clone, PartialEq, Eq)]
pub enum BackendKind {
    /// A node of an EdgeLake network.
    EdgeLake {
        /// Its REST endpoint.
        url: String,
    },
    /// Programs of this machine.
    Process {
        /// Where they run.
        cwd: Option<PathBuf>,
        /// Variables added to their environment.
        env: Vec<(String, String)>,
    },
    /// An HTTP service.
    Http {
        /// Headers sent with each request.
        headers: Vec<(String, String)>,
        /// Hosts that may be reached although their addresses are not public.
        allow_hosts: Vec<String>,
    },
    /// An SQLite database.
    Sqlite {
        /// Its file.
        path: PathBuf,
        /// Whether statements may change it.
        write: bool,
    },
    /// A PostgreSQL database.
    Postgres {
        /// How to connect to it.
        url: String,
        /// Whether statements may change it.
        write: bool,
    },
}

/// How an answer is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// As JSON if it is that, else as text.
    Auto,
    /// As JSON.
    Json,
    /// As text.
    Text,
}

/// An answer that is not what the command needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AnswerError(pub String);

/// What a command is made of.
#[derive(Debug)]
pub(crate) enum Plan {
    EdgeLake {
        text: EdgeLakeText,
        destination: Option<String>,
    },
    Process {
        argv: Vec<Template>,
        stdin: Option<Template>,
        success_codes: Vec<i32>,
    },
    Http {
        method: String,
        url: UrlTemplate,
        headers: Vec<(String, Template)>,
        body: Option<BodyPlan>,
    },
    Sql(SqlPlan),
}

#[derive(Debug)]
pub(crate) enum SqlPlan {
    Templates(Vec<(Vec<Arc<str>>, SqlTemplate)>),
    Built(Dialect, Rules),
}

impl Command {
    /// Whether it can be sent twice without harm: it only reads, as far as can be told from here.
    pub fn only_reads(&self) -> bool {
        match (&self.plan, &self.backend.kind) {
            (Plan::Http { method, .. }, _) => matches!(method.as_str(), "GET" | "HEAD"),
            (
                Plan::Sql(_),
                BackendKind::Sqlite { write, .. } | BackendKind::Postgres { write, .. },
            ) => !write,
            _ => false,
        }
    }

    /// What is to be sent for these arguments.
    pub fn request(&self, arguments: &Value) -> Result<Request, Refusal> {
        match &self.plan {
            Plan::EdgeLake { text, destination } => {
                let command = text.fill(arguments)?;
                Ok(Request::EdgeLake { command, destination: destination.clone() })
            }
            Plan::Process { argv, stdin, success_codes } => Ok(Request::Process {
                argv: program(argv, arguments)?,
                stdin: stdin.as_ref().map(|text| free(text, arguments)).transpose()?,
                success_codes: success_codes.clone(),
            }),
            Plan::Http { method, url, headers, body } => Ok(Request::Http {
                method: method.clone(),
                url: url.fill(arguments)?,
                headers: headers
                    .iter()
                    .map(|(name, value)| {
                        Ok((name.clone(), fill::fill(value, arguments, |_, _| Place::Header)?))
                    })
                    .collect::<Result<_, Refusal>>()?,
                body: body.as_ref().map(|body| body.fill(arguments)).transpose()?,
            }),
            Plan::Sql(SqlPlan::Built(dialect, rules)) => {
                let Built { statement, .. } = build(arguments, *dialect, rules)?;
                let lead = String::new();
                Ok(Request::Sql { lead, statement, parameters: Vec::new(), gives_rows: true })
            }
            Plan::Sql(SqlPlan::Templates(choices)) => {
                let (_, template) = choices
                    .iter()
                    .find(|(needs, _)| are_given(needs, arguments))
                    .ok_or_else(no_template)?;
                let bound = template.bind(arguments)?;
                Ok(Request::Sql {
                    lead: bound.lead,
                    statement: bound.statement,
                    parameters: bound.parameters,
                    gives_rows: bound.gives_rows,
                })
            }
        }
    }

    /// What an answer gives.
    pub fn result(&self, answer: Answer, arguments: &Value) -> Result<Value, AnswerError> {
        let value = self.read(answer)?;
        let Some(response) = &self.response else { return Ok(value) };
        if let Value::String(text) = &value {
            let shown: String = text.chars().take(200).collect();
            let hint = match (&self.backend.kind, self.output) {
                (BackendKind::Process { .. }, Output::Auto) => {
                    " (`output: json` takes JSON from the middle of a text)"
                }
                _ => "",
            };
            return Err(AnswerError(format!(
                "`response_parser` needs JSON, and the answer is text{hint}: {shown}"
            )));
        }
        let items = response.apply(&value, arguments).map_err(|error| {
            AnswerError(format!("`extract_path` cannot be applied to the answer: {error}"))
        })?;
        Ok(items.into())
    }

    fn read(&self, answer: Answer) -> Result<Value, AnswerError> {
        let (text, is_printed) = match answer {
            Answer::Value(value) => return Ok(value),
            Answer::Printed(text) => (text, true),
            Answer::Text(text) => (text, false),
        };
        if self.output == Output::Text {
            return Ok(Value::from(if is_printed { clean(&text) } else { text }));
        }
        let found = if is_printed { self.find(&text) } else { Value::from_json(text.trim()).ok() };
        match (found, self.output) {
            (Some(value), _) if is_printed && self.asks_blockchain() => Ok(only_list(value)),
            (Some(value), _) => Ok(value),
            (None, Output::Json) => Err(AnswerError("there is no JSON in the answer".to_owned())),
            (None, _) => Ok(Value::from(if is_printed { clean(&text) } else { text })),
        }
    }

    /// The JSON in what was printed. A program may say anything, so JSON is looked for in the middle
    /// of its text only where the file says that it is there; nodes of EdgeLake are known.
    fn find(&self, text: &str) -> Option<Value> {
        let search = || find_json(text, self.wants_array());
        match (&self.backend.kind, self.output) {
            (BackendKind::Process { .. }, Output::Json) => whole_json(text).or_else(search),
            (BackendKind::Process { .. }, _) => whole_json(text),
            _ => search(),
        }
    }

    /// Whether a list is what is looked for in the answer: policies of the blockchain are one, and
    /// a query that begins with an index says so.
    fn wants_array(&self) -> bool {
        let path = self.response.as_ref().map_or("", |response| response.path.source());
        let by_index = path.strip_prefix("$[").is_some_and(|rest| !rest.starts_with(['\'', '"']));
        by_index || self.asks_blockchain()
    }

    fn asks_blockchain(&self) -> bool {
        self.label.trim_start_matches("run client ()").trim_start().starts_with("blockchain")
    }
}

/// The arguments of a program. After a `--` none is an option any more.
fn program(argv: &[Template], arguments: &Value) -> Result<Vec<String>, Refusal> {
    let mut ended = false;
    let mut filled = Vec::with_capacity(argv.len());
    for template in argv {
        // What stands before a value may be nothing, too.
        let place = |_: usize, before: &str| {
            if before.is_empty() && !ended { Place::Leading } else { Place::Argument }
        };
        filled.push(fill::fill(template, arguments, place)?);
        ended |= template.as_plain() == Some("--");
    }
    Ok(filled)
}

/// Whether arguments are there and say something.
pub(crate) fn are_given(names: &[Arc<str>], arguments: &Value) -> bool {
    names.iter().all(|name| match arguments.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    })
}

pub(crate) fn no_template() -> Refusal {
    Refusal("none of the templates is for these arguments".to_owned())
}

/// The name by which people and tests speak of it: that of its backend.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.backend.name)
    }
}

impl Command {
    /// What people recognise it by: the beginning of its template.
    pub fn label(&self) -> &Arc<str> {
        &self.label
    }

    /// What the author wrote of it besides its backend: two versions that have the same send the
    /// same for the same arguments, and read the answer in the same way.
    pub fn written(&self) -> &Value {
        &self.written
    }
}

/// Commands are told apart by where they go and what they are recognised by.
impl PartialEq for Command {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Command {}

impl PartialOrd for Command {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Command {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.backend.name, &self.label).cmp(&(&other.backend.name, &other.label))
    }
}

impl BackendKind {
    /// The word for it in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::EdgeLake { .. } => "edgelake",
            Self::Process { .. } => "process",
            Self::Http { .. } => "http",
            Self::Sqlite { .. } => "sqlite",
            Self::Postgres { .. } => "postgres",
        }
    }
}

/// Addresses and headers may hold secrets and are not shown.
impl fmt::Debug for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
