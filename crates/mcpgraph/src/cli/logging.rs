use std::sync::atomic::{AtomicBool, Ordering};

use mcpgraph_diagnostics::{printable, suggest};
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

/// How much can be logged.
const LEVELS: [&str; 6] = ["error", "warn", "info", "debug", "trace", "off"];

/// Sends logs to stderr: stdout belongs to the protocol or to data.
pub(super) fn start(args: &LoggingArgs) -> anyhow::Result<()> {
    if let Some(problem) = stray_word(&args.log_level) {
        return Err(super::usage(problem));
    }
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

/// What is wrong with a filter that has a word where a level stands. The filters' own reader takes
/// any such word for the name of a part of the program, and logs nothing of all others.
fn stray_word(filter: &str) -> Option<String> {
    let is_stray = |word: &&str| {
        let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | ':');
        !word.is_empty() && word.chars().all(is_word) && word.parse::<LevelFilter>().is_err()
    };
    let word = filter.split(',').map(str::trim).find(is_stray)?;
    let hint = suggest::did_you_mean(word, LEVELS).unwrap_or_else(|| {
        format!("for one part of the program write its name and a level: {word}=debug")
    });
    let word = printable(word);
    Some(format!(
        "--log-level (MCPGRAPH_LOG): `{word}` is not one of the levels {}; {}",
        LEVELS.join(", "),
        printable(&hint)
    ))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_level_is_told() {
        for filter in [
            "warn",
            "WARN",
            "off",
            "3",
            "",
            "mcpgraph_upstream=debug",
            "warn,mcpgraph_upstream=debug",
            "warn, mcpgraph_runtime::drive=trace",
            "[request{tool=x}]=debug",
            "mcpgraph_upstream[call]",
        ] {
            assert_eq!(stray_word(filter), None, "{filter}");
        }
        for (filter, word, hint) in [
            ("verbose", "`verbose`", "verbose=debug"),
            ("wran", "`wran`", "did you mean `warn`?"),
            ("mcpgraph_upstream", "`mcpgraph_upstream`", "mcpgraph_upstream=debug"),
            ("mcpgraph=debug,inof", "`inof`", "did you mean `info`?"),
        ] {
            let told = stray_word(filter).unwrap();
            assert!(told.contains(word) && told.contains(hint), "{filter}: {told}");
            assert!(told.contains("error, warn, info, debug, trace, off"), "{told}");
        }
    }
}
