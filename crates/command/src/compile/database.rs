//! Statements for databases.

use mcpgraph_diagnostics::codes;

use super::Compiler;
use crate::command::{Plan, SqlPlan};
use crate::sql::{Dialect, SqlTemplate};

impl Compiler<'_, '_> {
    pub(super) fn sql(&mut self, dialect: Dialect, write: bool) -> Option<Plan> {
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
}
