//! The `mcpgraph` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    mcpgraph::cli::main()
}
