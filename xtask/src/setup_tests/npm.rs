//! The npm packages: the conformance suite, the TypeScript SDKs, servers, and a recent Node.

use std::{fs, path::Path, process::Command};

use anyhow::Context;

use crate::command::run_quietly;

/// What decides which packages are installed.
pub(super) const FILES: [&str; 3] = ["package.json", "package-lock.json", ".npmrc"];

pub(super) fn install(sources: &Path, environment: &Path) -> anyhow::Result<()> {
    for file in FILES {
        fs::copy(sources.join(file), environment.join(file))
            .with_context(|| format!("could not copy {file}"))?;
    }
    run_quietly(
        Command::new("npm").arg("ci").current_dir(environment),
        "the tests need npm, which comes with Node.js 20 or newer",
    )
}
