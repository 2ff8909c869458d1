//! What can be typed after `mcpgraph runs`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use mcpgraph_journal::RunStatus;

use super::FileArgs;
pub(crate) use super::times::When;
use super::times::{duration, when};

#[derive(Debug, Args)]
pub(crate) struct RunsArgs {
    #[command(subcommand)]
    pub(crate) command: RunsCommand,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunsCommand {
    /// List runs, the newest first
    Ls(ListArgs),
    /// Show a run and its steps, or one of its steps
    Show(ShowArgs),
    /// Write a run as one JSON document
    Export(ExportArgs),
    /// Take in a run that was exported
    Import(ImportArgs),
    /// Forget runs
    Rm(RemoveArgs),
    /// End a durable run that is under way, wherever it is executed
    Stop(StopArgs),
    /// Show how long nodes take and how often they fail, the slowest first
    Stats(StatsArgs),
    /// Do a run again with recorded outputs in the place of upstream calls
    Replay(ReplayArgs),
    /// Start a new run that goes on from the record of another
    Rerun(RerunArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs ls                                      the latest runs
  mcpgraph runs ls --status failed --since 2h           what failed in the last two hours
  mcpgraph runs ls --tool count_files --slower-than 250ms
  mcpgraph runs ls --text A-100 --json | jq -r '.runs[].id'

A run that was interrupted is shown with the step it had reached.")]
pub(crate) struct ListArgs {
    /// Only runs of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,

    /// Only runs that stand so
    #[arg(long, value_name = "STATUS", value_parser = status())]
    pub(crate) status: Option<RunStatus>,

    /// Only runs that began since: 2h, 3d or a time of RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub(crate) since: Option<When>,

    /// Only runs with this text in their tool, error, inputs, outputs or log lines
    #[arg(long)]
    pub(crate) text: Option<String>,

    /// Only runs that took longer: 250ms, 2s
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) slower_than: Option<Duration>,

    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs show 0198a1b2                           the run and its steps
  mcpgraph runs show 0198a1b2 --step 3                  input, output and times of a step
  mcpgraph runs show 0198a1b2 --step 3 --context        and what it saw

An id may be shortened as long as only one run begins so.")]
pub(crate) struct ShowArgs {
    /// The run
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Show this step
    #[arg(long, value_name = "NUMBER")]
    pub(crate) step: Option<u64>,

    /// Show what the step saw when it began; without --step, the latest one
    #[arg(long)]
    pub(crate) context: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs export 0198a1b2 -o run.json
  mcpgraph runs export 0198a1b2 | mcpgraph runs import - --data elsewhere")]
pub(crate) struct ExportArgs {
    /// The run
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Write to this file instead of stdout, which - stands for, too
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs import run.json
  mcpgraph runs import run.json --data elsewhere        into another folder

A run that is there already is left as it is.")]
pub(crate) struct ImportArgs {
    /// The document; - reads stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs rm 0198a1b2 0198a1c3
  mcpgraph runs rm --older-than 7d

Runs that are being executed are kept.")]
pub(crate) struct RemoveArgs {
    /// The runs
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,

    /// All runs that began before: 7d, 12h or a time of RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = when, conflicts_with = "ids")]
    pub(crate) older_than: Option<When>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs stop 0198a1b2

The process that executes the run hears of it within a second or two.")]
pub(crate) struct StopArgs {
    /// The run
    #[arg(value_name = "ID")]
    pub(crate) id: String,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs stats --since 1d
  mcpgraph runs stats --tool count_files --json")]
pub(crate) struct StatsArgs {
    /// Only runs of this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,

    /// Only runs that began since: 2h, 3d or a time of RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub(crate) since: Option<When>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs replay 0198a1b2                         on the version that was recorded
  mcpgraph runs replay 0198a1b2 -g graph.yaml           on a file that has changed since

No server is started. Exits with 0 if everything happens again, with 1 at the first difference.")]
pub(crate) struct ReplayArgs {
    /// The run
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph runs rerun 0198a1b2 -g graph.yaml            the same call, everything anew
  mcpgraph runs rerun 0198a1b2 --from 4 -g graph.yaml   what came before step 4 is taken over
  mcpgraph runs rerun 0198a1b2 --from 4 --set pending='{\"orders\": []}' --yes
  mcpgraph runs rerun 0198a1b2 --recorded               on the version that was recorded

The record of the first run stays as it is; the new run names it as its parent.
The result goes to stdout, everything else to stderr.")]
pub(crate) struct RerunArgs {
    /// The run
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// The first step that is executed; what came before is taken from the record
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) from: u64,

    /// Another output for a node that has one by then
    #[arg(long, value_name = "NODE=JSON")]
    pub(crate) set: Vec<String>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Use the recorded version of the graph; servers come from the current file if there is one
    #[arg(long)]
    pub(crate) recorded: bool,

    /// Do not ask before upstream tools are called
    #[arg(short, long)]
    pub(crate) yes: bool,

    /// Print every step to stderr
    #[arg(long)]
    pub(crate) trace: bool,
}

/// Reads the word for a status.
fn status() -> impl clap::builder::TypedValueParser<Value = RunStatus> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(RunStatus::ALL.map(RunStatus::name))
        .try_map(|name| RunStatus::from_name(&name).ok_or("no status has this name"))
}
