//! What serves, and how it is reached.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{FileArgs, times};

/// Reads an address to listen at. `localhost` is this machine to itself, as it is in URLs.
fn address(text: &str) -> Result<SocketAddr, String> {
    let local = text.rsplit_once(':').filter(|(host, _)| host.eq_ignore_ascii_case("localhost"));
    let address = match local {
        Some((_, port)) => port.parse().ok().map(|port| (Ipv4Addr::LOCALHOST, port).into()),
        None => text.parse().ok(),
    };
    address.ok_or_else(|| {
        "an address has an IP address or `localhost`, and a port: 127.0.0.1:8080, [::1]:8080 or \
         localhost:8080"
            .to_owned()
    })
}

// How a server is reached, and how it ends.
#[derive(Clone, Debug, Args)]
pub(crate) struct ListenArgs {
    /// Listen for HTTP at this address instead of using stdio
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub(crate) http: Option<SocketAddr>,

    /// Allow an address that other machines can reach. There is no protection but your network's
    #[arg(long, requires = "http")]
    pub(crate) insecure: bool,

    /// How long calls under way may take to finish when the system asks the server to end
    #[arg(
        long,
        value_name = "TIME",
        default_value = "25s",
        value_parser = times::duration
    )]
    pub(crate) drain_timeout: Duration,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph serve -g graph.yaml                          over stdio
  mcpgraph serve -g graph.yaml --http 127.0.0.1:8080    over HTTP at http://127.0.0.1:8080/mcp
  mcpgraph serve -g graph.yaml -m mcp.json              with the servers of an mcp.json
  mcpgraph serve -m mcp.json                            only those, all of them behind one endpoint")]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    #[command(flatten)]
    pub(crate) listening: ListenArgs,

    /// Further host names under which the HTTP server is reached; a studio is not
    #[arg(long, value_name = "NAME", requires = "http")]
    pub(crate) allow_host: Vec<String>,

    /// Further web origins whose pages may call the tools, such as https://app.example
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,

    /// Serve the studio beside MCP, for a browser on this machine
    #[arg(long, requires = "http")]
    pub(crate) studio: bool,

    /// Do not watch the files for changes
    #[arg(long)]
    pub(crate) no_reload: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph studio -g graph.yaml                       at http://127.0.0.1:4747/
  mcpgraph studio -g graph.yaml -m mcp.json --http 127.0.0.1:8080

MCP is served beside it at /mcp: a client that calls a tool there can be watched in the studio.")]
pub(crate) struct StudioArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// Listen at this address of this machine
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4747", value_parser = address)]
    pub(crate) http: SocketAddr,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph sop support.md                             over stdio, for a client's configuration
  mcpgraph sop support.md --http 127.0.0.1:8080       over HTTP at http://127.0.0.1:8080/mcp
  mcpgraph sop support.md --enforce -m mcp.json       only the tools of the current node can be
                                                      called, from the servers of an mcp.json too
  mcpgraph sop support.md --allow-host docs.example.com
                                                      addresses of that host can be loaded too
  mcpgraph check support.md                           find everything that is wrong with it")]
pub(crate) struct SopArgs {
    /// The procedures
    #[arg(value_name = "FILE", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) listening: ListenArgs,

    /// Hold agents to the procedures: legal moves, guards, the tools of the current node
    #[arg(long)]
    pub(crate) enforce: bool,

    /// Make illegal moves all the same, and say so
    #[arg(long, conflicts_with = "enforce")]
    pub(crate) lenient: bool,

    /// A folder in which agents find other procedures
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: Vec<PathBuf>,

    /// A host from which agents may load procedures over https, at public addresses only
    #[arg(long, value_name = "HOST")]
    pub(crate) allow_host: Vec<String>,

    /// Forget a conversation that nobody has gone on with for this long
    #[arg(long, value_name = "TIME", default_value = "24h", value_parser = times::duration)]
    pub(crate) idle: Duration,

    /// An mcp.json whose servers' tools are offered too
    #[arg(short, long, value_name = "FILE")]
    pub(crate) mcp: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph toolkit -g graph.yaml -m mcp.json    for a client's configuration
  mcpgraphtoolkit -g graph.yaml -m mcp.json     the same")]
pub(crate) struct ToolkitArgs {
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_numbers_or_localhost_with_a_port() {
        for (text, wanted) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("[::1]:0", "[::1]:0"),
            ("localhost:8080", "127.0.0.1:8080"),
            ("LocalHost:0", "127.0.0.1:0"),
        ] {
            assert_eq!(address(text), Ok(wanted.parse().unwrap()), "{text}");
        }
        for text in
            ["", "localhost", "localhost:", "localhost:99999", ":8080", "8080", "a:1", "::1"]
        {
            let refused = address(text).unwrap_err();
            assert!(refused.contains("localhost:8080"), "{text}: {refused}");
        }
    }
}
