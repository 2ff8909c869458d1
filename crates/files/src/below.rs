use std::io;
use std::path::{Path, PathBuf};

/// Why a path cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NotBelow {
    /// It leads out of the folder, by itself or by a link.
    #[error("`{0}` is not below the folder that may be read")]
    Outside(String),
    /// There is nothing there.
    #[error("`{path}`: {error}")]
    Missing {
        /// The path, as it was written.
        path: String,
        /// What the system said.
        error: io::Error,
    },
}

/// The real path of what is asked for, which must be below `root` however it is written.
///
/// `root` must be a real path itself. A path is relative to it, or to the working directory.
pub fn below(root: &Path, path: &str) -> Result<PathBuf, NotBelow> {
    let real = root.join(path).canonicalize().or_else(|error| {
        // A path relative to the working directory is as good, if it leads below the root.
        Path::new(path)
            .canonicalize()
            .map_err(|_| NotBelow::Missing { path: path.to_owned(), error })
    })?;
    if real.starts_with(root) { Ok(real) } else { Err(NotBelow::Outside(path.to_owned())) }
}
