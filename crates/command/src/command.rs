use std::cmp::Ordering;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use mcpgraph_expr::Pipeline;
use mcpgraph_value::{Map, Value};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};

use crate::answer::{clean, find_json};
use crate::fill::{self, Place, Refusal};
use crate::sql::{Built, Dialect, Rules, SqlTemplate, build, check};
use crate::template::{HoleKind, Piece, Template};
use crate::url_template::UrlTemplate;
use crate::{Answer, Body, Request};

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
    pub(crate) plan: Plan,
}

/// Where commands are carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backend {
    /// The name in the file.
    pub name: Arc<str>,
    /// What it is.
    pub kind: BackendKind,
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
    /// As JSON if there is any, else as text.
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
pub(crate) enum EdgeLakeText {
    /// Templates, the first whose condition holds.
    Templates { choices: Vec<Choice>, is_sql: bool, rules: Rules },
    /// A SELECT built from the arguments.
    Built(Rules),
}

/// A template and the arguments that have to be there for it.
#[derive(Debug)]
pub(crate) struct Choice {
    pub(crate) needs: Vec<Arc<str>>,
    pub(crate) template: Template,
}

#[derive(Debug)]
pub(crate) enum SqlPlan {
    Templates(Vec<(Vec<Arc<str>>, SqlTemplate)>),
    Built(Dialect, Rules),
}

#[derive(Debug)]
pub(crate) enum BodyPlan {
    Json(JsonTemplate),
    Form(Vec<(String, Template)>),
}

/// JSON in whose texts values stand.
#[derive(Debug)]
pub(crate) enum JsonTemplate {
    Literal(Value),
    Text(Template),
    Array(Vec<JsonTemplate>),
    Object(Vec<(Arc<str>, JsonTemplate)>),
}

impl Command {
    /// What is to be sent for these arguments.
    pub fn request(&self, arguments: &Value) -> Result<Request, Refusal> {
        match &self.plan {
            Plan::EdgeLake { text, destination } => {
                let command = edgelake(text, arguments)?;
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
                        Ok((name.clone(), fill::fill(value, arguments, |_| Place::Header)?))
                    })
                    .collect::<Result<_, Refusal>>()?,
                body: body.as_ref().map(|body| body.fill(arguments)).transpose()?,
            }),
            Plan::Sql(SqlPlan::Built(dialect, rules)) => {
                let Built { statement, .. } = build(arguments, *dialect, rules)?;
                Ok(Request::Sql { statement, parameters: Vec::new(), gives_rows: true })
            }
            Plan::Sql(SqlPlan::Templates(choices)) => {
                let (_, template) = choices
                    .iter()
                    .find(|(needs, _)| are_given(needs, arguments))
                    .ok_or_else(no_template)?;
                let bound = template.bind(arguments)?;
                Ok(Request::Sql {
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
            return Err(AnswerError(format!(
                "`response_parser` needs JSON, and the answer is text: {shown}"
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
        let found = if is_printed {
            find_json(&text, self.wants_array())
        } else {
            Value::from_json(text.trim()).ok()
        };
        match (found, self.output) {
            (Some(value), _) => Ok(value),
            (None, Output::Json) => Err(AnswerError("there is no JSON in the answer".to_owned())),
            (None, _) => Ok(Value::from(if is_printed { clean(&text) } else { text })),
        }
    }

    /// Whether a list is what is looked for in the answer: policies of the blockchain are one, and
    /// a query that begins with an index says so.
    fn wants_array(&self) -> bool {
        let by_path =
            self.response.as_ref().is_some_and(|response| response.path.source().starts_with("$["));
        by_path || self.label.starts_with("blockchain")
    }
}

fn edgelake(text: &EdgeLakeText, arguments: &Value) -> Result<String, Refusal> {
    let (choices, is_sql, rules) = match text {
        EdgeLakeText::Built(rules) => return built_for_edgelake(arguments, rules),
        EdgeLakeText::Templates { choices, is_sql, rules } => (choices, is_sql, rules),
    };
    let choice = choices
        .iter()
        .find(|choice| are_given(&choice.needs, arguments))
        .ok_or_else(no_template)?;
    let quotes = choice.template.open_quotes();
    let place = |index: usize| match quotes.get(index) {
        Some(Some(_)) => Place::Quoted,
        _ => Place::Word,
    };
    let command = fill::fill(&choice.template, arguments, place)?;
    let lower = command.trim_start().to_ascii_lowercase();
    if lower.starts_with("run client") {
        return Err(Refusal(
            "`run client` is not sent to a node; `headers: {destination: network}` asks the network"
                .to_owned(),
        ));
    }
    if *is_sql || lower.starts_with("sql ") {
        check_edgelake_sql(&command, rules)?;
    }
    Ok(command)
}

/// The statement of an `sql` command stands in double quotes, and is one SELECT.
pub(crate) fn check_edgelake_sql(command: &str, rules: &Rules) -> Result<(), Refusal> {
    let inside = command.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
    let Some((statement, after)) = inside else {
        return Err(Refusal("an `sql` command needs its statement in double quotes".to_owned()));
    };
    if !after.trim().is_empty() || statement.contains('"') {
        return Err(Refusal("something stands behind the statement".to_owned()));
    }
    check(statement, Dialect::EdgeLake, rules)
        .map(drop)
        .map_err(|error| Refusal(format!("the statement is refused: {error}")))
}

fn built_for_edgelake(arguments: &Value, rules: &Rules) -> Result<String, Refusal> {
    let built = build(arguments, Dialect::EdgeLake, rules)?;
    let database = built.database.ok_or_else(|| {
        Refusal("the command needs the argument `database`, which is not given".to_owned())
    })?;
    let mut options = String::from("format = json");
    for (word, names) in [("include", &built.include), ("extend", &built.extend)] {
        if !names.is_empty() {
            options.extend([" and ", word, " = (", &names.join(", "), ")"]);
        }
    }
    Ok(format!("sql {database} {options} \"{}\"", built.statement))
}

/// The arguments of a program. After a `--` none is an option any more.
fn program(argv: &[Template], arguments: &Value) -> Result<Vec<String>, Refusal> {
    let mut ended = false;
    let mut filled = Vec::with_capacity(argv.len());
    for template in argv {
        let place = |index: usize| {
            if index == 0 && !ended { Place::Leading } else { Place::Argument }
        };
        filled.push(fill::fill(template, arguments, place)?);
        ended |= template.as_plain() == Some("--");
    }
    Ok(filled)
}

fn free(template: &Template, arguments: &Value) -> Result<String, Refusal> {
    fill::fill(template, arguments, |_| Place::Free)
}

/// Whether arguments are there and say something.
fn are_given(names: &[Arc<str>], arguments: &Value) -> bool {
    names.iter().all(|name| match arguments.get(name) {
        None | Some(Value::Null) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    })
}

fn no_template() -> Refusal {
    Refusal("none of the templates is for these arguments".to_owned())
}

impl BodyPlan {
    fn fill(&self, arguments: &Value) -> Result<Body, Refusal> {
        match self {
            Self::Json(json) => Ok(Body {
                media_type: "application/json",
                text: json.fill(arguments)?.unwrap_or_default().to_json(),
            }),
            Self::Form(members) => {
                let mut text = String::new();
                for (name, template) in members {
                    let value = free(template, arguments)?;
                    if !text.is_empty() {
                        text.push('&');
                    }
                    text.extend(utf8_percent_encode(name, NON_ALPHANUMERIC));
                    text.push('=');
                    text.extend(utf8_percent_encode(&value, NON_ALPHANUMERIC));
                }
                Ok(Body { media_type: "application/x-www-form-urlencoded", text })
            }
        }
    }
}

impl JsonTemplate {
    /// The value; none for a placeholder alone whose argument is not given, which leaves its
    /// member out.
    fn fill(&self, arguments: &Value) -> Result<Option<Value>, Refusal> {
        Ok(Some(match self {
            Self::Literal(value) => value.clone(),
            Self::Text(template) => match template.pieces.as_slice() {
                [Piece::Hole(hole)] if matches!(hole.kind, HoleKind::Plain | HoleKind::Raw) => {
                    return Ok(arguments.get(&hole.name).cloned());
                }
                _ => Value::from(free(template, arguments)?),
            },
            Self::Array(items) => items
                .iter()
                .map(|item| Ok(item.fill(arguments)?.unwrap_or_default()))
                .collect::<Result<Vec<_>, Refusal>>()?
                .into(),
            Self::Object(members) => {
                let mut map = Map::with_capacity(members.len());
                for (key, member) in members {
                    if let Some(value) = member.fill(arguments)? {
                        map.insert(Arc::clone(key), value);
                    }
                }
                map.into()
            }
        }))
    }
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
