//! What people and programs read: data on stdout, everything else on stderr.

use std::io::{self, IsTerminal as _, Write as _};

use mcpgraph_diagnostics::{Colour, Diagnostics, to_terminal};

/// Writes data to stdout. A reader that went away is no error: `mcpgraph … | head` is fine.
pub(crate) fn data(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes to stderr. Where that is closed nobody is there to be told.
pub(crate) fn say(text: &str) {
    drop(anstream::stderr().lock().write_all(text.as_bytes()));
}

/// Writes an error to stderr.
pub(crate) fn error(text: &str) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Red.into()));
    say(&format!("{style}error{style:#}: {text}\n"));
}

/// Writes to stderr what is doubtful and no error.
pub(crate) fn warning(text: &str) {
    let style = anstyle::Style::new().bold().fg_color(Some(anstyle::AnsiColor::Yellow.into()));
    say(&format!("{style}warning{style:#}: {text}\n"));
}

/// Writes diagnostics for people.
pub(crate) fn diagnostics(diagnostics: &Diagnostics) {
    if !diagnostics.is_empty() {
        // `anstream` takes the colours out where stderr is not a terminal that has them.
        say(&to_terminal(diagnostics, Colour::Ansi));
    }
}

/// Writes diagnostics for people as data, where they are what was asked for.
pub(crate) fn diagnostics_as_data(diagnostics: &Diagnostics) -> anyhow::Result<()> {
    if diagnostics.is_empty() {
        return Ok(());
    }
    let is_plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
    data(&to_terminal(diagnostics, if is_plain { Colour::Plain } else { Colour::Ansi }))
}

/// Whether a person watches stderr.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}
