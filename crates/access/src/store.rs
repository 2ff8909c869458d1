//! Where tokens are kept: in a file of the data folder, or in a store that several processes share.

mod file;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use mcpgraph_files::ReadError;
use mcpgraph_journal::{Journal, JournalError, KeptToken};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use self::file::TokenFile;
use crate::{Grant, Rate};

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
    /// A token in a store is not what this program wrote.
    #[error("the token `{id}` in the store is damaged: {error}; remove it")]
    Unreadable {
        /// Which.
        id: String,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] JournalError),
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

/// The tokens of a server.
pub struct Tokens(Place);

enum Place {
    /// A change of the file, by whoever, counts at once.
    File(TokenFile),
    /// A change counts in each process when [`Tokens::look`] finds it.
    Store { journal: Arc<Journal>, known: Mutex<Option<Known>> },
}

/// What was last seen in a store.
struct Known {
    version: i64,
    tokens: Arc<Vec<Token>>,
}

impl Tokens {
    /// The tokens in a folder, which need not exist.
    pub fn in_folder(folder: &Path) -> Self {
        Self(Place::File(TokenFile::new(folder)))
    }

    /// The tokens of a store. What reads or changes them there blocks as files do.
    pub fn in_store(journal: Arc<Journal>) -> Self {
        Self(Place::Store { journal, known: Mutex::default() })
    }

    /// All tokens; those of a store as they were last seen.
    pub fn list(&self) -> Result<Arc<Vec<Token>>, StoreError> {
        let (journal, known) = match &self.0 {
            Place::File(file) => return file.list(),
            Place::Store { journal, known } => (journal, known),
        };
        if let Some(known) = &*known.lock() {
            return Ok(Arc::clone(&known.tokens));
        }
        let version = journal.tokens_version()?;
        let kept = journal.tokens()?.into_iter().map(|kept| {
            serde_json::from_str(&kept.document)
                .map_err(|error| StoreError::Unreadable { id: kept.id, error })
        });
        let tokens = Arc::new(kept.collect::<Result<Vec<Token>, _>>()?);
        *known.lock() = Some(Known { version, tokens: Arc::clone(&tokens) });
        Ok(tokens)
    }

    /// Looks whether somebody else changed the tokens of a store.
    pub fn look(&self) -> Result<(), StoreError> {
        if let Place::Store { journal, known } = &self.0 {
            let version = journal.tokens_version()?;
            let is_known = known.lock().as_ref().is_some_and(|known| known.version == version);
            if !is_known {
                *known.lock() = None;
                self.list()?;
            }
        }
        Ok(())
    }

    /// The store that they are in, if it is one that several processes share.
    pub(crate) fn journal(&self) -> Option<&Arc<Journal>> {
        match &self.0 {
            Place::File(_) => None,
            Place::Store { journal, .. } => Some(journal),
        }
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
        match &self.0 {
            Place::File(file) => file.change(|tokens| {
                if tokens.iter().any(|known| known.name == token.name) {
                    return Err(StoreError::NameTaken(token.name.clone()));
                }
                tokens.push(token.clone());
                Ok(())
            })?,
            Place::Store { journal, known } => {
                let document = serde_json::to_string(&token)
                    .map_err(|error| StoreError::Unreadable { id: token.id.clone(), error })?;
                let (id, name) = (token.id.clone(), token.name.clone());
                if !journal.put_token(&KeptToken { id, name, document })? {
                    return Err(StoreError::NameTaken(token.name));
                }
                *known.lock() = None;
            }
        }
        Ok((token, secret))
    }

    /// Revokes the token with this id or name.
    pub fn remove(&self, name: &str) -> Result<Token, StoreError> {
        let unknown = || StoreError::Unknown(name.to_owned());
        let is_meant = |token: &Token| token.id == name || token.name == name;
        match &self.0 {
            Place::File(file) => {
                let mut removed = None;
                file.change(|tokens| {
                    let found = tokens.iter().position(is_meant).ok_or_else(unknown)?;
                    removed = Some(tokens.remove(found));
                    Ok(())
                })?;
                removed.ok_or_else(unknown)
            }
            Place::Store { journal, known } => {
                *known.lock() = None;
                let found = self.list()?.iter().find(|token| is_meant(token)).cloned();
                let token = found.ok_or_else(unknown)?;
                let was_there = journal.remove_token(&token.id)?;
                *known.lock() = None;
                if was_there { Ok(token) } else { Err(unknown()) }
            }
        }
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
