//! The command line: one file a command.

mod args;
mod authorize;
mod check;
mod completions;
mod demo_server;
mod doctor;
mod document;
mod drain;
mod draw;
mod eval;
mod health;
mod history;
mod init;
mod logging;
mod output;
mod questions;
mod requests;
mod run;
mod runs;
mod schema;
mod serve;
mod sop;
mod test;
mod tokens;
mod toolkit;
mod transport;
mod watch;
mod workflows;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use clap::builder::Resettable;
use clap::{CommandFactory as _, FromArgMatches as _};
use mcpgraph_diagnostics::{Diagnostics, codes};

use self::args::{Cli, Command};

/// How the program ends. The same numbers are in `mcpgraph --help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Success,
    /// What was asked for failed: a file has errors, a tool failed, an expression did.
    Failure,
    /// The command line is wrong.
    Usage,
    /// The program could not do its work: a file cannot be read, an address is taken.
    Trouble,
    /// Interrupted from the keyboard.
    Interrupted,
    /// Told to end by the system.
    Terminated,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Success => 0,
            Exit::Failure => 1,
            Exit::Usage => 2,
            Exit::Trouble => 3,
            Exit::Interrupted => 130,
            Exit::Terminated => 143,
        })
    }
}

impl Exit {
    /// What the problems of files mean for the program.
    fn of(diagnostics: &Diagnostics) -> Self {
        if diagnostics.iter().any(|problem| problem.code == codes::FILE_UNREADABLE) {
            Self::Trouble
        } else if diagnostics.has_errors() {
            Self::Failure
        } else {
            Self::Success
        }
    }
}

/// The command line can be read but asks for something that cannot be meant.
#[derive(Debug)]
struct UsageError(String);

impl std::fmt::Display for UsageError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}

/// An error that ends the program with [`Exit::Usage`].
fn usage(message: impl Into<String>) -> anyhow::Error {
    UsageError(message.into()).into()
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    run_with(&Cli::command, &std::env::args_os().collect::<Vec<_>>())
}

/// Runs `mcpgraph toolkit` with the arguments of the process.
pub fn toolkit_main() -> ExitCode {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    // Servers that die with us are ended by this program too, under the command's own name.
    if arguments.get(1).is_none_or(|first| first != crate::api::REAPER_COMMAND) {
        arguments.insert(arguments.len().min(1), "toolkit".into());
    }
    // Help and version are those of a program whose name is all there is of the command.
    let program = || {
        Cli::command().mut_subcommand("toolkit", |toolkit| {
            toolkit
                .display_name("mcpgraphtoolkit")
                .override_usage("mcpgraphtoolkit [OPTIONS]")
                .version(env!("CARGO_PKG_VERSION"))
        })
    };
    run_with(&program, &arguments)
}

/// Reads the arguments.
fn parsed(
    mut program: clap::Command,
    arguments: &[OsString],
) -> Result<(Cli, clap::ArgMatches), clap::Error> {
    let matches = program.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut program))?;
    Ok((cli, matches))
}

fn run_with(program: &dyn Fn() -> clap::Command, arguments: &[OsString]) -> ExitCode {
    crate::api::IS_THE_COMMAND.store(true, Ordering::Relaxed);
    let (cli, matches) = match parsed(program(), arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help and the version come this way too; they go to stdout and are no error.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Success };
            // What variables say stands in the usage of an error as if it had to be typed.
            let plain = || program().mut_args(|option| option.env(Resettable::Reset));
            let plain = error.use_stderr().then(|| parsed(plain(), arguments).err()).flatten();
            // A variable may itself be what is wrong.
            let plain = plain.filter(|plain| plain.kind() == error.kind());
            return match plain.unwrap_or(error).print() {
                Ok(()) => exit.into(),
                Err(_) => Exit::Trouble.into(),
            };
        }
    };
    let started =
        logging::start(&cli.logging).and_then(|()| cli.history.refuse_impossible(&matches));
    drop(matches);
    let exit = match started.and_then(|()| dispatch(cli)) {
        Ok(exit) => exit,
        Err(error) => {
            output::error(&format!("{error:#}"));
            if error.is::<UsageError>() { Exit::Usage } else { Exit::Trouble }
        }
    };
    exit.into()
}

fn dispatch(cli: Cli) -> anyhow::Result<Exit> {
    let history = cli.history.without_empty();
    let Some(mut command) = cli.command else {
        return if cli.files.graph.is_some() || cli.files.mcp.is_some() {
            serve::stdio(&cli.files, &history)
        } else {
            output::say(&Cli::command().render_help().ansi().to_string());
            Ok(Exit::Usage)
        };
    };
    command.take_files(cli.files)?;
    match command {
        Command::Serve(args) => serve::serve(&args, &history),
        Command::Studio(args) => serve::studio(&args, &history),
        Command::Sop(args) => sop::sop(&args, &history),
        Command::Toolkit(args) => toolkit::serve(&args.files, &history),
        Command::Run(args) => run::run(args, &history),
        Command::Runs(args) => runs::runs(args, &history),
        Command::Requests(args) => requests::requests(args, &history),
        Command::Questions(args) => questions::questions(args, &history),
        Command::Workflows(args) => workflows::workflows(args, &history),
        Command::Tokens(args) => tokens::tokens(args, &history),
        Command::Check(args) => check::check(&args, &history),
        Command::Test(args) => test::test(&args, &history),
        Command::Doctor(args) => doctor::doctor(&args, &history),
        Command::Schema(args) => schema::schema(&args),
        Command::Graph(args) => draw::draw(&args),
        Command::Eval(args) => eval::eval(&args),
        Command::Init(args) => init::init(&args),
        Command::Completions { shell, .. } => completions::completions(shell),
        Command::DemoServer(args) => demo_server::serve(&args),
        Command::Reaper => {
            mcpgraph_mcp::client::run_reaper(std::io::stdin().lock());
            Ok(Exit::Success)
        }
    }
}

/// How many threads wait and compute. Slow evaluations have threads of their own in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Threads {
    /// For one client: handing its messages from thread to thread would cost more than it gains.
    One,
    /// For many clients: one for each core.
    PerCore,
}

/// How many tasks run on the one thread before it looks for what other threads woke: records that are
/// committed. Whoever waits for one is answered while the next calls are at work, not after them.
const TASKS_BETWEEN_LOOKS: u32 = 4;

/// Runs everything that waits.
fn block_on<T>(
    threads: Threads,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    let mut builder = match threads {
        Threads::One => {
            let mut builder = tokio::runtime::Builder::new_current_thread();
            builder.global_queue_interval(TASKS_BETWEEN_LOOKS);
            builder
        }
        Threads::PerCore => tokio::runtime::Builder::new_multi_thread(),
    };
    // This thread, and those of the runtime, use memory again that calls gave back.
    mcpgraph_memory::begin();
    builder.on_thread_start(mcpgraph_memory::begin).on_thread_stop(mcpgraph_memory::end);
    let runtime = builder.enable_all().build()?;
    let outcome = runtime.block_on(work);
    // An evaluation that cannot be interrupted must not keep the process alive.
    runtime.shutdown_timeout(std::time::Duration::from_millis(200));
    outcome
}

/// A server is ready: what only its start needs is not kept in memory. Whoever debugs the program would
/// lose the breakpoints that were set before.
fn start_is_over() {
    if !cfg!(debug_assertions) {
        mcpgraph_memory::let_go_of_code();
    }
}
