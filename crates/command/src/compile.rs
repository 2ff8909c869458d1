//! From what a file says to a command, with everything that is wrong about it.

mod database;
mod edgelake;
mod http;
mod program;
mod response;
mod templates;
mod written;

use std::ops::Range;
use std::sync::Arc;

use mcpgraph_config::model::{self, BackendDef, CommandDef};
use mcpgraph_config::{Json, Text};
use mcpgraph_diagnostics::{Code, Diagnostic, Secrets, Source, Span, codes};
use url::Url;

use crate::command::Plan;
use crate::sql::{BuiltRules, Dialect, Rules};
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
        written: written::written(def),
        plan: plan?,
        response: response.map_or(Some(None), |response| response.map(Some))?,
        output: match def.output.map(|word| word.value) {
            Some("json") => Output::Json,
            Some("text") => Output::Text,
            _ => Output::Auto,
        },
        max_output_bytes: usize::try_from(def.max_output_bytes).unwrap_or(usize::MAX),
        backend: Arc::new(Backend {
            name: backend.name.to_arc(),
            kind,
            secrets: Secrets::new(backend.masked()),
        }),
    })
}

fn label(def: &CommandDef) -> Arc<str> {
    let argv =
        def.argv.as_ref().map(|argv| argv.iter().map(Text::as_str).collect::<Vec<_>>().join(" "));
    let conditional = def.conditional.first().map(|(_, text)| text);
    let text = def.template.as_ref().or(conditional).or(def.url.as_ref());
    let text = text.map(|text| text.as_str().to_owned());
    let text = text.or(argv).unwrap_or_else(|| "sql".to_owned());
    text.chars().take(LABEL).collect::<String>().into()
}

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
