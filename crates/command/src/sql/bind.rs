//! Statements an author wrote, in which arguments are parameters.

use mcpgraph_value::Value;
use sqlparser::ast::{Query, SetExpr, Statement};

use super::Dialect;
use super::check::{Rules, StatementError, check};
use super::words::tokens;
use crate::fill::{Refusal, argument, identifier, no_control_characters, refused, wrong_type};
use crate::template::{Hole, HoleKind, Piece, Template};

/// How many values one statement binds at most.
const MAX_PARAMETERS: usize = 1000;

/// A statement with placeholders.
#[derive(Clone, Debug)]
pub(crate) struct SqlTemplate {
    template: Template,
    dialect: Dialect,
    rules: Rules,
}

/// A statement and what is bound to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    /// The `WITH` clause, if it has to stay at the beginning of whatever is sent.
    pub(crate) lead: String,
    pub(crate) statement: String,
    pub(crate) parameters: Vec<Value>,
    pub(crate) gives_rows: bool,
}

impl SqlTemplate {
    /// A statement, checked as far as it can be without arguments. The error of a placeholder that
    /// stands in quotes comes with it.
    pub(crate) fn new(
        template: Template,
        dialect: Dialect,
        rules: Rules,
    ) -> Result<Self, (StatementError, Option<Hole>)> {
        if let Some(hole) = quoted_hole(&template) {
            let message = format!("{hole} stands in quotes, where it would be text");
            return Err((StatementError::new(message), Some(hole)));
        }
        let read = Self { template, dialect, rules };
        if !read.template.has_raw() {
            let mut sample = String::new();
            for piece in &read.template.pieces {
                match piece {
                    Piece::Text(text) => sample.push_str(text),
                    Piece::Hole(hole) if hole.kind == HoleKind::Identifier => {
                        sample.push_str("\"x\"");
                    }
                    Piece::Hole(_) => sample.push_str(&dialect.parameter(1)),
                }
            }
            check(&sample, dialect, &read.rules).map_err(|error| (error, None))?;
        }
        Ok(read)
    }

    /// The statement for a call.
    pub(crate) fn bind(&self, arguments: &Value) -> Result<Bound, Refusal> {
        let mut statement = String::new();
        let mut parameters = Vec::new();
        for piece in &self.template.pieces {
            let hole = match piece {
                Piece::Text(text) => {
                    statement.push_str(text);
                    continue;
                }
                Piece::Hole(hole) => hole,
            };
            match hole.kind {
                HoleKind::Identifier => {
                    let value = argument(hole, arguments)?;
                    let Value::String(name) = value else {
                        return Err(wrong_type(hole, "a text", value));
                    };
                    identifier(hole, name)?;
                    statement.extend(["\"", name, "\""]);
                }
                HoleKind::Raw => {
                    let value = argument(hole, arguments)?;
                    let Value::String(text) = value else {
                        return Err(wrong_type(hole, "a text", value));
                    };
                    no_control_characters(hole, text)?;
                    tokens(text, self.dialect).map_err(|error| {
                        refused(hole, format!("is refused: {}", error.in_text(text)))
                    })?;
                    statement.push_str(text);
                }
                HoleKind::Plain | HoleKind::Number | HoleKind::Text => {
                    self.parameter(hole, arguments, &mut statement, &mut parameters)?;
                }
            }
        }
        let checked = check(&statement, self.dialect, &self.rules)
            .map_err(|error| Refusal(format!("the statement is refused: {error}")))?;
        let gives_rows = gives_rows(&checked);
        let parts = (self.dialect == Dialect::Postgres && gives_rows).then(|| lifted(checked));
        let (lead, statement) = parts
            .flatten()
            .unwrap_or_else(|| (String::new(), statement.trim().trim_end_matches(';').to_owned()));
        Ok(Bound { lead, statement, parameters, gives_rows })
    }

    /// Binds a value; a list becomes several parameters, as `IN (…)` needs them.
    fn parameter(
        &self,
        hole: &Hole,
        arguments: &Value,
        statement: &mut String,
        parameters: &mut Vec<Value>,
    ) -> Result<(), Refusal> {
        // A null that is given is a value; one that is not given is missing.
        let Some(value) = arguments.get(&hole.name) else {
            argument(hole, arguments)?;
            return Ok(());
        };
        let several = match value {
            Value::Array(items) if items.is_empty() => {
                return Err(refused(hole, "is an empty list, which SQL cannot say"));
            }
            Value::Array(items) => items.to_vec(),
            single => vec![single.clone()],
        };
        if parameters.len() + several.len() > MAX_PARAMETERS {
            return Err(refused(hole, format!("makes more than {MAX_PARAMETERS} parameters")));
        }
        for (index, value) in several.into_iter().enumerate() {
            match (hole.kind, &value) {
                (HoleKind::Number, Value::Number(_)) | (HoleKind::Text, Value::String(_)) => {}
                (HoleKind::Number, other) => return Err(wrong_type(hole, "a number", other)),
                (HoleKind::Text, other) => return Err(wrong_type(hole, "a text", other)),
                _ => {}
            }
            parameters.push(value);
            let separator = if index > 0 { ", " } else { "" };
            statement.extend([separator, &self.dialect.parameter(parameters.len())]);
        }
        Ok(())
    }
}

/// Whether a statement answers with rows.
fn gives_rows(statement: &Statement) -> bool {
    match statement {
        Statement::Query(query) => match changing(query) {
            Some(statement) => gives_rows(statement),
            None => true,
        },
        Statement::Insert(insert) => insert.returning.is_some(),
        Statement::Update(update) => update.returning.is_some(),
        Statement::Delete(delete) => delete.returning.is_some(),
        _ => false,
    }
}

/// The statement that a query with a `WITH` clause is, if it changes data.
fn changing(query: &Query) -> Option<&Statement> {
    match &*query.body {
        SetExpr::Insert(statement) | SetExpr::Update(statement) | SetExpr::Delete(statement) => {
            Some(statement)
        }
        _ => None,
    }
}

/// The `WITH` clause of a statement and the rest, if the clause changes data: PostgreSQL has such
/// clauses at the beginning only.
fn lifted(statement: Statement) -> Option<(String, String)> {
    let Statement::Query(mut query) = statement else { return None };
    let with = query.with.take()?;
    let changes = with.cte_tables.iter().any(|table| changing(&table.query).is_some());
    (changes || changing(&query).is_some()).then(|| (with.to_string(), query.to_string()))
}

/// A placeholder that stands in quotes.
fn quoted_hole(template: &Template) -> Option<Hole> {
    template.pieces.iter().zip(template.open_quotes()).find_map(|(piece, quote)| match piece {
        Piece::Hole(hole) if quote.is_some() => Some(hole.clone()),
        _ => None,
    })
}
