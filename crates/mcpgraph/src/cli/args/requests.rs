use std::time::Duration;

use clap::Args;
use mcpgraph_journal::RequestStatus;

use super::times::{When, duration, when};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph requests                                     the latest requests
  mcpgraph requests --token ci --since 1h               of a token, in the last hour
  mcpgraph requests --tool 'files__*' --status error
  mcpgraph requests --method tools/call --slower-than 250ms --json

A request that became a run is shown with it: see `mcpgraph runs show`.")]
pub(crate) struct RequestsArgs {
    /// Only those of the token with this id or name
    #[arg(long)]
    pub(crate) token: Option<String>,

    /// Only those with this method, such as tools/call
    #[arg(long)]
    pub(crate) method: Option<String>,

    /// Only those about tools, prompts or resources that fit a pattern, in which * stands for anything
    #[arg(long, value_name = "PATTERN")]
    pub(crate) tool: Option<String>,

    /// Only those that this upstream server was asked
    #[arg(long)]
    pub(crate) server: Option<String>,

    /// Only those that ended so
    #[arg(long, value_name = "STATUS", value_parser = status())]
    pub(crate) status: Option<RequestStatus>,

    /// Only those that came since: 2h, 3d or a time of RFC 3339
    #[arg(long, value_name = "WHEN", value_parser = when)]
    pub(crate) since: Option<When>,

    /// Only those that took longer: 250ms, 2s
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub(crate) slower_than: Option<Duration>,

    /// How many at most
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub(crate) limit: usize,

    /// Print one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

/// Reads the word for a status.
fn status() -> impl clap::builder::TypedValueParser<Value = RequestStatus> {
    use clap::builder::{PossibleValuesParser, TypedValueParser as _};
    PossibleValuesParser::new(RequestStatus::ALL.map(RequestStatus::name))
        .try_map(|name| RequestStatus::from_name(&name).ok_or("no status has this name"))
}
