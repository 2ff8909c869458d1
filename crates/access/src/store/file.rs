//! The file in which tokens are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use mcpgraph_files::SaveError;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{StoreError, Token};

/// The name of the file in its folder.
pub(super) const FILE: &str = "tokens.json";

/// What the file says.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    tokens: Vec<Token>,
}

/// The file of a data folder.
pub(super) struct TokenFile {
    path: PathBuf,
    read: Mutex<Option<(Stamp, Arc<Vec<Token>>)>>,
}

/// Tells one version of the file from another.
#[derive(Clone, Copy, PartialEq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    file: u64,
}

impl TokenFile {
    pub(super) fn new(folder: &Path) -> Self {
        Self { path: folder.join(FILE), read: Mutex::default() }
    }

    /// All tokens.
    pub(super) fn list(&self) -> Result<Arc<Vec<Token>>, StoreError> {
        let Some(stamp) = Stamp::of(&self.path) else { return Ok(Arc::default()) };
        let mut read = self.read.lock();
        if let Some((known, tokens)) = &*read
            && *known == stamp
        {
            return Ok(Arc::clone(tokens));
        }
        let text = mcpgraph_files::read(&self.path)?;
        let tokens = Arc::new(self.parse(text.text())?.tokens);
        *read = Some((stamp, Arc::clone(&tokens)));
        Ok(tokens)
    }

    /// Changes the file, while nobody else does.
    pub(super) fn change(
        &self,
        mut change: impl FnMut(&mut Vec<Token>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        self.create().map_err(|error| self.unwritten(error))?;
        let seen = mcpgraph_files::read(&self.path)?;
        let edit = |now: &Arc<mcpgraph_diagnostics::Source>| {
            let mut document = self.parse(now.text())?;
            change(&mut document.tokens)?;
            serde_json::to_string_pretty(&document)
                .map(|text| text + "\n")
                .map_err(|error| self.damaged(error))
        };
        match mcpgraph_files::save(&self.path, &seen, edit) {
            Ok(_) => Ok(()),
            Err(SaveError::Edit(error) | SaveError::Changed { error, .. }) => Err(error),
            Err(SaveError::Read(error)) => Err(error.into()),
            Err(SaveError::Io { error, .. }) => Err(self.unwritten(error)),
        }
    }

    /// Makes an empty file that only its owner may read, where there is none.
    fn create(&self) -> io::Result<()> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        match options.open(&self.path) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn parse(&self, text: &str) -> Result<Document, StoreError> {
        if text.trim().is_empty() {
            return Ok(Document::default());
        }
        serde_json::from_str(text).map_err(|error| self.damaged(error))
    }

    fn damaged(&self, error: serde_json::Error) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), error }
    }

    fn unwritten(&self, error: io::Error) -> StoreError {
        StoreError::Write { path: self.path.clone(), error }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let file = std::os::unix::fs::MetadataExt::ino(&found);
        #[cfg(not(unix))]
        let file = 0;
        Some(Self { modified: found.modified().ok(), length: found.len(), file })
    }
}
