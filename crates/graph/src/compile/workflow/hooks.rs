//! Scripts: found, and checked for their syntax.

use std::ops::Range;
use std::time::Duration;

use mcpgraph_config::Text;
use mcpgraph_config::model::{
    GraphFile, HookCode, HookDef, HookModuleDef, WorkflowDef, WorkflowNodeKind,
};
use mcpgraph_diagnostics::{Diagnostic, codes, suggest};
use mcpgraph_script::{Place, check};

use crate::Hook;
use crate::compile::report::Report;

/// Compiles a hook; none if its script is missing or not JavaScript.
pub(super) fn compile(
    file: &GraphFile,
    def: &WorkflowDef,
    hook: &HookDef,
    report: &mut Report,
) -> Option<Hook> {
    let (script, module) = match &hook.code {
        HookCode::Inline(script) => {
            check_script(script, report)?;
            (script, None)
        }
        HookCode::Module(name) => (&find(file, name, report)?.script, Some(name.to_arc())),
    };
    let millis = hook.timeout_ms.map_or(HookDef::TIMEOUT_MS, |count| count.value);
    Some(Hook {
        script: script.to_arc(),
        module,
        blocking: hook.blocking,
        time: Duration::from_millis(millis),
        hosts: def.allow_hosts.iter().map(Text::to_arc).collect(),
        workflow: def.id.to_arc(),
    })
}

/// Checks the scripts of modules, once each.
pub(in crate::compile) fn check_modules(file: &GraphFile, report: &mut Report) {
    for module in &file.hook_modules {
        // What is wrong has been told; hooks that use the module need not be told again.
        let _: Option<()> = check_script(&module.script, report);
    }
}

/// The modules that a workflow uses.
pub(super) fn modules<'f>(
    file: &'f GraphFile,
    def: &'f WorkflowDef,
) -> impl Iterator<Item = &'f HookModuleDef> {
    def.nodes.iter().filter_map(|node| match &node.kind {
        WorkflowNodeKind::Hook(HookDef { code: HookCode::Module(name), .. }) => {
            file.hook_modules.iter().find(|module| *module.name == **name)
        }
        _ => None,
    })
}

fn find<'f>(file: &'f GraphFile, name: &Text, report: &mut Report) -> Option<&'f HookModuleDef> {
    let found = file.hook_modules.iter().find(|module| *module.name == **name);
    if found.is_none() {
        let known = file.hook_modules.iter().map(|module| module.name.as_str());
        let hint = suggest::did_you_mean(name, known).unwrap_or_else(|| {
            String::from("define it under `hookModules`, or with `mcpgraph workflows module add`")
        });
        report.push(
            Diagnostic::error(
                codes::HOOK_MODULE_UNKNOWN,
                format!("there is no hook module `{name}`"),
            )
            .at(report.source(), name.span(), "")
            .hint(hint),
        );
    }
    found
}

fn check_script(script: &Text, report: &mut Report) -> Option<()> {
    let Some((range, problem)) = script_problem(script) else { return Some(()) };
    let span = range.map_or(script.span(), |range| script.locate(report.source(), range));
    report.push(problem.at(report.source(), span, ""));
    None
}

/// Why a text cannot be the script of a hook, and where in it, as far as that is known.
pub fn script_problem(script: &str) -> Option<(Option<Range<usize>>, Diagnostic)> {
    let error = check(script).err()?;
    let range = error.place.map(|place| {
        let start = offset(script, place);
        start..start + script[start..].chars().next().map_or(0, char::len_utf8)
    });
    let problem =
        Diagnostic::error(codes::SCRIPT_SYNTAX, format!("the script cannot be read: {error}"))
            .hint(
                "a script is the body of an async function: `await` and `return` may be used in it",
            );
    Some((range, problem))
}

/// Where in the text a place is.
fn offset(script: &str, place: Place) -> usize {
    let line_number = place.line.saturating_sub(1) as usize;
    let before: usize = script.split_inclusive('\n').take(line_number).map(str::len).sum();
    let line = script[before..].lines().next().unwrap_or_default();
    let column = place.column.saturating_sub(1) as usize;
    before + line.char_indices().nth(column).map_or(line.len(), |(at, _)| at)
}
