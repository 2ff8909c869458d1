//! What the tests need of the machine itself, installed where it is missing and the machine is one
//! of Debian's kind.

use std::process::Command;

use crate::command::run_quietly;

/// Installs a package of Debian's. `instead` says what to do on other machines.
pub(crate) fn install(package: &str, instead: &str) -> anyhow::Result<()> {
    eprintln!("{package}: installing");
    run_quietly(Command::new("apt-get").arg("update"), instead)?;
    let packages = ["install", "--yes", "--no-install-recommends", package];
    run_quietly(
        Command::new("apt-get").args(packages).env("DEBIAN_FRONTEND", "noninteractive"),
        instead,
    )
}
