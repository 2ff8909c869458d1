use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_diagnostics::Source;

/// The largest file that is read: 16 MiB.
pub const MAX_FILE_BYTES: usize = 16 << 20;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system did not allow it, or it is not there.
    #[error("cannot read `{path}`: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// It is larger than [`MAX_FILE_BYTES`].
    #[error("`{0}` is larger than the limit of {MAX_FILE_BYTES} bytes (16 MiB)")]
    TooLarge(PathBuf),
    /// It is not text.
    #[error("cannot read `{path}`: it is not UTF-8 text (byte {byte})")]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is not part of a character.
        byte: usize,
    },
}

/// Reads a file of at most [`MAX_FILE_BYTES`].
pub fn read(path: &Path) -> Result<Arc<Source>, ReadError> {
    let failed = |error| ReadError::Io { path: path.to_owned(), error };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    // One byte more than allowed is enough to see that it is too large.
    file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge(path.to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|error| ReadError::NotText {
        path: path.to_owned(),
        byte: error.utf8_error().valid_up_to(),
    })?;
    Ok(Source::new(path.display().to_string(), text))
}
