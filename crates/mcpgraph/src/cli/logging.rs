use tracing_subscriber::EnvFilter;

use super::args::{LogFormat, LoggingArgs};

/// Sends logs to stderr: stdout belongs to the protocol or to data.
pub(super) fn start(args: &LoggingArgs) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&args.log_level)
        .map_err(|error| super::usage(format!("--log-level: {error}")))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Whoever read stderr may be gone; saying so there would be a panic.
        .log_internal_errors(false);
    // A second call, in a test say, keeps what the first set up.
    drop(match args.log_format {
        LogFormat::Text => builder.with_ansi(super::output::is_watched()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    });
    Ok(())
}
