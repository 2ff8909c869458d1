//! Where runs are kept.

use std::path::PathBuf;

/// The variable that names the folder.
pub(crate) const VARIABLE: &str = "MCPGRAPH_DATA";

/// The folder for what the program keeps, unless somebody names another: below the user's data
/// folder, as the system has it.
pub fn default_folder() -> Option<PathBuf> {
    let home = || std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let data = match std::env::var_os("XDG_DATA_HOME").filter(|path| !path.is_empty()) {
        Some(path) => PathBuf::from(path),
        None if cfg!(target_os = "macos") => home()?.join("Library/Application Support"),
        None => home()?.join(".local/share"),
    };
    Some(data.join("mcpgraph"))
}
