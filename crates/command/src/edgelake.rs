//! Texts of commands for EdgeLake nodes.

use std::sync::Arc;

use mcpgraph_value::Value;
use sqlparser::ast::{Statement, visit_relations};

use crate::command::{are_given, no_template};
use crate::fill::{self, Place, Refusal};
use crate::sql::{Built, Dialect, Rules, build, check};
use crate::template::{Piece, Template};

#[derive(Debug)]
pub(crate) enum EdgeLakeText {
    /// Templates, the first whose condition holds.
    Templates(Vec<Choice>, Rules),
    /// A SELECT built from the arguments.
    Built(Rules),
}

/// A template and the arguments that have to be there for it.
#[derive(Debug)]
pub(crate) struct Choice {
    needs: Vec<Arc<str>>,
    template: Template,
    /// Where each piece of the template stands.
    places: Vec<Place>,
    is_sql: bool,
}

impl EdgeLakeText {
    /// The command for a call.
    pub(crate) fn fill(&self, arguments: &Value) -> Result<String, Refusal> {
        match self {
            Self::Built(rules) => built(arguments, rules),
            Self::Templates(choices, rules) => choices
                .iter()
                .find(|choice| are_given(&choice.needs, arguments))
                .ok_or_else(no_template)?
                .fill(arguments, rules),
        }
    }
}

impl Choice {
    /// A template, checked as far as it can be without arguments. That of an `sql` command is a
    /// statement, in which values are literals and names of tables names.
    pub(crate) fn new(
        needs: Vec<Arc<str>>,
        template: Template,
        is_sql: bool,
        rules: &Rules,
    ) -> Result<Self, Refusal> {
        let is_sql = is_sql
            || matches!(template.pieces.first(), Some(Piece::Text(text)) if begins_with_sql(text));
        let mut places = places(&template, is_sql);
        if is_sql && !template.has_raw() {
            let statement = statement_of(&sample(&template, &places), rules)?;
            for (index, place) in places.iter_mut().enumerate() {
                if names_a_table(&statement, &stand_in(index)) {
                    *place = Place::Name;
                }
            }
        }
        Ok(Self { needs, template, places, is_sql })
    }

    fn fill(&self, arguments: &Value, rules: &Rules) -> Result<String, Refusal> {
        let place = |index: usize, _: &str| self.places.get(index).copied().unwrap_or(Place::Word);
        let command = fill::fill(&self.template, arguments, place)?;
        if command.trim_start().to_ascii_lowercase().starts_with("run client") {
            return Err(Refusal(
                "`run client` is not sent to a node; `headers: {destination: network}` asks the \
                 network"
                    .to_owned(),
            ));
        }
        if self.is_sql || begins_with_sql(&command) {
            statement_of(&command, rules)?;
        }
        Ok(command)
    }
}

fn begins_with_sql(command: &str) -> bool {
    command.trim_start().to_ascii_lowercase().starts_with("sql ")
}

/// Where the pieces of a template stand: the statement of an `sql` command is in double quotes, and
/// has texts in single ones.
fn places(template: &Template, is_sql: bool) -> Vec<Place> {
    let mut quote: Option<char> = None;
    let mut is_text = false;
    let after = template.pieces.iter().map(|piece| {
        if let Piece::Text(text) = piece {
            for c in text.chars() {
                match (quote, c) {
                    (None, '"' | '\'') => quote = Some(c),
                    (Some('"'), '\'') if is_sql => is_text = !is_text,
                    (Some(open), _) if open == c => (quote, is_text) = (None, false),
                    _ => {}
                }
            }
        }
        match quote {
            None => Place::Word,
            Some('"') if is_sql && !is_text => Place::Literal,
            Some(_) => Place::Quoted,
        }
    });
    after.collect()
}

/// The command with a name in the place of every value.
fn sample(template: &Template, places: &[Place]) -> String {
    let mut sample = String::new();
    for (index, (piece, place)) in template.pieces.iter().zip(places).enumerate() {
        match (piece, place) {
            (Piece::Text(text), _) => sample.push_str(text),
            (Piece::Hole(_), Place::Literal) => sample.push_str(&stand_in(index)),
            (Piece::Hole(_), _) => sample.push('x'),
        }
    }
    sample
}

fn stand_in(index: usize) -> String {
    format!("placeholder_{index}_of_the_template")
}

fn names_a_table(statement: &Statement, name: &str) -> bool {
    visit_relations(statement, |relation| {
        let is_named =
            relation.0.iter().any(|part| part.as_ident().is_some_and(|ident| ident.value == name));
        if is_named {
            std::ops::ControlFlow::Break(())
        } else {
            std::ops::ControlFlow::Continue(())
        }
    })
    .is_break()
}

/// The statement of an `sql` command: it stands in double quotes at the end, and is one SELECT.
fn statement_of(command: &str, rules: &Rules) -> Result<Statement, Refusal> {
    let inside = command.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
    let Some((statement, after)) = inside else {
        return Err(Refusal("an `sql` command needs its statement in double quotes".to_owned()));
    };
    if !after.trim().is_empty() || statement.contains('"') {
        return Err(Refusal("something stands behind the statement".to_owned()));
    }
    check(statement, Dialect::EdgeLake, rules)
        .map_err(|error| Refusal(format!("the statement is refused: {error}")))
}

fn built(arguments: &Value, rules: &Rules) -> Result<String, Refusal> {
    let Built { database, statement, include, extend } =
        build(arguments, Dialect::EdgeLake, rules)?;
    let database = database.ok_or_else(|| {
        Refusal("the command needs the argument `database`, which is not given".to_owned())
    })?;
    let mut options = String::from("format = json");
    for (word, names) in [("include", &include), ("extend", &extend)] {
        if !names.is_empty() {
            options.extend([" and ", word, " = (", &names.join(", "), ")"]);
        }
    }
    Ok(format!("sql {database} {options} \"{statement}\""))
}
