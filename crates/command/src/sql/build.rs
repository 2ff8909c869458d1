//! One SELECT, built from arguments as a syntax tree.

use std::ops::ControlFlow;

use mcpgraph_value::{Number, Value};
use sqlparser::ast::{
    Expr, GroupByExpr, Ident, LimitClause, ObjectName, ObjectNamePart, OrderBy, OrderByExpr,
    OrderByKind, OrderByOptions, OrderBySort, Query, Select, SelectItem, SetExpr, Statement,
    TableFactor, Value as Literal, VisitMut, VisitorMut, visit_expressions,
};
use sqlparser::parser::Parser;

use super::Dialect;
use super::check::{Rules, StatementError, check, check_tree};
use super::part::{condition, part};
use super::words::{is_reserved, tokens};
use crate::fill::{Refusal, is_edgelake_word, is_identifier};

/// How many rows are asked for where nobody says.
const DEFAULT_LIMIT: i64 = 100;

/// How many rows can be asked for.
const MAX_LIMIT: i64 = 1_000_000;

/// How many columns, groups and orders there may be.
const MAX_PARTS: usize = 256;

/// Arguments that say where in its network a node looks.
pub(crate) const ONLY_EDGELAKE: [&str; 3] = ["database", "include_tables", "extend_fields"];

/// A SELECT and what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// The database the arguments name.
    pub(crate) database: Option<String>,
    /// The statement.
    pub(crate) statement: String,
    /// EdgeLake: other tables that are asked too.
    pub(crate) include: Vec<String>,
    /// EdgeLake: what the node adds to each row.
    pub(crate) extend: Vec<String>,
}

/// Builds the SELECT that arguments describe.
pub(crate) fn build(arguments: &Value, dialect: Dialect, rules: &Rules) -> Result<Built, Refusal> {
    let given = |name: &str| arguments.get(name).filter(|value| !value.is_null());
    let table = given("table").ok_or_else(|| missing("table"))?;
    let mut query = skeleton()?;
    let SetExpr::Select(mut select) = *query.body else { return Err(no_skeleton()) };
    set_table(&mut select, &table_name(table, dialect)?)?;
    select.projection = match given("select") {
        None => vec![SelectItem::Wildcard(sqlparser::ast::WildcardAdditionalOptions::default())],
        Some(columns) => texts("select", columns)?
            .iter()
            .map(|text| part("select", text, dialect, rules, Parser::parse_select_item))
            .collect::<Result<_, _>>()?,
    };
    let mut joined = None;
    match given("where") {
        None => {}
        Some(Value::String(text)) if text.trim().is_empty() => {}
        Some(Value::String(text)) => {
            let (read, more) = condition("where", text, dialect, rules)?;
            (select.selection, joined) = (Some(read), more);
        }
        Some(other) => return Err(not("where", "a text", other)),
    }
    if let Some(groups) = given("group_by") {
        let groups = texts("group_by", groups)?
            .iter()
            .map(|text| part("group_by", text, dialect, rules, Parser::parse_expr))
            .collect::<Result<_, _>>()?;
        select.group_by = GroupByExpr::Expressions(groups, Vec::new());
    }
    query.body = match joined {
        None => Box::new(SetExpr::Select(select)),
        Some(joined) => joined.to(select),
    };
    query.order_by =
        given("order_by").map(|order| order_by(order, dialect, rules)).transpose()?.flatten();
    let limit = Expr::value(Literal::Number(limit(given("limit"))?.to_string(), false));
    query.limit_clause =
        Some(LimitClause::LimitOffset { limit: Some(limit), offset: None, limit_by: Vec::new() });

    let mut statement = Statement::Query(Box::new(query));
    match dialect.quote() {
        Some(quote) => quote_names(&mut statement, dialect, quote),
        None => no_reserved_names(&statement)?,
    }
    let wrong = |error: StatementError| Refusal(format!("the statement is refused: {error}"));
    check_tree(&statement, rules).map_err(wrong)?;
    let text = statement.to_string();
    // What is sent is text again: it has to be read as the tree that was checked.
    let again = check(&text, dialect, rules).map_err(wrong)?;
    if again.to_string() != text {
        return Err(Refusal("the statement would be read as something else".to_owned()));
    }
    if dialect == Dialect::EdgeLake {
        tokens(&text, dialect).map_err(wrong)?;
    }
    if dialect != Dialect::EdgeLake
        && let Some(argument) = ONLY_EDGELAKE.into_iter().find(|name| given(name).is_some())
    {
        return Err(Refusal(format!(
            "the argument `{argument}` is for EdgeLake and means nothing to this database"
        )));
    }
    Ok(Built {
        database: given("database").map(|value| name("database", value)).transpose()?,
        statement: text,
        include: names("include_tables", given("include_tables"), dotted)?,
        extend: names("extend_fields", given("extend_fields"), extended)?,
    })
}

/// A SELECT whose parts are then replaced.
fn skeleton() -> Result<Query, Refusal> {
    match Parser::parse_sql(Dialect::Sqlite.grammar(), "SELECT * FROM t").map(|mut all| all.pop()) {
        Ok(Some(Statement::Query(query))) => Ok(*query),
        _ => Err(no_skeleton()),
    }
}

fn no_skeleton() -> Refusal {
    Refusal("a SELECT cannot be built".to_owned())
}

fn set_table(select: &mut Select, parts: &[String]) -> Result<(), Refusal> {
    let relation = select.from.first_mut().map(|from| &mut from.relation);
    let Some(TableFactor::Table { name, .. }) = relation else { return Err(no_skeleton()) };
    let parts = parts.iter().map(|part| ObjectNamePart::Identifier(Ident::new(part)));
    *name = ObjectName(parts.collect());
    Ok(())
}

fn order_by(given: &Value, dialect: Dialect, rules: &Rules) -> Result<Option<OrderBy>, Refusal> {
    let items = match given {
        Value::Array(items) => items.to_vec(),
        single => vec![single.clone()],
    };
    if items.is_empty() {
        return Ok(None);
    }
    few("order_by", items.len())?;
    let orders = items.iter().map(|item| order(item, dialect, rules));
    Ok(Some(OrderBy {
        kind: OrderByKind::Expressions(orders.collect::<Result<_, _>>()?),
        interpolate: None,
    }))
}

/// `"column"`, `"column desc"`, or `{column, direction}`.
fn order(item: &Value, dialect: Dialect, rules: &Rules) -> Result<OrderByExpr, Refusal> {
    let (column, direction) = match item {
        Value::String(text) => match text.trim().rsplit_once(char::is_whitespace) {
            Some((column, word)) if direction(word).is_some() => {
                (column.to_owned(), direction(word))
            }
            _ => (text.to_string(), None),
        },
        Value::Object(members) => {
            let column = members.get("column").or_else(|| members.get("field"));
            let Some(Value::String(column)) = column else {
                return Err(Refusal("an entry of `order_by` needs a `column`".to_owned()));
            };
            let sort = match members.get("direction") {
                None | Some(Value::Null) => None,
                Some(word) => Some(word.as_str().and_then(direction).ok_or_else(|| {
                    Refusal("a `direction` of `order_by` is `asc` or `desc`".to_owned())
                })?),
            };
            (column.to_string(), sort)
        }
        other => return Err(not("order_by", "texts or objects", other)),
    };
    let expr = part("order_by", &column, dialect, rules, Parser::parse_expr)?;
    let options = OrderByOptions { sort: direction, nulls_first: None };
    Ok(OrderByExpr { expr, options, with_fill: None })
}

fn direction(word: &str) -> Option<OrderBySort> {
    match word.to_ascii_lowercase().as_str() {
        "asc" | "ascending" => Some(OrderBySort::Asc),
        "desc" | "descending" => Some(OrderBySort::Desc),
        _ => None,
    }
}

fn limit(given: Option<&Value>) -> Result<i64, Refusal> {
    match given {
        None => Ok(DEFAULT_LIMIT),
        Some(value) => match value.as_number().and_then(Number::as_i64) {
            Some(limit) if (1..=MAX_LIMIT).contains(&limit) => Ok(limit),
            _ => Err(Refusal(format!(
                "the argument `limit` needs to be a whole number from 1 to {MAX_LIMIT}"
            ))),
        },
    }
}

/// A table, with its schema where the author of the arguments says one.
fn table_name(value: &Value, dialect: Dialect) -> Result<Vec<String>, Refusal> {
    let Value::String(text) = value else { return Err(not("table", "a text", value)) };
    let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
    if parts.len() > 3 || !parts.iter().all(|part| is_identifier(part)) {
        return Err(not_a_name("table"));
    }
    if dialect.quote().is_none() && parts.iter().any(|part| is_reserved(part)) {
        return Err(Refusal("the argument `table` is a word of SQL, and no name".to_owned()));
    }
    Ok(parts)
}

fn name(argument: &str, value: &Value) -> Result<String, Refusal> {
    match value {
        Value::String(text) if is_edgelake_name(text) => Ok(text.to_string()),
        _ => Err(not_a_name(argument)),
    }
}

fn names(
    argument: &str,
    given: Option<&Value>,
    fits: impl Fn(&str) -> bool,
) -> Result<Vec<String>, Refusal> {
    let Some(given) = given else { return Ok(Vec::new()) };
    let names = texts(argument, given)?;
    if names.iter().all(|name| fits(name)) { Ok(names) } else { Err(not_a_name(argument)) }
}

/// `table` or `database.table`.
fn dotted(name: &str) -> bool {
    name.split('.').count() <= 2
        && name.split('.').all(|part| is_edgelake_name(part) && !is_reserved(part))
}

/// `+column`, `@table_name`, `@ip as node`: what EdgeLake adds to rows.
fn extended(name: &str) -> bool {
    let name = name.strip_prefix(['+', '@']).unwrap_or(name);
    match name.split_once(" as ") {
        Some((name, alias)) => is_edgelake_name(name) && is_edgelake_name(alias),
        None => is_edgelake_name(name),
    }
}

/// A name in a command of EdgeLake's, and no word of its language.
fn is_edgelake_name(text: &str) -> bool {
    is_identifier(text) && !is_edgelake_word(text)
}

/// A list of texts; a single text is a list of one.
fn texts(argument: &str, value: &Value) -> Result<Vec<String>, Refusal> {
    let texts: Option<Vec<String>> = match value {
        Value::String(text) => Some(vec![text.to_string()]),
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    };
    match texts {
        Some(texts) if texts.is_empty() => {
            Err(Refusal(format!("the argument `{argument}` is empty")))
        }
        Some(texts) => few(argument, texts.len()).map(|()| texts),
        None => Err(not(argument, "a list of texts", value)),
    }
}

fn few(argument: &str, parts: usize) -> Result<(), Refusal> {
    if parts <= MAX_PARTS {
        return Ok(());
    }
    Err(Refusal(format!("the argument `{argument}` has {parts} parts; the limit is {MAX_PARTS}")))
}

/// Puts every name in quotes, so that none is a word of the language. What a name without quotes
/// means stays as it is: PostgreSQL reads it in lower case.
fn quote_names(statement: &mut Statement, dialect: Dialect, quote: char) {
    struct Quotes(Dialect, char);
    impl Quotes {
        fn quote(&self, ident: &mut Ident) {
            if ident.quote_style.is_none() {
                if self.0 == Dialect::Postgres {
                    ident.value = ident.value.to_lowercase();
                }
                ident.quote_style = Some(self.1);
            }
        }
    }
    impl VisitorMut for Quotes {
        type Break = ();

        fn pre_visit_relation(&mut self, relation: &mut ObjectName) -> ControlFlow<()> {
            for part in &mut relation.0 {
                if let ObjectNamePart::Identifier(ident) = part {
                    self.quote(ident);
                }
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
            match expr {
                Expr::Identifier(ident) => self.quote(ident),
                Expr::CompoundIdentifier(parts) => {
                    for part in parts {
                        self.quote(part);
                    }
                }
                _ => {}
            }
            ControlFlow::Continue(())
        }

        fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
            for item in &mut select.projection {
                if let SelectItem::ExprWithAlias { alias, .. } = item {
                    self.quote(alias);
                }
            }
            ControlFlow::Continue(())
        }
    }
    let quoted = VisitMut::visit(statement, &mut Quotes(dialect, quote));
    debug_assert!(quoted.is_continue(), "quoting never breaks off");
}

/// Where names have no quotes, none may be a word of the language.
fn no_reserved_names(statement: &Statement) -> Result<(), Refusal> {
    let reserved = visit_expressions(statement, |expr| match expr {
        Expr::Identifier(ident) if is_reserved(&ident.value) => {
            ControlFlow::Break(ident.value.clone())
        }
        _ => ControlFlow::Continue(()),
    });
    match reserved {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(word) => Err(Refusal(format!(
            "the statement is refused: `{word}` is a word of SQL, and no name"
        ))),
    }
}

fn missing(argument: &str) -> Refusal {
    Refusal(format!("the command needs the argument `{argument}`, which is not given"))
}

fn not(argument: &str, wanted: &str, value: &Value) -> Refusal {
    Refusal(format!("the argument `{argument}` needs to be {wanted}, not {}", value.type_name()))
}

fn not_a_name(argument: &str) -> Refusal {
    Refusal(format!(
        "the argument `{argument}` is not a name: letters (A to Z), digits and `_`, no digit first"
    ))
}
