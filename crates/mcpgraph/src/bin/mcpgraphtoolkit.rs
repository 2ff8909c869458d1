//! `mcpgraph toolkit` under a name of its own.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcpgraph::cli::toolkit_main()
}
