//! Where the repository and its target directory are.

use std::path::{Path, PathBuf};
use std::{env, fs, io, process::Command};

use anyhow::{Context, ensure};

/// The two directories every task starts from.
pub(crate) struct Workspace {
    /// The root of the repository.
    pub(crate) root: PathBuf,
    /// Where cargo puts what it builds; it may lie outside the repository.
    pub(crate) target: PathBuf,
}

impl Workspace {
    /// Asks cargo, which knows every way the target directory can be configured.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let output = cargo()
            .args(["metadata", "--format-version", "1", "--no-deps"])
            .output()
            .context("could not start `cargo metadata`")?;
        ensure!(
            output.status.success(),
            "`cargo metadata` failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
            .context("`cargo metadata` did not print JSON")?;
        let directory = |key: &str| {
            metadata[key]
                .as_str()
                .map(PathBuf::from)
                .with_context(|| format!("`cargo metadata` did not tell its `{key}`"))
        };
        Ok(Self { root: directory("workspace_root")?, target: directory("target_directory")? })
    }

    /// What `setup-tests` installs into and the tests look for.
    pub(crate) fn test_environment(&self) -> PathBuf {
        self.target.join("test-env")
    }
}

/// The cargo that runs this task, as the user would call it.
///
/// `cargo run` tells a program which package it belongs to. Build scripts that look at these
/// variables would run again, and with them everything that depends on them would be built anew
/// whenever a task and the user take turns.
pub(crate) fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let told = env::vars_os().map(|(name, _)| name).filter(|name| {
        let name = name.to_string_lossy();
        ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_CRATE_", "CARGO_BIN_"]
            .iter()
            .any(|prefix| name.starts_with(prefix))
    });
    for name in told {
        command.env_remove(name);
    }
    command
}

/// Removes a folder, if it is there.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    fs::remove_dir_all(folder).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(error),
    })
}
