use std::time::Duration;

use clap::{Args, Subcommand};
use mcpgraph_access::Rate;

use super::times::duration;

#[derive(Debug, Args)]
pub(crate) struct TokensArgs {
    #[command(subcommand)]
    pub(crate) command: TokensCommand,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TokensCommand {
    /// Make a token and print it; it cannot be shown again
    Add(AddArgs),
    /// List tokens, without themselves
    Ls,
    /// Revoke a token; running servers refuse it at once
    Rm {
        /// Its id or name
        token: String,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph tokens add --name me                                  for everything
  mcpgraph tokens add --name ci --servers files,graph --expires 30d
  mcpgraph tokens add --name bot --tools 'files__*' --rate 60/m --tool-rate 'files__write=5/m'

As soon as there is a token, a server over HTTP asks everybody for one.")]
pub(crate) struct AddArgs {
    /// What you call it
    #[arg(long, value_parser = named)]
    pub(crate) name: String,

    /// Only these servers; `graph` is the graph's own tools
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = named)]
    pub(crate) servers: Vec<String>,

    /// Only tools whose names fit one of these patterns, in which * stands for anything
    #[arg(long, value_name = "PATTERNS", value_delimiter = ',', value_parser = named)]
    pub(crate) tools: Vec<String>,

    /// How long it is valid, such as 30d; for ever if not given
    #[arg(long, value_name = "TIME", value_parser = lifetime)]
    pub(crate) expires: Option<Duration>,

    /// How many requests it may make, such as 10/s, 100/m or 1000/h
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<Rate>,

    /// How many calls of the tools that fit a pattern it may make; may be given several times
    #[arg(long, value_name = "PATTERN=RATE", value_parser = tool_rate)]
    pub(crate) tool_rate: Vec<(String, Rate)>,
}

/// A name or a pattern. None is not said by an empty text, which grants nothing.
fn named(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("it is empty; leave the option out, or write a name".to_owned());
    }
    Ok(text.to_owned())
}

/// The end of a token is kept in seconds.
fn lifetime(text: &str) -> Result<Duration, String> {
    let time = duration(text)?;
    if time < Duration::from_secs(1) {
        return Err("a token is valid for at least a second".to_owned());
    }
    Ok(time)
}

fn tool_rate(text: &str) -> Result<(String, Rate), String> {
    let (pattern, rate) = text
        .rsplit_once('=')
        .ok_or_else(|| "write a pattern and a rate, such as files__write=5/m".to_owned())?;
    let rate = rate.parse().map_err(|error: mcpgraph_access::NotARate| error.to_string())?;
    Ok((named(pattern)?, rate))
}
