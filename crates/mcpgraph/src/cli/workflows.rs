//! `mcpgraph workflows`: workflows in the store.

mod modules;

use std::path::Path;
use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_value::{Map, Value};
use mcpgraph_workflows::{Library, LibraryError, TEMPLATES, Template, Workflow, problems};

use super::args::HistoryArgs;
use super::args::workflows::{
    CheckArgs, ExportArgs, ImportArgs, NewArgs, WorkflowsArgs, WorkflowsCommand,
};
use super::runs::text::{Side, count, table};
use super::{Exit, document, output};

/// Dispatches `mcpgraph workflows`.
pub(super) fn workflows(args: WorkflowsArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let library = Library::new(Arc::new(history.create()?));
    let json = args.json;
    let done = match args.command {
        WorkflowsCommand::Ls => list(&library, json),
        WorkflowsCommand::Show { workflow } => show(&library, &workflow),
        WorkflowsCommand::Enable { workflow } => enable(&library, &workflow, true, json),
        WorkflowsCommand::Disable { workflow } => enable(&library, &workflow, false, json),
        WorkflowsCommand::Import(args) => import(&library, &args, json),
        WorkflowsCommand::Export(args) => export(&library, &args),
        WorkflowsCommand::Check(args) => check(&library, &args, json),
        WorkflowsCommand::Rm { workflow } => remove(&library, &workflow, json),
        WorkflowsCommand::New(args) => new(&library, &args, json),
        WorkflowsCommand::Module(args) => modules::modules(&library, &args.command, json),
    };
    done.or_else(|error| match error.downcast::<LibraryError>() {
        Ok(LibraryError::Store(error)) => Err(error.into()),
        Ok(error) => {
            if let Some(diagnostics) = error.diagnostics() {
                output::diagnostics(diagnostics);
            }
            output::error(&explain(&error));
            Ok(Exit::Failure)
        }
        Err(error) => Err(error),
    })
}

/// What went wrong, its code, and what to do.
fn explain(error: &LibraryError) -> String {
    let hint = match error {
        LibraryError::NoWorkflow(_) => "; `mcpgraph workflows ls` lists those that are",
        LibraryError::NoModule(_) => "; `mcpgraph workflows module ls` lists those that are",
        LibraryError::InUse { .. } => "; change or remove them first",
        _ => "",
    };
    match error.code() {
        Some(code) => format!("{error}{hint} ({code})"),
        None => format!("{error}{hint}"),
    }
}

fn list(library: &Library, json: bool) -> anyhow::Result<Exit> {
    let all = library.list()?;
    if json {
        let all: Vec<Value> = all.iter().map(Workflow::summary).collect();
        return print(&Map::from_iter([("workflows", all)]).into());
    }
    let rows: Vec<[String; 5]> = all
        .iter()
        .map(|workflow| {
            let enabled = if workflow.is_enabled() { "yes" } else { "no" };
            [
                workflow.id.clone(),
                workflow.name().to_owned(),
                workflow.around().to_owned(),
                enabled.to_owned(),
                workflow.priority().to_string(),
            ]
        })
        .collect();
    let heading = [
        ("ID", Side::Left),
        ("NAME", Side::Left),
        ("AROUND", Side::Left),
        ("ENABLED", Side::Left),
        ("PRIORITY", Side::Right),
    ];
    if rows.is_empty() {
        output::say("there are no workflows; `mcpgraph workflows new` lists templates\n");
    } else {
        output::data(&table(heading, &rows))?;
    }
    Ok(Exit::Success)
}

fn show(library: &Library, workflow: &str) -> anyhow::Result<Exit> {
    print(&library.find(workflow)?.definition)
}

fn enable(library: &Library, workflow: &str, enabled: bool, json: bool) -> anyhow::Result<Exit> {
    let workflow = library.set_enabled(workflow, enabled)?;
    let done = if enabled { "enabled" } else { "disabled" };
    tell(&workflow, done, json)
}

fn import(library: &Library, args: &ImportArgs, json: bool) -> anyhow::Result<Exit> {
    let mut taken = Vec::new();
    for workflow in read(&args.file)? {
        let imported = library.take(workflow)?;
        output::diagnostics(&imported.diagnostics);
        if !json {
            let done = if imported.replaced { "replaced" } else { "imported" };
            tell(&imported.workflow, done, false)?;
        }
        taken.push(imported.workflow.summary());
    }
    if json { print(&Map::from_iter([("workflows", taken)]).into()) } else { Ok(Exit::Success) }
}

fn export(library: &Library, args: &ExportArgs) -> anyhow::Result<Exit> {
    let document = match &args.workflow {
        Some(workflow) => library.find(workflow)?.definition,
        None => {
            let all = library.list()?.into_iter().map(|workflow| workflow.definition);
            all.collect::<Vec<_>>().into()
        }
    };
    match &args.output {
        None => print(&document),
        Some(path) => {
            let name = path.display();
            std::fs::write(path, document.to_json_pretty() + "\n")
                .map_err(|error| anyhow::anyhow!("cannot write `{name}`: {error}"))?;
            output::say(&format!("wrote {name}\n"));
            Ok(Exit::Success)
        }
    }
}

fn check(library: &Library, args: &CheckArgs, json: bool) -> anyhow::Result<Exit> {
    let mut workflows = Vec::new();
    if args.files.is_empty() {
        workflows = library.list()?;
    }
    for file in &args.files {
        workflows.extend(read(file)?);
    }
    let mut all = Diagnostics::new();
    for workflow in &workflows {
        all.extend(library.check(workflow)?);
    }
    if json {
        print(&problems(&all))?;
    } else {
        output::diagnostics(&all);
        let found = match (all.error_count(), all.warning_count()) {
            (0, 0) => String::from("no problems"),
            (errors, warnings) => {
                format!("{}, {}", count(errors, "error"), count(warnings, "warning"))
            }
        };
        output::say(&format!("{} checked, {found}\n", count(workflows.len(), "workflow")));
    }
    Ok(Exit::of(&all))
}

fn remove(library: &Library, workflow: &str, json: bool) -> anyhow::Result<Exit> {
    tell(&library.remove(workflow)?, "removed", json)
}

fn new(library: &Library, args: &NewArgs, json: bool) -> anyhow::Result<Exit> {
    let Some(name) = &args.template else { return list_templates(json) };
    let Some(template) = Template::find(name) else {
        let known: Vec<&str> = TEMPLATES.iter().map(|template| template.name).collect();
        return Err(super::usage(format!(
            "there is no template `{name}`; there are {}",
            known.join(", ")
        )));
    };
    let definition = template.definition(args.name.as_deref().unwrap_or(name))?;
    tell(&library.import(definition)?.workflow, "made, and not enabled", json)
}

fn list_templates(json: bool) -> anyhow::Result<Exit> {
    if json {
        let all: Vec<Value> = TEMPLATES.iter().map(Template::summary).collect();
        return print(&Map::from_iter([("templates", all)]).into());
    }
    let rows: Vec<[String; 2]> = TEMPLATES
        .iter()
        .map(|template| [template.name.to_owned(), template.about.to_owned()])
        .collect();
    output::data(&table([("TEMPLATE", Side::Left), ("WHAT IT DOES", Side::Left)], &rows))?;
    Ok(Exit::Success)
}

/// The workflows of a JSON file: one, or a list of them.
fn read(file: &Path) -> anyhow::Result<Vec<Workflow>> {
    let name = file.display();
    let text =
        document::read(file).map_err(|error| anyhow::anyhow!("cannot read `{name}`: {error}"))?;
    Ok(Workflow::in_file(&Source::new(name.to_string(), text))?)
}

/// Says what became of a workflow.
fn tell(workflow: &Workflow, done: &str, json: bool) -> anyhow::Result<Exit> {
    if json {
        return print(&workflow.summary());
    }
    output::say(&format!("workflow {} is {done}\n", workflow.id));
    Ok(Exit::Success)
}

/// Prints a document.
fn print(document: &Value) -> anyhow::Result<Exit> {
    output::data(&(document.to_json_pretty() + "\n"))?;
    Ok(Exit::Success)
}
