//! Commands for EdgeLake nodes.

use mcpgraph_diagnostics::codes;

use super::Compiler;
use crate::command::Plan;
use crate::edgelake::{Choice, EdgeLakeText};
use crate::template::{Piece, Template};

impl Compiler<'_, '_> {
    pub(super) fn edgelake(&mut self) -> Option<Plan> {
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
            if template.open_quotes().last().is_some_and(Option::is_some) {
                let message = "a quote in the template is not closed";
                self.error(codes::TEMPLATE_SYNTAX, text.span(), message, "");
                continue;
            }
            match Choice::new(needs, template, is_sql, &rules) {
                Ok(choice) => choices.push(choice),
                Err(refusal) => {
                    self.error(codes::STATEMENT_REFUSED, text.span(), refusal.to_string(), "");
                }
            }
        }
        Some(Plan::EdgeLake { text: EdgeLakeText::Templates(choices, rules), destination })
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
