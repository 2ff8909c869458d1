//! `ask` nodes: where they lead, and whether a person can give the answer they want.

use std::sync::Arc;

use mcpgraph_config::Json;
use mcpgraph_config::model::{Ask as AskDef, NodeDef};
use mcpgraph_diagnostics::{Diagnostic, codes};
use mcpgraph_value::Value;

use super::body::{Compiler, Place};
use super::compile_schema;
use super::report::Report;
use crate::{Ask, Kind, Target, Template};

impl<'a> Compiler<'a, '_> {
    pub(super) fn ask(
        &mut self,
        def: &'a NodeDef,
        ask: &'a AskDef,
        place: &Place<'a>,
    ) -> Option<Kind> {
        let message = self.template(&ask.message, place.names());
        let mut edge = |target: &Option<_>, key| match target {
            Some(id) => self.edge(id, key, place).map(Some),
            None => Some(None),
        };
        let on_decline = edge(&ask.on_decline, "onDecline");
        let on_timeout = edge(&ask.on_timeout, "onTimeout");
        let schema = match &ask.schema {
            Some(json) => answer_schema(json, self.report()),
            None => Some(Ask::plain_schema()),
        };
        let ask = Ask {
            node: def.id.to_arc(),
            schema: schema?,
            on_decline: on_decline?,
            on_timeout: on_timeout?,
        };
        let args = match message? {
            Template::Literal(text) => {
                let literal = mcpgraph_value::Map::from_iter([(Ask::MESSAGE, text)]);
                Template::Literal(literal.into())
            }
            message => Template::Object(vec![(Ask::MESSAGE.into(), message)]),
        };
        Some(Kind::Call { target: Target::Ask(Arc::new(ask)), args })
    }
}

/// The schema of an answer, if a form can be made of it: clients show one field for each property.
fn answer_schema(json: &Json, report: &mut Report) -> Option<Value> {
    let schema = compile_schema(json, "schema of the answer", report);
    let root = json.value();
    let mut wrong = Vec::new();
    if root.get("type").and_then(Value::as_str) != Some("object") {
        let at = if root.get("type").is_some() { "/type" } else { "" };
        wrong.push((at.to_owned(), "an answer is an object: write `type: object`".to_owned()));
    }
    if let Some(Value::Object(properties)) = root.get("properties") {
        for (name, property) in properties.iter() {
            if !is_field(property) {
                let escaped = name.replace('~', "~0").replace('/', "~1");
                wrong.push((
                    format!("/properties/{escaped}"),
                    format!("`{name}` is nothing that a person can fill in"),
                ));
            }
        }
    }
    for (pointer, message) in &wrong {
        report.push(
            Diagnostic::error(codes::ANSWER_SCHEMA, message.clone())
                .at(report.source(), json.span_at(pointer), "")
                .hint(
                    "a property of an answer is a string, number, integer or boolean, a choice \
                     (`enum`, or `oneOf` with `const`), or an array of choices",
                ),
        );
    }
    (schema.is_some() && wrong.is_empty()).then(|| root.clone())
}

/// Whether a property is one field of a form.
fn is_field(property: &Value) -> bool {
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "number" | "integer" | "boolean") => true,
        Some("array") => property.get("items").is_some_and(is_choice),
        Some(_) => false,
        None => is_choice(property),
    }
}

/// Whether a schema lists what may be chosen.
fn is_choice(schema: &Value) -> bool {
    let is_constant = |item: &Value| item.get("const").and_then(Value::as_str).is_some();
    let constants = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
    let is_list = schema
        .get("enum")
        .and_then(Value::as_array)
        .is_some_and(|words| words.iter().all(|word| word.as_str().is_some()));
    is_list || constants.into_iter().any(|items| items.iter().all(is_constant))
}
