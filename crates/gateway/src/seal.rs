//! The state of a server that asks in rounds, on its way through a modern client.
//!
//! The server gets back what it wrote, but the client neither reads nor writes it: what it is given
//! is encrypted, and opens only for the same caller, the same request and a while.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcpgraph_graph::Digest;
use mcpgraph_journal::SealKey;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::Call;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use serde_json::value::RawValue;

use crate::relay::{self, CLIENT_PATIENCE};

/// The members by which a client answers.
pub(crate) const STATE: &str = "requestState";
pub(crate) const RESPONSES: &str = "inputResponses";

/// What sealed states begin with.
const PREFIX: &str = "mcpgraph-sealed-";

/// How long the part of a seal is that everybody can read: the number of its key, when it was made,
/// and what makes it unlike all others.
const HEAD: usize = 16 + NONCE_LEN;

/// The number of a key that no store has.
const OWN_KEY: i64 = 0;

/// How long a key is known before it is used, so that every process that opens seals knows it too.
pub const KEY_SPREAD: Duration = Duration::from_mins(2);

/// What a state is bound to: only the same caller goes on, and only with the same request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    principal: Option<Arc<str>>,
    server: String,
    method: String,
    /// Names the parameters but for those that differ from round to round.
    params: Digest,
}

/// Seals states: with a key that only this process has and that ends with it, or with those that all
/// processes with one store share.
pub(crate) struct Seal {
    keys: ArcSwap<Keys>,
    /// A moment by both clocks.
    since: (Instant, SystemTime),
}

/// The keys that open seals, and which of them is used for new ones.
#[derive(Default)]
struct Keys {
    /// By their numbers.
    known: HashMap<i64, LessSafeKey>,
    /// None where the system gives no random numbers.
    current: Option<i64>,
}

impl Bound {
    /// The request of a client that is passed on to a server.
    pub(crate) fn of(server: &str, call: &Call) -> Result<Self, RpcError> {
        let mut params = relay::params(call)?;
        params.retain(|key, _| ![STATE, RESPONSES].contains(&key.as_str()));
        Ok(Self {
            principal: call.client.principal.clone(),
            server: server.to_owned(),
            method: call.method.clone(),
            params: Digest::of(raw(&params).get()),
        })
    }

    /// What a ticket is bound to: nothing. Whose it is and what it is for, it says itself, so that
    /// one that is used wrongly can be told from one that was touched.
    pub(crate) fn ticket() -> Self {
        let (server, method) = (String::new(), "ticket".to_owned());
        Self { principal: None, server, method, params: Digest::of("") }
    }

    /// A name for it that is short and says nothing.
    pub(crate) fn name(&self) -> String {
        Digest::of(self.to_bytes()).to_string()
    }

    fn to_bytes(&self) -> Vec<u8> {
        let Self { principal, server, method, params } = self;
        raw(&(principal.as_deref(), server, method, params.to_string())).get().into()
    }
}

impl Seal {
    /// A seal with a new key of its own.
    pub(crate) fn new() -> Self {
        let own = new_key().map(|key| (OWN_KEY, key));
        let keys = ArcSwap::from_pointee(Keys::new(own, Some(OWN_KEY)));
        Self { keys, since: (Instant::now(), SystemTime::now()) }
    }

    /// Uses the keys of a store, newest first, in the place of those before.
    pub(crate) fn set_keys(&self, keys: &[SealKey]) {
        let usable = keys.iter().find(|key| key.age >= KEY_SPREAD).or(keys.last());
        let known = keys.iter().map(|key| (key.no, key.key));
        self.keys.store(Arc::new(Keys::new(known, usable.map(|key| key.no))));
    }

    /// What a client is given in the place of a state.
    pub(crate) fn close(
        &self,
        state: &RawValue,
        bound: &Bound,
        now: Instant,
    ) -> Result<String, RpcError> {
        let failed = || RpcError::internal(format!("`{STATE}` cannot be sealed"));
        let keys = self.keys.load();
        let (number, key) = keys.current().ok_or_else(failed)?;
        let mut head = [0; HEAD];
        head[..8].copy_from_slice(&number.to_be_bytes());
        head[8..16].copy_from_slice(&self.age(now).to_be_bytes());
        getrandom::fill(&mut head[16..]).map_err(|_| failed())?;
        let mut body = state.get().as_bytes().to_vec();
        key.seal_in_place_append_tag(nonce(&head), aad(&head, bound), &mut body)
            .map_err(|_| failed())?;
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([&head[..], &body].concat())))
    }

    /// The state that a client was given, if it is its own and the request is the same.
    pub(crate) fn open(&self, text: &str, bound: &Bound, now: Instant) -> Result<Raw, RpcError> {
        self.open_within(text, bound, now, CLIENT_PATIENCE)
    }

    /// The same, for what may have been sealed for so long.
    pub(crate) fn open_within(
        &self,
        text: &str,
        bound: &Bound,
        now: Instant,
        patience: Duration,
    ) -> Result<Raw, RpcError> {
        let (made, state) = self.opened(text, bound).ok_or_else(foreign)?;
        if Duration::from_millis(self.age(now).saturating_sub(made)) > patience {
            return Err(RpcError::invalid_params(format!(
                "`{STATE}` is older than {} s; call again without it",
                patience.as_secs()
            )));
        }
        Ok(state)
    }

    /// A moment in milliseconds since 1970, which all processes can compare.
    fn age(&self, now: Instant) -> u64 {
        let (instant, time) = self.since;
        let time = time + now.saturating_duration_since(instant);
        time.duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
    }

    /// When it was sealed, and what was.
    fn opened(&self, text: &str, bound: &Bound) -> Option<(u64, Raw)> {
        let sealed = URL_SAFE_NO_PAD.decode(text.strip_prefix(PREFIX)?).ok()?;
        let (head, body) = sealed.split_first_chunk::<HEAD>()?;
        let mut body = body.to_vec();
        let keys = self.keys.load();
        let key = keys.known.get(&i64::from_be_bytes(*head.first_chunk::<8>()?))?;
        let state = key.open_in_place(nonce(head), aad(head, bound), &mut body).ok()?;
        let made = u64::from_be_bytes(*head[8..].first_chunk::<8>()?);
        Some((made, serde_json::from_slice(state).ok()?))
    }
}

impl Keys {
    fn new(known: impl IntoIterator<Item = (i64, [u8; 32])>, current: Option<i64>) -> Self {
        let known = known.into_iter().filter_map(|(number, key)| {
            let key = UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?;
            Some((number, LessSafeKey::new(key)))
        });
        Self { known: known.collect(), current }
    }

    /// The key for new seals.
    fn current(&self) -> Option<(i64, &LessSafeKey)> {
        let number = self.current?;
        Some((number, self.known.get(&number)?))
    }
}

/// A key for seals; none where the system gives no random numbers.
pub fn new_key() -> Option<[u8; 32]> {
    let mut key = [0; 32];
    getrandom::fill(&mut key).ok().map(|()| key)
}

/// The answer for a state that is not this caller's for this request. It says no more than that.
pub(crate) fn foreign() -> RpcError {
    RpcError::invalid_params(format!(
        "`{STATE}` is of no question that waits for this client and this request"
    ))
}

/// It is random: several processes have the key. Keys are renewed long before two seals of one could
/// be expected to have the same.
fn nonce(head: &[u8; HEAD]) -> Nonce {
    let mut bytes = [0; NONCE_LEN];
    bytes.copy_from_slice(&head[16..]);
    Nonce::assume_unique_for_key(bytes)
}

fn aad(head: &[u8; HEAD], bound: &Bound) -> Aad<Vec<u8>> {
    Aad::from([&head[..], &bound.to_bytes()].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bound(principal: &str, server: &str, method: &str, params: &str) -> Bound {
        Bound {
            principal: Some(principal.into()),
            server: server.to_owned(),
            method: method.to_owned(),
            params: Digest::of(params),
        }
    }

    fn state(text: &str) -> Raw {
        serde_json::from_str(text).unwrap()
    }

    fn is_foreign(opened: Result<Raw, RpcError>) -> bool {
        opened.unwrap_err().message == foreign().message
    }

    #[test]
    fn a_state_comes_back_as_it_was_and_nobody_reads_it() {
        let (seal, now) = (Seal::new(), Instant::now());
        let mine = bound("me", "s", "tools/call", "{}");
        let written = r#""a secret \u00e9 position""#;
        let [one, two] = [0, 1].map(|_| seal.close(&state(written), &mine, now).unwrap());
        assert_ne!(one, two);
        let sealed = URL_SAFE_NO_PAD.decode(one.strip_prefix(PREFIX).unwrap()).unwrap();
        assert!(!sealed.windows(6).any(|part| part == b"secret"));
        for text in [&one, &two] {
            assert_eq!(seal.open(text, &mine, now).unwrap().get(), written);
        }
    }

    #[test]
    fn it_opens_for_the_same_caller_and_request_only() {
        let (seal, now) = (Seal::new(), Instant::now());
        let mine = bound("me", "s", "tools/call", "{}");
        let sealed = seal.close(&state("\"x\""), &mine, now).unwrap();
        let anonymous = Bound { principal: None, ..bound("me", "s", "tools/call", "{}") };
        for other in [
            bound("you", "s", "tools/call", "{}"),
            bound("me", "t", "tools/call", "{}"),
            bound("me", "s", "prompts/get", "{}"),
            bound("me", "s", "tools/call", "{\"a\":1}"),
            anonymous,
        ] {
            assert!(is_foreign(seal.open(&sealed, &other, now)), "{other:?}");
        }
        // Another process has another key.
        assert!(is_foreign(Seal::new().open(&sealed, &mine, now)));
    }

    fn key(no: i64, age: Duration) -> SealKey {
        SealKey { no, key: [u8::try_from(no).unwrap(); 32], age }
    }

    #[test]
    fn what_one_process_seals_another_opens() {
        let now = Instant::now();
        let mine = bound("me", "s", "tools/call", "{}");
        let [one, two] = [(); 2].map(|()| Seal::new());
        // A key that is new is used by nobody else yet, unless there is no other.
        one.set_keys(&[key(1, Duration::ZERO)]);
        two.set_keys(&[key(2, Duration::ZERO), key(1, KEY_SPREAD)]);
        let by_one = one.close(&state("1"), &mine, now).unwrap();
        let by_two = two.close(&state("2"), &mine, now).unwrap();
        assert_eq!(two.open(&by_one, &mine, now).unwrap().get(), "1");
        assert_eq!(one.open(&by_two, &mine, now).unwrap().get(), "2");
        // An old key opens what it sealed for as long as it is kept.
        two.set_keys(&[key(2, KEY_SPREAD), key(1, KEY_SPREAD * 2)]);
        let by_two = two.close(&state("3"), &mine, now).unwrap();
        assert!(is_foreign(one.open(&by_two, &mine, now)));
        one.set_keys(&[key(2, KEY_SPREAD)]);
        assert_eq!(one.open(&by_two, &mine, now).unwrap().get(), "3");
        assert!(is_foreign(one.open(&by_one, &mine, now)));
    }

    #[test]
    fn what_was_touched_is_refused() {
        let (seal, now) = (Seal::new(), Instant::now());
        let mine = bound("me", "s", "tools/call", "{}");
        let sealed = seal.close(&state("\"position\""), &mine, now).unwrap();
        let bytes = URL_SAFE_NO_PAD.decode(sealed.strip_prefix(PREFIX).unwrap()).unwrap();
        for place in 0..bytes.len() {
            let mut touched = bytes.clone();
            touched[place] ^= 1;
            let text = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(touched));
            assert!(is_foreign(seal.open(&text, &mine, now)), "{place}");
        }
        for text in ["", "x", PREFIX, &sealed[..sealed.len() - 1], &sealed[PREFIX.len()..]] {
            assert!(is_foreign(seal.open(text, &mine, now)), "{text}");
        }
    }

    #[test]
    fn it_is_good_for_a_while() {
        let (seal, now) = (Seal::new(), Instant::now());
        let mine = bound("me", "s", "tools/call", "{}");
        let sealed = seal.close(&state("\"x\""), &mine, now).unwrap();
        assert!(seal.open(&sealed, &mine, now + CLIENT_PATIENCE).is_ok());
        let late = seal.open(&sealed, &mine, now + CLIENT_PATIENCE + Duration::from_secs(1));
        assert!(late.unwrap_err().message.contains("older than 600 s"));
    }
}
