//! PostgreSQL, of which tests start clusters of their own.

use std::path::Path;
use std::{env, fs};

use crate::system;

/// Where Debian's packages put the programs, below a folder for each version.
const VERSIONS: &str = "/usr/lib/postgresql";

/// Installs it if it is missing. Where it cannot be installed, the tests that need it say that they
/// were skipped.
pub(super) fn install() {
    if is_there() {
        return;
    }
    if let Err(error) = system::install("postgresql", "the tests with PostgreSQL are skipped") {
        eprintln!("PostgreSQL: {error:#}");
    }
}

fn is_there() -> bool {
    let in_path = env::var_os("PATH").unwrap_or_default();
    let versions = fs::read_dir(VERSIONS).into_iter().flatten().flatten();
    let installed = versions.map(|version| version.path().join("bin"));
    env::split_paths(&in_path).chain(installed).any(|folder| has_server(&folder))
}

fn has_server(folder: &Path) -> bool {
    folder.join("initdb").is_file()
}
