//! What a test can see of a process from outside.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// Long enough for anything that is not broken, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Waits until something is true.
///
/// # Panics
/// If it does not become true within [`PATIENCE`].
pub async fn eventually(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "it did not happen within {PATIENCE:?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether a process runs; one that ended but was not collected does not.
pub fn is_running(id: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(id).join("stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.trim().chars().next());
    state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
}

/// A file that a server writes lines to.
#[derive(Debug)]
pub struct Log {
    folder: TempDir,
}

impl Default for Log {
    fn default() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }
}

impl Log {
    /// A file that does not exist yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Its path.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Its path as an argument of a program.
    pub fn argument(&self) -> String {
        self.path().to_str().unwrap().to_owned()
    }

    /// What was written so far.
    pub fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The last line.
    ///
    /// # Panics
    /// If there is none.
    pub fn last(&self) -> String {
        self.lines().pop().unwrap()
    }

    /// The messages among the lines that have this method.
    pub fn messages(&self, method: &str) -> Vec<Value> {
        let read = |line: &String| serde_json::from_str::<Value>(line).ok();
        self.lines().iter().filter_map(read).filter(|message| message["method"] == method).collect()
    }
}
