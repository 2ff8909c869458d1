//! From what a file says to a command, with everything that is wrong about it.

use std::ops::Range;
use std::sync::Arc;

use mcpgraph_config::model::{self, BackendDef, CommandDef, FilterValue, ResponseDef};
use mcpgraph_config::{Json, Text};
use mcpgraph_diagnostics::{Code, Diagnostic, Source, Span, codes};
use mcpgraph_expr::{Filter, JsonPath, Pipeline, Wanted};
use mcpgraph_value::Value;
use url::Url;

use crate::command::{
    BodyPlan, Choice, EdgeLakeText, JsonTemplate, Plan, SqlPlan, check_edgelake_sql,
};
use crate::sql::{BuiltRules, Dialect, Rules, SqlTemplate};
use crate::template::{Piece, Template};
use crate::url_template::{UrlProblem, UrlTemplate};
use crate::{Backend, BackendKind, Command, Output};

/// How much of a template people recognise it by.
const LABEL: usize = 60;

/// Compiles a command for its backend; none if something about it is wrong, which is then said.
///
/// `arguments` are the names that its placeholders may use, where they are known.
pub fn compile(
    def: &CommandDef,
    backend: &BackendDef,
    arguments: Option<&[&str]>,
    source: &Arc<Source>,
    found: &mut Vec<Diagnostic>,
) -> Option<Command> {
    let mut compiler = Compiler { def, arguments, source, found };
    let before = compiler.found.len();
    let kind = compiler.backend(backend);
    let kind = kind?;
    compiler.check_keys(&kind);
    let plan = compiler.plan(&kind, backend);
    let response = def.response.as_ref().map(|response| compiler.response(response));
    let is_wrong = compiler.found[before..].iter().any(Diagnostic::is_error);
    if is_wrong {
        return None;
    }
    Some(Command {
        label: label(def),
        plan: plan?,
        response: response.map_or(Some(None), |response| response.map(Some))?,
        output: match def.output.map(|word| word.value) {
            Some("json") => Output::Json,
            Some("text") => Output::Text,
            _ => Output::Auto,
        },
        max_output_bytes: usize::try_from(def.max_output_bytes).unwrap_or(usize::MAX),
        backend: Arc::new(Backend { name: backend.name.to_arc(), kind }),
    })
}

fn label(def: &CommandDef) -> Arc<str> {
    let argv =
        def.argv.as_ref().map(|argv| argv.iter().map(Text::as_str).collect::<Vec<_>>().join(" "));
    let text = def.template.as_ref().or(def.url.as_ref()).map(|text| text.as_str().to_owned());
    let text = text.or(argv).unwrap_or_else(|| "sql".to_owned());
    text.chars().take(LABEL).collect::<String>().into()
}

/// A template, where it is written, and the arguments by which it is chosen.
type ChosenBy = (Vec<Arc<str>>, Text, Template);

struct Compiler<'a, 'f> {
    def: &'a CommandDef,
    arguments: Option<&'a [&'a str]>,
    source: &'a Arc<Source>,
    found: &'f mut Vec<Diagnostic>,
}

impl Compiler<'_, '_> {
    fn backend(&mut self, backend: &BackendDef) -> Option<BackendKind> {
        let pairs = |list: &[(Text, model::Expanded)]| {
            list.iter().map(|(key, value)| (key.to_string(), value.value.clone())).collect()
        };
        Some(match &backend.kind {
            model::BackendKind::EdgeLake { url } => {
                self.check_url(&url.value, url.span);
                BackendKind::EdgeLake { url: url.value.clone() }
            }
            model::BackendKind::Process { cwd, env } => BackendKind::Process {
                cwd: cwd.as_ref().map(|cwd| cwd.value.clone().into()),
                env: pairs(env),
            },
            model::BackendKind::Http { headers, allow_hosts, .. } => BackendKind::Http {
                headers: pairs(headers),
                allow_hosts: allow_hosts.iter().map(ToString::to_string).collect(),
            },
            model::BackendKind::Sqlite { path, write } => {
                BackendKind::Sqlite { path: path.value.clone().into(), write: *write }
            }
            model::BackendKind::Postgres { url, write } => {
                BackendKind::Postgres { url: url.value.clone(), write: *write }
            }
            // What is wrong with it has been said when the file was read.
            model::BackendKind::Invalid => return None,
        })
    }

    fn check_url(&mut self, text: &str, span: Span) {
        let is_url = Url::parse(text)
            .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
        // What an unset variable left behind has been reported already.
        if !is_url && !text.is_empty() {
            let message = "the `url` of a backend needs http:// or https:// and a host";
            self.error(codes::BACKEND_UNCLEAR, span, message, "");
        }
    }

    /// A key that means nothing for the backend was meant for another one.
    fn check_keys(&mut self, kind: &BackendKind) {
        let def = self.def;
        let of = |text: &Option<Text>| text.as_ref().map(Text::span);
        let first = |list: &[(Text, Text)]| list.first().map(|(key, _)| key.span());
        let written = [
            ("type", def.kind.map(|word| word.span), "edgelake"),
            ("template", of(&def.template), "edgelake sqlite postgres"),
            ("conditional_template", first(&def.conditional), "edgelake sqlite postgres"),
            ("build_sql", def.build_sql.then_some(def.span), "edgelake sqlite postgres"),
            ("headers", first(&def.headers), "edgelake http"),
            ("argv", def.argv.as_ref().map(|_| def.span), "process"),
            ("stdin", of(&def.stdin), "process"),
            ("success_codes", (!def.success_codes.is_empty()).then_some(def.span), "process"),
            ("url", of(&def.url), "http"),
            ("json", def.json.as_ref().map(Json::span), "http"),
            ("form", first(&def.form), "http"),
        ];
        for (key, span, kinds) in written {
            if let Some(span) = span
                && !kinds.split(' ').any(|name| name == kind.name())
            {
                let kinds = kinds.replace(' ', "`, `");
                let message =
                    format!("`{key}` has no meaning for a backend of kind `{}`", kind.name());
                self.error(codes::COMMAND_UNCLEAR, span, message, format!("it is for `{kinds}`"));
            }
        }
    }

    fn plan(&mut self, kind: &BackendKind, backend: &BackendDef) -> Option<Plan> {
        match kind {
            BackendKind::EdgeLake { .. } => self.edgelake(),
            BackendKind::Process { .. } => self.process(),
            BackendKind::Http { .. } => self.http(backend),
            BackendKind::Sqlite { write, .. } => self.sql(Dialect::Sqlite, *write),
            BackendKind::Postgres { write, .. } => self.sql(Dialect::Postgres, *write),
        }
    }

    fn rules(&self, write: bool) -> Rules {
        let functions = self.def.allow.functions.iter().map(ToString::to_string).collect();
        let built = BuiltRules { subqueries: self.def.allow.subqueries, functions };
        let is_built = self.def.build_sql;
        Rules {
            write: write && !is_built,
            union: self.def.allow.union,
            built: is_built.then_some(built),
        }
    }

    fn edgelake(&mut self) -> Option<Plan> {
        let mut destination = None;
        for (name, value) in &self.def.headers {
            if name.eq_ignore_ascii_case("destination") {
                destination = Some(value.to_string());
            } else {
                let message = format!("`{name}` is not a header that commands can set");
                self.error(codes::COMMAND_UNCLEAR, name.span(), message, "`destination` is");
            }
        }
        let rules = self.rules(false);
        if self.def.build_sql {
            return Some(Plan::EdgeLake { text: EdgeLakeText::Built(rules), destination });
        }
        let is_sql = self.def.kind.is_some_and(|kind| kind.value == "sql");
        let mut choices = Vec::new();
        for (needs, text, mut template) in self.templates()? {
            if let Some(target) = strip_run_client(&mut template) {
                destination.get_or_insert(target);
            }
            if let Some(command) = template.as_plain()
                && (is_sql || command.to_ascii_lowercase().starts_with("sql "))
                && let Err(refusal) = check_edgelake_sql(command, &rules)
            {
                self.error(codes::STATEMENT_REFUSED, text.span(), refusal.to_string(), "");
            }
            if template.open_quotes().last().is_some_and(Option::is_some) {
                let message = "a quote in the template is not closed";
                self.error(codes::TEMPLATE_SYNTAX, text.span(), message, "");
            }
            choices.push(Choice { needs, template });
        }
        Some(Plan::EdgeLake {
            text: EdgeLakeText::Templates { choices, is_sql, rules },
            destination,
        })
    }

    fn process(&mut self) -> Option<Plan> {
        let argv = match &self.def.argv {
            Some(argv) if !argv.is_empty() => argv,
            _ => {
                self.error(
                    codes::COMMAND_UNCLEAR,
                    self.def.span,
                    "a command for programs needs `argv`, the program and its arguments",
                    "write `argv: [git, log, \"{branch}\"]`",
                );
                return None;
            }
        };
        let templates: Vec<Option<Template>> =
            argv.iter().map(|text| self.template(text)).collect();
        let argv_templates = templates.into_iter().collect::<Option<Vec<_>>>();
        let stdin = self.def.stdin.as_ref().map(|text| self.template(text));
        let argv_templates = argv_templates?;
        if let Some(hole) = argv_templates.first().and_then(|first| first.holes().next()) {
            self.misplaced(
                &argv[0],
                hole.range.clone(),
                "the program itself cannot be an argument",
            );
        }
        let success_codes = match self.def.success_codes.as_slice() {
            [] => vec![0],
            codes => codes.iter().map(|code| i32::try_from(*code).unwrap_or(i32::MAX)).collect(),
        };
        let stdin = stdin.map_or(Some(None), |template| template.map(Some))?;
        Some(Plan::Process { argv: argv_templates, stdin, success_codes })
    }

    fn http(&mut self, backend: &BackendDef) -> Option<Plan> {
        let model::BackendKind::Http { url: base, .. } = &backend.kind else { return None };
        let Some(text) = &self.def.url else {
            self.error(
                codes::COMMAND_UNCLEAR,
                self.def.span,
                "a command for HTTP needs a `url`",
                "write `url: \"/items/{id}\"`, relative to the backend's, or a whole one",
            );
            return None;
        };
        let template = self.template(text)?;
        let base = base.as_ref().map(|url| url.value.as_str());
        let url = match UrlTemplate::new(base, template) {
            Ok(url) => Some(url),
            Err(UrlProblem::InHost(hole)) => {
                self.misplaced(text, hole.range, "the host cannot be an argument");
                None
            }
            Err(UrlProblem::Incomplete) => {
                let message = "the URL is not whole, and the backend has none it could follow";
                self.error(codes::COMMAND_UNCLEAR, text.span(), message, "begin it with https://");
                None
            }
            Err(UrlProblem::Invalid(why)) => {
                let message = format!("this is no URL that can be asked: {why}");
                self.error(codes::COMMAND_UNCLEAR, text.span(), message, "");
                None
            }
        };
        let headers = self.pairs(&self.def.headers);
        let form = self.pairs(&self.def.form);
        let json = self.def.json.as_ref().map(|json| self.json(json.value(), json, ""));
        if self.def.json.is_some() && !self.def.form.is_empty() {
            let message = "a request has one body: `json` or `form`";
            self.error(codes::COMMAND_UNCLEAR, self.def.span, message, "");
        }
        let body = match (json, form?) {
            (Some(json), _) => Some(BodyPlan::Json(json?)),
            (None, form) if form.is_empty() => None,
            (None, form) => Some(BodyPlan::Form(form)),
        };
        let default = if body.is_some() { "POST" } else { "GET" };
        let method = self
            .def
            .method
            .as_ref()
            .map_or(default.to_owned(), |method| method.to_ascii_uppercase());
        let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];
        if let Some(word) = &self.def.method
            && !known.contains(&method.as_str())
        {
            let message = format!("`{word}` is not an HTTP method");
            self.error(
                codes::UNKNOWN_WORD,
                word.span(),
                message,
                format!("known are {}", known.join(", ")),
            );
        }
        Some(Plan::Http { method, url: url?, headers: headers?, body })
    }

    fn sql(&mut self, dialect: Dialect, write: bool) -> Option<Plan> {
        let rules = self.rules(write);
        if self.def.build_sql {
            return Some(Plan::Sql(SqlPlan::Built(dialect, rules)));
        }
        let mut choices = Vec::new();
        for (needs, text, template) in self.templates()? {
            match SqlTemplate::new(template, dialect, rules.clone()) {
                Ok(template) => choices.push((needs, template)),
                Err((error, Some(hole))) => {
                    self.misplaced(&text, hole.range, &format!("{error}; remove the quotes"));
                }
                Err((error, None)) => {
                    let hint =
                        if write { "" } else { "`write: true` on the backend allows changes" };
                    self.error(codes::STATEMENT_REFUSED, text.span(), error.to_string(), hint);
                }
            }
        }
        Some(Plan::Sql(SqlPlan::Templates(choices)))
    }

    /// All templates in the order they are tried, each with the arguments it needs.
    fn templates(&mut self) -> Option<Vec<ChosenBy>> {
        let mut full = Vec::new();
        let mut with = Vec::new();
        let mut is_wrong = false;
        for (key, text) in &self.def.conditional {
            let template = self.template(text);
            is_wrong |= template.is_none();
            let Some(template) = template else { continue };
            if key == "full" {
                let needs = template.holes().map(|hole| Arc::clone(&hole.name)).collect();
                full.push((needs, text.clone(), template));
            } else if let Some(argument) = key.strip_prefix("with_") {
                with.push((vec![Arc::from(argument)], text.clone(), template));
            } else {
                is_wrong = true;
                let message = format!("`{key}` says for no arguments when it is taken");
                let hint = "keys of `conditional_template` are `full` and `with_<argument>`";
                self.error(codes::COMMAND_UNCLEAR, key.span(), message, hint);
            }
        }
        if let Some(text) = &self.def.template {
            let template = self.template(text);
            is_wrong |= template.is_none();
            with.extend(template.map(|template| (Vec::new(), text.clone(), template)));
        } else if self.def.conditional.is_empty() {
            is_wrong = true;
            self.error(
                codes::COMMAND_UNCLEAR,
                self.def.span,
                "the command says nothing",
                "give it a `template`, or `build_sql: true`",
            );
        }
        full.extend(with);
        (!is_wrong).then_some(full)
    }

    fn template(&mut self, text: &Text) -> Option<Template> {
        let template = match Template::parse(text) {
            Ok(template) => template,
            Err(error) => {
                let span = text.locate(self.source, error.range);
                self.error(codes::TEMPLATE_SYNTAX, span, error.message, "");
                return None;
            }
        };
        if let Some(known) = self.arguments {
            for hole in template.holes().filter(|hole| !known.contains(&&*hole.name)) {
                let span = text.locate(self.source, hole.range.clone());
                let message = format!("there is no argument `{}`", hole.name);
                let nearest =
                    mcpgraph_diagnostics::suggest::did_you_mean(&hole.name, known.iter().copied());
                let hint = nearest
                    .unwrap_or_else(|| "add it to the properties of the input schema".to_owned());
                self.error(codes::PLACEHOLDER_UNKNOWN, span, message, hint);
            }
        }
        Some(template)
    }

    fn pairs(&mut self, list: &[(Text, Text)]) -> Option<Vec<(String, Template)>> {
        let pairs: Vec<Option<_>> = list
            .iter()
            .map(|(name, text)| Some((name.to_string(), self.template(text)?)))
            .collect();
        pairs.into_iter().collect()
    }

    fn json(&mut self, value: &Value, whole: &Json, pointer: &str) -> Option<JsonTemplate> {
        Some(match value {
            Value::String(written) => {
                let template = match whole.text_at(pointer) {
                    Some(text) => self.template(&text.clone())?,
                    None => Template::parse(written).ok()?,
                };
                match template.as_plain() {
                    Some(plain) => JsonTemplate::Literal(Value::from(plain)),
                    None => JsonTemplate::Text(template),
                }
            }
            Value::Array(items) => {
                let items: Vec<Option<_>> = items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| self.json(item, whole, &format!("{pointer}/{index}")))
                    .collect();
                JsonTemplate::Array(items.into_iter().collect::<Option<_>>()?)
            }
            Value::Object(members) => {
                let members: Vec<Option<_>> = members
                    .iter()
                    .map(|(key, member)| {
                        let escaped = key.replace('~', "~0").replace('/', "~1");
                        let member = self.json(member, whole, &format!("{pointer}/{escaped}"))?;
                        Some((Arc::clone(key), member))
                    })
                    .collect();
                JsonTemplate::Object(members.into_iter().collect::<Option<_>>()?)
            }
            other => JsonTemplate::Literal(other.clone()),
        })
    }

    fn response(&mut self, def: &ResponseDef) -> Option<Pipeline> {
        let path = match JsonPath::compile(&def.path) {
            Ok(path) => path,
            Err(error) => {
                let span = match error.position {
                    Some(at) => def.path.locate(self.source, at..at + 1),
                    None => def.path.span(),
                };
                let hint = "`extract_path` is a JSONPath query, such as `$[*].name`";
                self.error(codes::RESPONSE_PATH, span, error.to_string(), hint);
                return None;
            }
        };
        let filter = def.filter.as_ref().map(|filter| Filter {
            field: filter.field.to_arc(),
            equals: match &filter.equals {
                FilterValue::Argument(name) => Wanted::Argument(name.to_arc()),
                FilterValue::Literal(value) => Wanted::Literal(value.value().clone()),
            },
        });
        if let Some(known) = self.arguments
            && let Some(model::FilterDef { equals: FilterValue::Argument(name), .. }) = &def.filter
            && !known.contains(&name.as_str())
        {
            let message = format!("there is no argument `{name}` to compare with");
            let hint = "add it to the properties of the input schema";
            self.error(codes::PLACEHOLDER_UNKNOWN, name.span(), message, hint);
        }
        let map = def.map.as_ref().map(Text::to_arc);
        Some(Pipeline { path, filter, map, unique: def.unique, sort: def.sort })
    }

    fn misplaced(&mut self, text: &Text, range: Range<usize>, message: &str) {
        let span = text.locate(self.source, range);
        self.error(codes::PLACEHOLDER_MISPLACED, span, message, "");
    }

    fn error(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let hint: String = hint.into();
        let diagnostic = Diagnostic::error(code, message).at(self.source, span, "");
        self.found.push(diagnostic.maybe_hint((!hint.is_empty()).then_some(hint)));
    }
}

/// Takes `run client (…)` off the beginning of a command: a node refuses it over HTTP, and what it
/// means is said by the header `destination`.
fn strip_run_client(template: &mut Template) -> Option<String> {
    let Piece::Text(text) = template.pieces.first_mut()? else { return None };
    let rest = text.trim_start();
    let lower = rest.to_ascii_lowercase();
    if !lower.starts_with("run client") {
        return None;
    }
    let (_, behind) = rest.split_once('(')?;
    let (inside, after) = behind.split_once(')')?;
    let inside = inside.trim();
    let target = if inside.is_empty() { "network".to_owned() } else { inside.to_owned() };
    *text = after.trim_start().to_owned();
    Some(target)
}
