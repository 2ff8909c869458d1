//! The reference implementation, fetched once into the build folder.

use std::path::{Path, PathBuf};
use std::process::Command;

const REFERENCE: &str = "jsonata@2.2.2";

/// The reference implementation's file.
pub(crate) fn reference() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("jsonata-reference");
    let file = folder.join("package/jsonata.js");
    if file.is_file() {
        return Ok(file);
    }
    // Several tests may fetch it at once: each does so apart, and the first puts it in its place.
    let apart = folder.with_extension(std::process::id().to_string());
    let fetched = fetch(&apart);
    if fetched.is_ok() && std::fs::rename(&apart, &folder).is_ok() {
        return Ok(file);
    }
    let removed = std::fs::remove_dir_all(&apart);
    fetched?;
    removed.map_err(|error| error.to_string())?;
    if file.is_file() { Ok(file) } else { Err(format!("{} is not there", file.display())) }
}

fn fetch(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| error.to_string())?;
    let packed =
        run(Command::new("npm").args(["pack", "--silent", REFERENCE]).current_dir(folder))?;
    let archive = packed.lines().last().unwrap_or_default().trim().to_owned();
    run(Command::new("tar").args(["xzf", &archive]).current_dir(folder)).map(drop)
}

/// What a command prints, or why it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}
