use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use tempfile::Builder;

use crate::lock::{hidden_name, lock};
use crate::{ReadError, read, unified_diff};

/// What temporary files are called behind the name of the file they are for.
const TEMPORARY: &str = ".new-";

/// A file that was saved.
#[derive(Debug)]
pub struct Saved {
    /// What is in the file now.
    pub source: Arc<Source>,
    /// What was in it right before; not what the caller had read if somebody else saved meanwhile.
    pub before: Arc<Source>,
}

/// Why a file was not saved. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum SaveError<E> {
    /// The edit does not fit the text, which is the one the caller had read.
    #[error(transparent)]
    Edit(E),
    /// The file changed since it was read, and the edit does not fit it any more.
    #[error(
        "`{path}` changed on disk since it was read, and the change does not fit it any more: {error}"
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// How it changed, as a unified diff.
        diff: String,
        /// Why the edit does not fit.
        error: E,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Read(ReadError),
    /// The file cannot be written.
    #[error("cannot save `{path}`: {error}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Changes a file: `seen` is what the caller had read of it, and `edit` makes the new text of the
/// present one.
///
/// One writer works at a time. If the file is not as it was seen, the edit is made on what is there
/// now, so that nobody's change is lost; if it does not fit that, nothing is saved. At every moment,
/// whatever ends the process, the file is the old or the new one. A symbolic link stays one, and the
/// file keeps its mode. This blocks: up to 30 seconds for another writer, and for the disk.
pub fn save<E>(
    path: &Path,
    seen: &Source,
    edit: impl FnOnce(&Arc<Source>) -> Result<String, E>,
) -> Result<Saved, SaveError<E>> {
    let failed = |error| SaveError::Io { path: path.to_owned(), error };
    let target = fs::canonicalize(path).map_err(failed)?;
    let lock = lock(&target).map_err(failed)?;
    remove_leftovers(&target);
    let found = read(&target).map_err(SaveError::Read)?;
    let before = Source::new(seen.name(), found.text());
    let text = edit(&before).map_err(|error| {
        if before.text() == seen.text() {
            return SaveError::Edit(error);
        }
        let diff = unified_diff(seen.text(), before.text(), seen.name());
        SaveError::Changed { path: path.to_owned(), diff, error }
    })?;
    if text != before.text() {
        replace(&target, &text).map_err(failed)?;
    }
    drop(lock);
    Ok(Saved { source: Source::new(seen.name(), text), before })
}

/// Writes a file beside the old one, and gives it its name once it is on the disk.
fn replace(target: &Path, text: &str) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let prefix = format!("{}{TEMPORARY}", hidden_name(target));
    let mut new = Builder::new().prefix(&prefix).tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    let old = fs::metadata(target)?;
    keep_owner(new.as_file(), &old);
    new.as_file().set_permissions(old.permissions())?;
    new.as_file().sync_all()?;
    new.persist(target).map_err(|error| error.error)?;
    sync_folder(folder)
}

/// Leaves the file to its owner, as far as the system allows it: only an administrator saves files
/// of others.
#[cfg(unix)]
fn keep_owner(new: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let is_kept = new.metadata().is_ok_and(|new| (new.uid(), new.gid()) == (old.uid(), old.gid()));
    if !is_kept {
        fchown(new, Some(old.uid()), Some(old.gid())).ok();
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Makes the new name last; systems that cannot open folders do it themselves.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// Removes what a process left that was killed while it saved. Whoever holds the lock is the only
/// one who saves, so no such file is in use.
fn remove_leftovers(target: &Path) {
    let prefix = format!("{}{TEMPORARY}", hidden_name(target));
    let entries = target.parent().and_then(|folder| fs::read_dir(folder).ok());
    for entry in entries.into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // One that cannot be removed is in nobody's way.
            fs::remove_file(entry.path()).ok();
        }
    }
}

#[cfg(test)]
mod tests;
