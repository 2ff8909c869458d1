//! The file in which tokens are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_files::{ReadError, SaveError};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{Grant, Rate};

/// The name of the file in its folder.
const FILE: &str = "tokens.json";

/// What every token begins with, so that it is recognised where it does not belong.
const PREFIX: &str = "mcpg_";

/// How many random bytes a token has.
const RANDOM_BYTES: usize = 32;

/// How many bytes of its hash name a token.
const ID_LENGTH: usize = 12;

/// A token as it is kept. The token itself is not: only its hash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Token {
    /// Names it: the beginning of its hash.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// The SHA-256 of the token. It is random enough that nothing slower is needed.
    hash: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// When it ends, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<u64>,
    /// What it grants.
    #[serde(default)]
    pub grant: Grant,
    /// How many requests it may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// How many calls of tools it may make whose names fit a pattern.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_rates: Vec<(String, Rate)>,
}

/// What a token shall be.
#[derive(Clone, Debug, Default)]
pub struct NewToken {
    /// What people call it; no other may have it.
    pub name: String,
    /// What it grants.
    pub grant: Grant,
    /// How long it is valid; none is for ever.
    pub lifetime: Option<Duration>,
    /// How many requests it may make.
    pub rate: Option<Rate>,
    /// How many calls of tools it may make whose names fit a pattern.
    pub tool_rates: Vec<(String, Rate)>,
}

/// Why tokens cannot be kept or read.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file cannot be written.
    #[error("cannot save `{path}`: {error}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The file is not what this program wrote.
    #[error("`{path}` is damaged: {error}; nobody is let in until it is repaired or removed")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The name is taken.
    #[error("there is a token named `{0}` already; remove it first, or choose another name")]
    NameTaken(String),
    /// There is no such token.
    #[error("there is no token `{0}`; `mcpgraph tokens ls` lists those that are")]
    Unknown(String),
    /// The system gives no random numbers.
    #[error("the system gives no random numbers")]
    NoRandomness,
}

/// What the file says.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    tokens: Vec<Token>,
}

/// The tokens of a data folder. A change of the file, by whoever, counts at once.
pub struct Tokens {
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

impl Tokens {
    /// The tokens in a folder, which need not exist.
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join(FILE), read: Mutex::default() }
    }

    /// All tokens.
    pub fn list(&self) -> Result<Arc<Vec<Token>>, StoreError> {
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

    /// Makes a token; gives what is kept of it, and the token itself, which nobody can show again.
    pub fn add(&self, new: NewToken) -> Result<(Token, String), StoreError> {
        let mut bytes = [0_u8; RANDOM_BYTES];
        getrandom::fill(&mut bytes).map_err(|_| StoreError::NoRandomness)?;
        let secret = format!("{PREFIX}{}", hex(&bytes));
        let hash = hash(&secret);
        let created = seconds(SystemTime::now());
        let token = Token {
            id: hash[..ID_LENGTH].to_owned(),
            name: new.name,
            hash,
            created,
            expires: new.lifetime.map(|lifetime| created.saturating_add(lifetime.as_secs())),
            grant: new.grant,
            rate: new.rate,
            tool_rates: new.tool_rates,
        };
        self.change(|tokens| {
            if tokens.iter().any(|known| known.name == token.name) {
                return Err(StoreError::NameTaken(token.name.clone()));
            }
            tokens.push(token.clone());
            Ok(())
        })?;
        Ok((token, secret))
    }

    /// Revokes the token with this id or name.
    pub fn remove(&self, name: &str) -> Result<Token, StoreError> {
        let mut removed = None;
        self.change(|tokens| {
            let found = tokens.iter().position(|token| token.id == name || token.name == name);
            removed = found.map(|index| tokens.remove(index));
            if removed.is_some() { Ok(()) } else { Err(StoreError::Unknown(name.to_owned())) }
        })?;
        removed.ok_or_else(|| StoreError::Unknown(name.to_owned()))
    }

    /// The token that somebody shows, if it is one and has not ended.
    pub fn find(&self, secret: &str, now: SystemTime) -> Result<Option<Token>, StoreError> {
        let hash = hash(secret);
        self.valid(|token| token.hash == hash, now)
    }

    /// The token with this id, if there is one and it has not ended.
    pub fn with_id(&self, id: &str, now: SystemTime) -> Result<Option<Token>, StoreError> {
        self.valid(|token| token.id == id, now)
    }

    fn valid(
        &self,
        is_wanted: impl Fn(&Token) -> bool,
        now: SystemTime,
    ) -> Result<Option<Token>, StoreError> {
        let now = seconds(now);
        let tokens = self.list()?;
        let found = tokens.iter().find(|token| is_wanted(token));
        Ok(found.filter(|token| token.expires.is_none_or(|end| now < end)).cloned())
    }

    /// Changes the file, while nobody else does.
    fn change(
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

fn hash(secret: &str) -> String {
    hex(&Sha256::digest(secret.as_bytes()))
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests;
