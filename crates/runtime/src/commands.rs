//! Commands, as a run sends them.

use mcpgraph_backends::{Backends, CommandError, ErrorKind as CommandErrorKind};
use mcpgraph_command::Command;
use mcpgraph_engine::{Call, ErrorKind, RunError};
use mcpgraph_value::Value;

/// Carries out a command. It is ended by dropping it.
pub(crate) async fn run(
    backends: &Backends,
    command: &Command,
    call: &Call,
) -> Result<Value, RunError> {
    backends.run(command, &call.args, call.timeout).await.map_err(explain)
}

fn explain(error: CommandError) -> RunError {
    let kind = match error.kind {
        CommandErrorKind::Refused => ErrorKind::Refused,
        CommandErrorKind::Failed => ErrorKind::CommandFailed,
        CommandErrorKind::Unavailable => ErrorKind::Unavailable,
        CommandErrorKind::Timeout => ErrorKind::Timeout,
        CommandErrorKind::Answer => ErrorKind::BadAnswer,
    };
    let message = error.to_string();
    RunError { data: error.data, ..RunError::new(kind, message) }
}
