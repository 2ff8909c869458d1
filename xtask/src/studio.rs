//! `cargo xtask studio`: the pages of the studio, built from `studio/` into the crate that embeds
//! them, and the tests that need a browser.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::ensure;

use crate::{
    command::{run_quietly, run_visibly},
    system,
    workspace::Workspace,
};

const NEEDS_NPM: &str = "changing the studio needs npm, which comes with Node.js 20.19 or newer";

/// Where Debian's package puts the browser.
const CHROMIUM: &str = "/usr/bin/chromium";

/// Builds the pages; with `dev`, serves them from their sources beside a running
/// `mcpgraph studio`.
pub(crate) fn run(workspace: &Workspace, dev: bool) -> anyhow::Result<()> {
    install(workspace)?;
    npm(workspace, if dev { "dev" } else { "build" })
}

/// Checks types, lints and logic of the pages, and that what is embedded is what is built.
pub(crate) fn check(workspace: &Workspace) -> anyhow::Result<()> {
    install(workspace)?;
    npm(workspace, "check")?;
    npm(workspace, "test")?;
    npm(workspace, "build")?;
    let mut changed = Command::new("git");
    changed.args(["status", "--porcelain", "--", "crates/studio/dist"]);
    let changed = changed.current_dir(&workspace.root).output()?;
    ensure!(
        changed.stdout.is_empty(),
        "the embedded pages are not those that are built: commit what `cargo xtask studio` writes\n{}",
        String::from_utf8_lossy(&changed.stdout)
    );
    Ok(())
}

/// Uses the studio of the binary that was built in a real browser.
pub(crate) fn end_to_end(workspace: &Workspace) -> anyhow::Result<()> {
    install(workspace)?;
    let browser = browser()?;
    let binary = workspace.target.join("debug/mcpgraph");
    let mut command = npm_command(workspace, "e2e");
    let screens = workspace.target.join("studio-screens");
    command.env("MCPGRAPH_BIN", binary).env("CHROMIUM", browser).env("STUDIO_SCREENS", &screens);
    run_visibly(&mut command)?;
    eprintln!("pictures of every screen are in {}", screens.display());
    Ok(())
}

/// The browser, installed if it is missing and the machine is one of Debian's kind.
fn browser() -> anyhow::Result<PathBuf> {
    if let Some(named) = std::env::var_os("CHROMIUM") {
        return Ok(named.into());
    }
    let path = Path::new(CHROMIUM);
    if !path.exists() {
        system::install("chromium", "name a Chromium with the variable CHROMIUM")?;
    }
    Ok(path.to_owned())
}

/// Installs the packages that the lock file names, unless they are there.
fn install(workspace: &Workspace) -> anyhow::Result<()> {
    let studio = workspace.root.join("studio");
    let lock = std::fs::read(studio.join("package-lock.json"))?;
    let stamp = studio.join("node_modules/.installed");
    if std::fs::read(&stamp).is_ok_and(|installed| installed == lock) {
        return Ok(());
    }
    eprintln!("npm packages of the studio: installing");
    run_quietly(Command::new("npm").arg("ci").current_dir(&studio), NEEDS_NPM)?;
    std::fs::write(stamp, lock)?;
    Ok(())
}

fn npm(workspace: &Workspace, script: &str) -> anyhow::Result<()> {
    run_visibly(&mut npm_command(workspace, script))
}

fn npm_command(workspace: &Workspace, script: &str) -> Command {
    let mut command = Command::new("npm");
    command.args(["run", "--silent", script]).current_dir(workspace.root.join("studio"));
    command
}
