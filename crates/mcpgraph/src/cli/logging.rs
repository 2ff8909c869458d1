use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};

use super::args::{LogFormat, LoggingArgs};

/// Whether what goes to stderr is read as JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// What is warned of only where somebody asks for more than warnings: DBOS does whenever a durable
/// run is cancelled, or handed over, which is in order.
const ORDINARY: &str = "dbos::workflow=error";

/// Sends logs to stderr: stdout belongs to the protocol or to data.
pub(super) fn start(args: &LoggingArgs) -> anyhow::Result<()> {
    let mut filter = EnvFilter::try_new(&args.log_level)
        .map_err(|error| super::usage(format!("--log-level: {error}")))?;
    if filter.max_level_hint() == Some(LevelFilter::WARN)
        && let Ok(directive) = ORDINARY.parse()
    {
        filter = filter.add_directive(directive);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        // Whoever read stderr may be gone; saying so there would be a panic.
        .log_internal_errors(false);
    IS_JSON.store(args.log_format == LogFormat::Json, Ordering::Relaxed);
    // A second call, in a test say, keeps what the first set up.
    drop(match args.log_format {
        LogFormat::Text => builder.with_ansi(super::output::is_watched()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    });
    Ok(())
}

/// Says on stderr what whoever started the program has to know, whatever is logged: a line of the
/// log where that is JSON, so that every line there can be read as such.
pub(super) fn announce(message: &str) {
    if !IS_JSON.load(Ordering::Relaxed) {
        return super::output::say(&format!("{message}\n"));
    }
    let mut timestamp = String::new();
    // Writing to a string does not fail.
    SystemTime.format_time(&mut Writer::new(&mut timestamp)).unwrap_or_default();
    let line = json!({
        "timestamp": timestamp,
        "level": "INFO",
        "fields": { "message": message },
        "target": "mcpgraph",
    });
    super::output::say(&format!("{line}\n"));
}
