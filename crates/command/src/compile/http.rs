//! Commands for HTTP services.

use std::sync::Arc;

use mcpgraph_config::Json;
use mcpgraph_config::model::{self, BackendDef};
use mcpgraph_diagnostics::codes;
use mcpgraph_value::Value;

use super::Compiler;
use crate::body::{BodyPlan, JsonTemplate};
use crate::command::Plan;
use crate::template::Template;
use crate::url_template::{UrlProblem, UrlTemplate};

impl Compiler<'_, '_> {
    pub(super) fn http(&mut self, backend: &BackendDef) -> Option<Plan> {
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
}
