//! Running other programs.

use std::collections::VecDeque;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, bail};

/// How many of the last lines of a program that failed are told of.
const LAST_LINES: usize = 60;

/// Runs a program whose output is only of interest when it fails.
///
/// `missing` says what to do when the program is not installed.
pub(crate) fn run_quietly(command: &mut Command, missing: &str) -> anyhow::Result<()> {
    let shown = shown(command);
    let output = match command.stdin(Stdio::null()).output() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!("could not start `{shown}`: {missing}")
        }
        other => other.with_context(|| format!("could not start `{shown}`"))?,
    };
    if !output.status.success() {
        bail!(
            "`{shown}` failed ({})\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}

/// Runs a program whose output the user watches. Where nobody does, its last lines are part of the
/// error, too: the log of many programs is long.
pub(crate) fn run_visibly(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    let started = || format!("could not start `{shown}`");
    let (status, last) = if io::stderr().is_terminal() {
        (command.status().with_context(started)?, String::new())
    } else {
        run_heard(command).with_context(started)?
    };
    if !status.success() {
        bail!("`{shown}` failed ({status})\n{last}");
    }
    Ok(())
}

/// Runs a program and passes its output on; how it ended, and its last lines.
fn run_heard(command: &mut Command) -> io::Result<(ExitStatus, String)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let last = Mutex::new(VecDeque::new());
    thread::scope(|scope| {
        scope.spawn(|| pass_on(errors, io::stderr(), &last));
        pass_on(output, io::stdout(), &last);
    });
    let last = last.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((child.wait()?, Vec::from(last).concat()))
}

/// Passes lines on and remembers the last ones.
fn pass_on(from: Option<impl Read>, mut to: impl Write, last: &Mutex<VecDeque<String>>) {
    let Some(from) = from else { return };
    let (mut from, mut line) = (BufReader::new(from), Vec::new());
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        // Whoever does not listen any more misses nothing but this.
        to.write_all(&line).unwrap_or_default();
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(String::from_utf8_lossy(&line).into_owned());
        line.clear();
    }
}

/// The command as a user would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
