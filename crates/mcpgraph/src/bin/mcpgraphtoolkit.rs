//! `mcpgraph toolkit` under a name of its own.

use std::process::ExitCode;

use mcpgraph_memory::Keeping;

#[global_allocator]
static MEMORY: Keeping = Keeping;

fn main() -> ExitCode {
    mcpgraph::cli::toolkit_main()
}
