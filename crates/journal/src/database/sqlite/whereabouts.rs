//! Whether the file that is open is the one that others find.
//!
//! A file that was deleted, or that another one took the place of, is written to without an error as
//! long as somebody has it open, and is gone with them.

use std::io;
use std::path::{Path, PathBuf};

use super::file;
use crate::JournalError;

/// Which file was opened, where that can be told.
#[derive(Clone, Debug)]
pub(crate) struct Whereabouts {
    path: PathBuf,
    opened: Option<(u64, u64)>,
}

impl Whereabouts {
    /// Of the file of a folder that has just been opened.
    pub(in crate::database) fn of(dir: &Path) -> Self {
        let path = file::path(dir);
        let opened = identity(&path).ok().flatten();
        Self { path, opened }
    }

    /// Whether what is written is found. Where nobody can tell, it is believed.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        let is_there = match identity(&self.path) {
            Ok(found) => found == self.opened,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        if is_there || self.opened.is_none() {
            return Ok(());
        }
        Err(JournalError::Moved { path: self.path.clone() })
    }
}

/// What no two files of a machine have in common.
#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt as _;
    let found = std::fs::metadata(path)?;
    Ok(Some((found.dev(), found.ino())))
}

/// Where an open file cannot be deleted.
#[cfg(not(unix))]
fn identity(_path: &Path) -> io::Result<Option<(u64, u64)>> {
    Ok(None)
}
