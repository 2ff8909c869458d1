//! Texts with placeholders: read, and held against the arguments there are.

use std::sync::Arc;

use mcpgraph_config::Text;
use mcpgraph_diagnostics::{codes, suggest};

use super::Compiler;
use crate::template::Template;

/// A template, where it is written, and the arguments by which it is chosen.
pub(super) type ChosenBy = (Vec<Arc<str>>, Text, Template);

impl Compiler<'_, '_> {
    /// All templates in the order they are tried, each with the arguments it needs.
    pub(super) fn templates(&mut self) -> Option<Vec<ChosenBy>> {
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

    pub(super) fn template(&mut self, text: &Text) -> Option<Template> {
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
                let nearest = suggest::did_you_mean(&hole.name, known.iter().copied());
                let hint = nearest
                    .unwrap_or_else(|| "add it to the properties of the input schema".to_owned());
                self.error(codes::PLACEHOLDER_UNKNOWN, span, message, hint);
            }
        }
        Some(template)
    }

    pub(super) fn pairs(&mut self, list: &[(Text, Text)]) -> Option<Vec<(String, Template)>> {
        let pairs: Vec<Option<_>> = list
            .iter()
            .map(|(name, text)| Some((name.to_string(), self.template(text)?)))
            .collect();
        pairs.into_iter().collect()
    }
}
