//! What can be typed after `mcpgraph workflows`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct WorkflowsArgs {
    #[command(subcommand)]
    pub(crate) command: WorkflowsCommand,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowsCommand {
    /// List the workflows in the store
    Ls,
    /// Show a workflow
    Show {
        /// Its id or name
        workflow: String,
    },
    /// Use a workflow; a server that runs takes it over
    Enable {
        /// Its id or name
        workflow: String,
    },
    /// Do not use a workflow any more
    Disable {
        /// Its id or name
        workflow: String,
    },
    /// Take workflows in, in the place of those with the same ids
    Import(ImportArgs),
    /// Write a workflow as JSON, as it was taken in
    Export(ExportArgs),
    /// Find everything that is wrong with workflows, in the store or in files
    Check(CheckArgs),
    /// Forget a workflow
    Rm {
        /// Its id or name
        workflow: String,
    },
    /// Make a workflow from a template; without one, list the templates
    New(NewArgs),
    /// Scripts that several hooks use
    Module(ModuleArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph workflows import guard.json        one workflow, or a list of them
  mcpgraph workflows import - < guard.json

What is enabled must have no errors; a draft with `\"enabled\": false` may.")]
pub(crate) struct ImportArgs {
    /// A JSON file; `-` is stdin
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// Its id or name; all workflows as a list if it is not given
    pub(crate) workflow: Option<String>,

    /// Write to this file instead of stdout
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph workflows check                    those in the store
  mcpgraph workflows check guard.json         files, with the modules of the store")]
pub(crate) struct CheckArgs {
    /// JSON files with workflows; the store if none is given
    pub(crate) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph workflows new                      what there is
  mcpgraph workflows new block-tools --name guard
  mcpgraph workflows enable guard")]
pub(crate) struct NewArgs {
    /// The template
    pub(crate) template: Option<String>,

    /// The name of the workflow; that of the template if it is not given
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ModuleArgs {
    #[command(subcommand)]
    pub(crate) command: ModuleCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ModuleCommand {
    /// List the modules and who uses them
    Ls,
    /// Print the script of a module
    Show {
        /// Its id or name
        module: String,
    },
    /// Keep a script under a name, in the place of what had it before
    Add {
        /// The name
        name: String,
        /// A file with the body of an async function of `context`; `-` is stdin
        file: PathBuf,
    },
    /// Forget a module that no workflow uses
    Rm {
        /// Its id or name
        module: String,
    },
}
