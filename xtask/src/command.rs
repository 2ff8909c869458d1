//! Running other programs.

use std::{
    io,
    process::{Command, Stdio},
};

use anyhow::{Context, bail};

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

/// Runs a program whose output the user watches.
pub(crate) fn run_visibly(command: &mut Command) -> anyhow::Result<()> {
    let shown = shown(command);
    let status = command.status().with_context(|| format!("could not start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed ({status})");
    }
    Ok(())
}

/// The command as a user would type it.
fn shown(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy()];
    words.extend(command.get_args().map(|argument| argument.to_string_lossy()));
    words.join(" ")
}
