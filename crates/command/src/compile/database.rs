//! Statements for databases.

use mcpgraph_diagnostics::codes;

use super::Compiler;
use crate::command::{Plan, SqlPlan};
use crate::sql::{Dialect, ONLY_EDGELAKE, SqlTemplate};

impl Compiler<'_, '_> {
    pub(super) fn sql(&mut self, dialect: Dialect, write: bool) -> Option<Plan> {
        let rules = self.rules(write);
        if self.def.build_sql {
            self.only_for_databases();
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

    /// Arguments that only EdgeLake understands are not offered where they would be refused.
    fn only_for_databases(&mut self) {
        let given = self.arguments.unwrap_or_default();
        for name in ONLY_EDGELAKE.into_iter().filter(|name| given.contains(name)) {
            let message =
                format!("the argument `{name}` of `build_sql` means nothing to a database");
            let hint = "remove it: it is for EdgeLake; a `table` may have its schema before it";
            self.error(codes::COMMAND_UNCLEAR, self.def.span, message, hint);
        }
    }
}
