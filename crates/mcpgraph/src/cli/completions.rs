use clap::CommandFactory as _;

use super::args::Cli;
use super::{Exit, output};

/// Prints a completion script.
pub(super) fn completions(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "mcpgraph", &mut script);
    output::data(&String::from_utf8(script)?)?;
    Ok(Exit::Success)
}
