//! The Python packages, in a virtual environment of their own.

use std::{path::Path, process::Command};

use crate::command::run_quietly;

pub(super) fn install(sources: &Path, environment: &Path) -> anyhow::Result<()> {
    let venv = environment.join("python");
    run_quietly(
        Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv),
        "the tests need Python 3.10 or newer with its `venv` module",
    )?;
    run_quietly(
        Command::new(venv.join("bin/pip"))
            .args(["install", "--quiet", "--disable-pip-version-check", "--requirement"])
            .arg(sources.join("requirements.txt")),
        "the virtual environment has no pip",
    )
}
