use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// How long a writer waits for another one.
const MAX_WAIT: Duration = Duration::from_secs(30);

/// How long it sleeps before it looks again.
const PAUSE: Duration = Duration::from_millis(2);

/// Keeps other writers of a file away until it is dropped, or the process ends in any way.
///
/// The lock is that of a hidden file beside the one that is saved, which is replaced at every
/// save and cannot hold a lock of its own. It stays there: if it were removed, two writers could
/// hold locks of two files of one name.
pub(crate) struct Lock {
    _file: File,
}

/// Waits for the lock of a file.
pub(crate) fn lock(path: &Path) -> io::Result<Lock> {
    let mut options = OpenOptions::new();
    let file = options.create(true).truncate(false).write(true).open(lock_path(path))?;
    let end = Instant::now() + MAX_WAIT;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                let message = format!("another process has been saving it for {MAX_WAIT:?}");
                return Err(io::Error::new(io::ErrorKind::TimedOut, message));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// `.graph.yaml.lock` beside `graph.yaml`.
fn lock_path(path: &Path) -> PathBuf {
    path.with_file_name(format!("{}.lock", hidden_name(path)))
}

/// The name of a file with a dot before it.
pub(crate) fn hidden_name(path: &Path) -> String {
    format!(".{}", path.file_name().unwrap_or_default().to_string_lossy())
}
