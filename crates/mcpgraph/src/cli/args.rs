//! Everything that can be typed.

mod aside;
pub(crate) mod eval;
mod files;
pub(crate) mod questions;
pub(crate) mod requests;
pub(crate) mod runs;
pub(crate) mod serving;
pub(crate) mod test;
mod times;
pub(crate) mod tokens;
pub(crate) mod workflows;

use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand, ValueEnum};

use self::aside::{HISTORY, WithoutHistory};
pub(crate) use self::eval::{EvalArgs, Language};
pub(crate) use self::files::FileArgs;
use self::questions::QuestionsArgs;
use self::requests::RequestsArgs;
use self::runs::{ReplayArgs, RerunArgs, RunsArgs, RunsCommand};
pub(crate) use self::serving::{ListenArgs, ServeArgs, SopArgs, StudioArgs, ToolkitArgs};
use self::test::TestArgs;
use self::tokens::TokensArgs;
use self::workflows::WorkflowsArgs;

const EXAMPLES: &str = "\
Examples:
  mcpgraph init                                   write a first graph.yaml
  mcpgraph check graph.yaml                       find everything that is wrong with it
  mcpgraph run count_files -g graph.yaml directory=.
                                                  call a tool and print its result
  mcpgraph -g graph.yaml                          serve it over stdio, for a client's configuration
  mcpgraph serve -g graph.yaml --http 127.0.0.1:8080
                                                  serve it over HTTP at /mcp

Exit codes:
  0  all is well
  1  what was asked for failed: errors in a file, a tool that failed, an expression that did
  2  the command line is wrong
  3  the work could not be done: a file cannot be read, an address is in use
  130  interrupted; a server that is stopped so ends with 0
  143  told to end by the system; a server that is ends with 0";

/// Turns files into MCP tools.
#[derive(Debug, Parser)]
#[command(name = "mcpgraph", version, about, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) logging: LoggingArgs,

    #[command(flatten)]
    pub(crate) history: HistoryArgs,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// What is logged, and how. Logs go to stderr.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logging")]
pub(crate) struct LoggingArgs {
    /// How much to log: error, warn, info, debug, trace, or a filter such as mcpgraph_upstream=debug
    #[arg(
        long,
        value_name = "FILTER",
        default_value = "warn",
        env = "MCPGRAPH_LOG",
        global = true
    )]
    pub(crate) log_level: String,

    /// The form of log lines
    #[arg(long = "log", value_name = "FORMAT", default_value = "text", global = true)]
    pub(crate) log_format: LogFormat,
}

/// How runs are kept.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = HISTORY)]
pub(crate) struct HistoryArgs {
    /// The folder for runs; by default below the user's data folder
    // An empty one is taken here, and for none later: see `without_empty`.
    #[arg(
        long,
        value_name = "DIR",
        env = crate::data::VARIABLE,
        global = true,
        value_parser = OsStringValueParser::new().map(PathBuf::from)
    )]
    pub(crate) data: Option<PathBuf>,

    /// Keep runs in this PostgreSQL database instead, which several processes on several machines
    /// may share: postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "URL", env = "MCPGRAPH_STORE", hide_env_values = true, global = true)]
    pub(crate) store: Option<String>,

    /// Do not record runs
    #[arg(
        long,
        env = "MCPGRAPH_NO_HISTORY",
        global = true,
        value_parser = clap::builder::BoolishValueParser::new()
    )]
    pub(crate) no_history: bool,

    /// Keep payloads up to this size; of larger ones a preview, the size and a digest
    #[arg(long, value_name = "BYTES", default_value_t = 256 * 1024, global = true, hide_short_help = true)]
    pub(crate) max_payload_bytes: usize,

    /// Forget runs older than this; 0 keeps them whatever their age
    #[arg(long, value_name = "DAYS", default_value_t = 30, global = true, hide_short_help = true)]
    pub(crate) keep_days: u64,

    /// Forget the oldest runs above this number; 0 keeps any number
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 100_000,
        global = true,
        hide_short_help = true
    )]
    pub(crate) keep_runs: u64,

    /// Forget the oldest requests above this number; 0 keeps any number
    #[arg(
        long,
        value_name = "COUNT",
        default_value_t = 100_000,
        global = true,
        hide_short_help = true
    )]
    pub(crate) keep_requests: u64,

    /// Forget the oldest runs above this size of the file; 0 lets it grow
    #[arg(long, value_name = "MIB", default_value_t = 1024, global = true, hide_short_help = true)]
    pub(crate) keep_mib: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON object a line
    Json,
}

// A server should not have to know what all other commands can be told.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Serve the tools of a graph file over MCP
    Serve(ServeArgs),
    /// See graphs, change them and watch them run, in a browser
    Studio(StudioArgs),
    /// Serve procedures that agents walk: markdown with a Mermaid flowchart
    Sop(SopArgs),
    /// Serve the tools with which agents build graph tools, over stdio
    Toolkit(ToolkitArgs),
    /// Call one tool and print its result
    Run(RunArgs),
    /// Look at recorded runs, do them again, go on from them
    Runs(RunsArgs),
    /// Look at the requests that a server was sent
    Requests(RequestsArgs),
    /// Look at what runs ask people, and answer
    Questions(QuestionsArgs),
    /// Workflows in the store: what happens before and after the calls of tools
    Workflows(WorkflowsArgs),
    /// Make, list and revoke the tokens that a server over HTTP asks for
    Tokens(TokensArgs),
    /// Find everything that is wrong with graph files, test files and procedures
    Check(CheckArgs),
    /// Run the tests of graph files, or write one from a recorded run
    Test(TestArgs),
    /// Check the store, the clock, the file and its servers, and say what to do
    Doctor(DoctorArgs),
    /// Print the JSON Schema of graph files or test files, for editors
    Schema(SchemaArgs),
    /// Draw a graph
    Graph(DrawArgs),
    /// Evaluate an expression
    Eval(EvalArgs),
    /// Write a commented starter file
    Init(InitArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,

        #[command(flatten)]
        aside: WithoutHistory,
    },
    /// Serve a few demo tools over stdio, for examples that run offline
    DemoServer(DemoServerArgs),
    /// Ends the servers of an mcpgraph that was killed; started by mcpgraph itself
    #[command(name = crate::api::REAPER_COMMAND, hide = true)]
    Reaper,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph run count_files -g graph.yaml directory=.        a string argument
  mcpgraph run sum_to_n -g graph.yaml n=10                  values that are JSON are read as JSON
  mcpgraph run t -g graph.yaml --args '{\"deep\": [1, 2]}'    all arguments as one JSON object
  echo '{\"n\": 3}' | mcpgraph run sum_to_n -g graph.yaml --args -
  mcpgraph run sum_to_n -g graph.yaml n=3 --trace           with every step on stderr

The result goes to stdout, everything else to stderr.")]
pub(crate) struct RunArgs {
    /// The tool to call
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,

    /// Arguments; a value that is JSON is read as JSON where the schema takes that, anything else is
    /// text
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) arguments: Vec<String>,

    /// All arguments as a JSON object; - reads it from stdin
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Print every step to stderr
    #[arg(long)]
    pub(crate) trace: bool,

    /// Print one JSON object with the run's id, its result or error, and its steps
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph check graph.yaml
  mcpgraph check *.yaml --format json | jq '.diagnostics[].message'

Exits with 1 if there are errors; warnings alone are no failure.")]
pub(crate) struct CheckArgs {
    /// The files to check
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// An mcp.json whose servers are added to each graph's own
    #[arg(short, long, value_name = "FILE")]
    pub(crate) mcp: Option<PathBuf>,

    /// The EdgeLake node that commands are sent to, in place of the files'
    #[arg(long, value_name = "URL")]
    pub(crate) edgelake: Option<String>,

    /// The form of the report
    #[arg(long, default_value = "text")]
    pub(crate) format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// For people
    Text,
    /// For tools
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph graph -g graph.yaml                       all tools as Mermaid
  mcpgraph graph count_files -g graph.yaml --dot | dot -Tsvg > graph.svg
  mcpgraph graph support.md --dot                    the flowchart of a procedure")]
pub(crate) struct DrawArgs {
    /// The tool to draw, or the file of a procedure; all tools if not said
    #[arg(value_name = "TOOL")]
    pub(crate) tool: Option<String>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// As a Mermaid flowchart, several in a markdown document (the default)
    #[arg(long, conflicts_with = "dot")]
    pub(crate) mermaid: bool,

    /// As a Graphviz digraph
    #[arg(long)]
    pub(crate) dot: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph doctor -g graph.yaml
  mcpgraph doctor -g graph.yaml --store postgres://mcpgraph@db/mcpgraph
  mcpgraph doctor --json | jq '.checks[] | select(.status != \"ok\")'

Exits with 1 if something is wrong; what is only doubtful is no failure.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The schema of test files
    #[arg(long)]
    pub(crate) tests: bool,

    #[command(flatten)]
    pub(crate) aside: WithoutHistory,
}

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where to write it; `-` is stdout
    #[arg(value_name = "FILE", default_value = "graph.yaml")]
    pub(crate) path: PathBuf,

    /// Write over a file that is there
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) aside: WithoutHistory,
}

#[derive(Debug, Args)]
pub(crate) struct DemoServerArgs {
    /// The folder whose files can be listed and read
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) root: PathBuf,

    #[command(flatten)]
    pub(crate) aside: WithoutHistory,
}

impl Command {
    /// Adds the files that were named before the command: `mcpgraph -g FILE run TOOL`.
    pub(super) fn take_files(&mut self, before: FileArgs) -> anyhow::Result<()> {
        match self {
            Self::Serve(ServeArgs { files, .. })
            | Self::Studio(StudioArgs { files, .. })
            | Self::Toolkit(ToolkitArgs { files })
            | Self::Run(RunArgs { files, .. })
            | Self::Runs(RunsArgs {
                command:
                    RunsCommand::Replay(ReplayArgs { files, .. })
                    | RunsCommand::Rerun(RerunArgs { files, .. }),
                ..
            })
            | Self::Test(TestArgs { files, .. })
            | Self::Doctor(DoctorArgs { files, .. })
            | Self::Graph(DrawArgs { files, .. }) => {
                take("-g", &mut files.graph, before.graph)?;
                take("-m", &mut files.mcp, before.mcp)?;
                take("--edgelake", &mut files.edgelake, before.edgelake)
            }
            Self::Check(args) => {
                if before.graph.is_some() {
                    return Err(super::usage("check takes files without -g: mcpgraph check FILE"));
                }
                take("-m", &mut args.mcp, before.mcp)?;
                take("--edgelake", &mut args.edgelake, before.edgelake)
            }
            Self::Sop(args) => {
                if before.graph.is_some() {
                    return Err(super::usage("sop takes files without -g: mcpgraph sop FILE"));
                }
                take("-m", &mut args.mcp, before.mcp)
            }
            Self::Schema(_)
            | Self::Workflows(_)
            | Self::Runs(_)
            | Self::Requests(_)
            | Self::Questions(_)
            | Self::Tokens(_)
            | Self::Eval(_)
            | Self::Init(_)
            | Self::Completions { .. }
            | Self::DemoServer(_)
            | Self::Reaper => {
                if before.graph.is_some() || before.mcp.is_some() {
                    return Err(super::usage("this command takes neither -g nor -m"));
                }
                Ok(())
            }
        }
    }
}

/// Fills what a command leaves open with what was said before it.
fn take<T>(option: &str, own: &mut Option<T>, before: Option<T>) -> anyhow::Result<()> {
    match (&own, before) {
        (Some(_), Some(_)) => {
            Err(super::usage(format!("{option} is given before the command and after it")))
        }
        (None, Some(said)) => {
            *own = Some(said);
            Ok(())
        }
        (_, None) => Ok(()),
    }
}
