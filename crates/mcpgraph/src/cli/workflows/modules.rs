//! `mcpgraph workflows module`: scripts that several hooks use.

use mcpgraph_value::{Map, Value};
use mcpgraph_workflows::{Library, Workflow, module};

use super::super::args::workflows::ModuleCommand;
use super::super::runs::text::{Side, table};
use super::super::{Exit, document, output};
use super::print;

pub(super) fn modules(
    library: &Library,
    command: &ModuleCommand,
    json: bool,
) -> anyhow::Result<Exit> {
    match command {
        ModuleCommand::Ls => list(library, json),
        ModuleCommand::Show { module: name } => {
            let found = library.module(name)?;
            if json {
                return print(&module(&found, &library.users_of(&found)?));
            }
            output::data(&format!("{}\n", found.script.trim_end_matches('\n')))?;
            Ok(Exit::Success)
        }
        ModuleCommand::Add { name, file } => {
            let place = file.display();
            let script = document::read(file)
                .map_err(|error| anyhow::anyhow!("cannot read `{place}`: {error}"))?;
            let kept = library.put_module(None, name, &script)?;
            tell(library, &kept, "kept", json)
        }
        ModuleCommand::Rm { module: name } => {
            let removed = library.remove_module(name)?;
            tell(library, &removed, "removed", json)
        }
    }
}

fn list(library: &Library, json: bool) -> anyhow::Result<Exit> {
    let all = library.modules()?;
    if json {
        let mut shown: Vec<Value> = Vec::new();
        for kept in &all {
            shown.push(module(kept, &library.users_of(kept)?));
        }
        return print(&Map::from_iter([("hookModules", shown)]).into());
    }
    let mut rows = Vec::new();
    for kept in &all {
        let users = library.users_of(kept)?;
        let users: Vec<&str> = users.iter().map(Workflow::name).collect();
        rows.push([kept.name.clone(), users.join(", ")]);
    }
    if rows.is_empty() {
        output::say("there are no hook modules\n");
    } else {
        output::data(&table([("NAME", Side::Left), ("USED BY", Side::Left)], &rows))?;
    }
    Ok(Exit::Success)
}

fn tell(
    library: &Library,
    kept: &mcpgraph_workflows::Module,
    done: &str,
    json: bool,
) -> anyhow::Result<Exit> {
    if json {
        return print(&module(kept, &library.users_of(kept)?));
    }
    output::say(&format!("hook module {} is {done}\n", kept.name));
    Ok(Exit::Success)
}
