use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::SealKey;
use super::keys::KEY_BYTES;
use crate::{Journal, JournalError};

/// How long a key is known before it is used, so that every process that opens seals knows it too.
const KEY_SPREAD: Duration = Duration::from_mins(2);

/// How long the keys that were read are used before the store is asked again: a new one is known
/// everywhere before it is used.
const LOOK: Duration = Duration::from_secs(KEY_SPREAD.as_secs() / 4);

/// How long a key is used for new seals: 7 days.
const RENEW: Duration = Duration::from_hours(7 * 24);

/// How long a key is kept for what it sealed: two years. A run may wait for long.
const FORGET: Duration = Duration::from_hours(2 * 365 * 24);

/// How long the part of a seal is that everybody can read: the number of its key, and what makes it
/// unlike all others.
const HEAD: usize = 8 + NONCE_LEN;

/// The number of a key that no store has.
const OWN_KEY: i64 = 0;

/// Seals things, so that nobody reads or changes them who does not have the keys: those of a store,
/// which all processes with that store share, or one that only this process has.
#[derive(Default)]
pub struct Seals {
    /// By their numbers.
    known: HashMap<i64, LessSafeKey>,
    /// The key for new seals; none where the system gives no random numbers.
    current: Option<i64>,
}

/// The seals of a store as they were read.
pub(crate) type ReadSeals = Option<(Instant, Arc<Seals>)>;

impl Seals {
    /// Seals with a new key that ends with the process.
    pub fn own() -> Self {
        Self::with(new_key().map(|key| (OWN_KEY, key)), Some(OWN_KEY))
    }

    /// Seals with the keys of a store, newest first.
    pub(crate) fn new(keys: &[SealKey]) -> Self {
        let usable = keys.iter().find(|key| key.age >= KEY_SPREAD).or(keys.last());
        Self::with(keys.iter().map(|key| (key.no, key.key)), usable.map(|key| key.no))
    }

    fn with(known: impl IntoIterator<Item = (i64, [u8; KEY_BYTES])>, current: Option<i64>) -> Self {
        let known = known.into_iter().filter_map(|(number, key)| {
            let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?;
            Some((number, LessSafeKey::new(key)))
        });
        Self { known: known.collect(), current }
    }

    /// Seals something; it opens only as what it was said to be. None where the system gives no
    /// random numbers.
    pub fn close(&self, mut body: Vec<u8>, about: &[u8]) -> Option<Vec<u8>> {
        let number = self.current?;
        let key = self.known.get(&number)?;
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&number.to_be_bytes());
        getrandom::fill(&mut head[8..]).ok()?;
        key.seal_in_place_append_tag(nonce(&head), aad(&head, about), &mut body).ok()?;
        Some([&head[..], &body].concat())
    }

    /// What was sealed; none if it was touched, or is something else, or its key is not known.
    pub fn open(&self, sealed: &[u8], about: &[u8]) -> Option<Vec<u8>> {
        let (head, body) = sealed.split_first_chunk::<HEAD>()?;
        let key = self.known.get(&key_number(sealed)?)?;
        let mut body = body.to_vec();
        let length = key.open_in_place(nonce(head), aad(head, about), &mut body).ok()?.len();
        body.truncate(length);
        Some(body)
    }

    /// Whether the key of a seal is known.
    fn has_key(&self, sealed: &[u8]) -> bool {
        key_number(sealed).is_some_and(|number| self.known.contains_key(&number))
    }
}

impl Journal {
    /// The seals of this store, as they are now. Blocks as files do.
    pub fn renew_seals(&self) -> Result<Arc<Seals>, JournalError> {
        let fresh = new_key().ok_or(JournalError::NoRandom)?;
        let seals = Arc::new(Seals::new(&self.seal_keys(&fresh, RENEW, FORGET)?));
        *self.seals.lock() = Some((Instant::now(), Arc::clone(&seals)));
        Ok(seals)
    }

    /// Seals a text for whoever has this store. What it is about has to be said again to open it.
    pub fn seal(&self, text: &str, about: &str) -> Result<String, JournalError> {
        let sealed = self.seals()?.close(text.as_bytes().to_vec(), about.as_bytes());
        Ok(URL_SAFE_NO_PAD.encode(sealed.ok_or(JournalError::NoRandom)?))
    }

    /// The text that was sealed; none if it is not what it is said to be, or its key is gone.
    pub fn unseal(&self, sealed: &str, about: &str) -> Result<Option<String>, JournalError> {
        let Ok(sealed) = URL_SAFE_NO_PAD.decode(sealed) else { return Ok(None) };
        let mut seals = self.seals()?;
        if !seals.has_key(&sealed) {
            seals = self.renew_seals()?;
        }
        let opened = seals.open(&sealed, about.as_bytes());
        Ok(opened.and_then(|text| String::from_utf8(text).ok()))
    }

    fn seals(&self) -> Result<Arc<Seals>, JournalError> {
        let read = self.seals.lock().clone();
        match read {
            Some((at, seals)) if at.elapsed() < LOOK => Ok(seals),
            // While the store cannot be asked, what it said before is good enough.
            Some((_, seals)) => Ok(self.renew_seals().unwrap_or(seals)),
            None => self.renew_seals(),
        }
    }
}

/// A key; none where the system gives no random numbers.
fn new_key() -> Option<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    getrandom::fill(&mut key).ok().map(|()| key)
}

fn key_number(sealed: &[u8]) -> Option<i64> {
    Some(i64::from_be_bytes(*sealed.first_chunk::<8>()?))
}

/// It is random: several processes have the key. Keys are renewed long before two seals of one could
/// be expected to have the same.
fn nonce(head: &[u8; HEAD]) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes.copy_from_slice(&head[8..]);
    Nonce::assume_unique_for_key(bytes)
}

fn aad(head: &[u8; HEAD], about: &[u8]) -> Aad<Vec<u8>> {
    Aad::from([&head[..], about].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(no: i64, age: Duration) -> SealKey {
        SealKey { no, key: [u8::try_from(no).unwrap(); 32], age }
    }

    #[test]
    fn what_one_process_seals_another_opens() {
        // A key that is new is used by nobody else yet, unless there is no other.
        let one = Seals::new(&[key(1, Duration::ZERO)]);
        let two = Seals::new(&[key(2, Duration::ZERO), key(1, KEY_SPREAD)]);
        let by_one = one.close(b"1".to_vec(), b"x").unwrap();
        let by_two = two.close(b"2".to_vec(), b"x").unwrap();
        assert_eq!(two.open(&by_one, b"x").unwrap(), b"1");
        assert_eq!(one.open(&by_two, b"x").unwrap(), b"2");
        // An old key opens what it sealed for as long as it is kept.
        let two = Seals::new(&[key(2, KEY_SPREAD), key(1, KEY_SPREAD * 2)]);
        let by_two = two.close(b"3".to_vec(), b"x").unwrap();
        assert_eq!(one.open(&by_two, b"x"), None);
        let one = Seals::new(&[key(2, KEY_SPREAD)]);
        assert_eq!(one.open(&by_two, b"x").unwrap(), b"3");
        assert_eq!(one.open(&by_one, b"x"), None);
        // Nobody else has the key of a process.
        let own = Seals::own();
        let by_own = own.close(b"4".to_vec(), b"x").unwrap();
        assert_eq!(own.open(&by_own, b"x").unwrap(), b"4");
        assert_eq!(Seals::own().open(&by_own, b"x"), None);
    }

    #[test]
    fn what_was_touched_or_is_something_else_does_not_open() {
        let seals = Seals::own();
        let sealed = seals.close(b"position".to_vec(), b"x").unwrap();
        assert!(!sealed.windows(8).any(|part| part == b"position"));
        assert_eq!(seals.open(&sealed, b"y"), None);
        for place in 0..sealed.len() {
            let mut touched = sealed.clone();
            touched[place] ^= 1;
            assert_eq!(seals.open(&touched, b"x"), None, "{place}");
        }
        for length in 0..sealed.len() {
            assert_eq!(seals.open(&sealed[..length], b"x"), None, "{length}");
        }
    }
}
