//! A PostgreSQL server of one's own for programs that are not tests: prints its URL, and ends when
//! its standard input does.

use std::io::{self, Read as _, Write as _};
use std::process::ExitCode;

use mcpgraph_testkit::PostgresServer;

fn main() -> ExitCode {
    let Some(server) = PostgresServer::start() else { return ExitCode::FAILURE };
    let told = writeln!(io::stdout(), "{}", server.url());
    let waited = told.and_then(|()| io::stdin().read_to_end(&mut Vec::new()));
    if waited.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
