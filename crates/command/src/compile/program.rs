//! Commands for programs.

use mcpgraph_diagnostics::codes;

use super::Compiler;
use crate::command::Plan;
use crate::template::Template;

impl Compiler<'_, '_> {
    pub(super) fn process(&mut self) -> Option<Plan> {
        let argv = match &self.def.argv {
            Some(argv) if !argv.is_empty() => argv,
            _ => {
                self.error(
                    codes::COMMAND_UNCLEAR,
                    self.def.span,
                    "a command for programs needs `argv`, the program and its arguments",
                    "write `argv: [git, log, \"{branch}\"]`",
                );
                return None;
            }
        };
        let templates: Vec<Option<Template>> =
            argv.iter().map(|text| self.template(text)).collect();
        let argv_templates = templates.into_iter().collect::<Option<Vec<_>>>();
        let stdin = self.def.stdin.as_ref().map(|text| self.template(text));
        let argv_templates = argv_templates?;
        if let Some(hole) = argv_templates.first().and_then(|first| first.holes().next()) {
            self.misplaced(
                &argv[0],
                hole.range.clone(),
                "the program itself cannot be an argument",
            );
        }
        let success_codes = match self.def.success_codes.as_slice() {
            [] => vec![0],
            codes => codes.iter().map(|code| i32::try_from(*code).unwrap_or(i32::MAX)).collect(),
        };
        let stdin = stdin.map_or(Some(None), |template| template.map(Some))?;
        Some(Plan::Process { argv: argv_templates, stdin, success_codes })
    }
}
