//! The state of a server that asks in rounds, on its way through a modern client.
//!
//! The server gets back what it wrote, but the client neither reads nor writes it: what it is given
//! is encrypted, and opens only for the same caller, the same request and a while.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use arc_swap::ArcSwap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcpgraph_graph::Digest;
use mcpgraph_journal::Seals;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::Call;
use serde_json::value::RawValue;

use crate::relay::{self, CLIENT_PATIENCE};

/// The members by which a client answers.
pub(crate) const STATE: &str = "requestState";
pub(crate) const RESPONSES: &str = "inputResponses";

/// What sealed states begin with.
const PREFIX: &str = "mcpgraph-sealed-";

/// What a state is bound to: only the same caller goes on, and only with the same request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    principal: Option<Arc<str>>,
    server: String,
    method: String,
    /// Names the parameters but for those that differ from round to round.
    params: Digest,
}

/// Seals states, and says when it did.
pub(crate) struct Seal {
    seals: ArcSwap<Seals>,
    /// A moment by both clocks.
    since: (Instant, SystemTime),
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
    /// A seal with a new key that ends with the process.
    pub(crate) fn new() -> Self {
        let seals = ArcSwap::from_pointee(Seals::own());
        Self { seals, since: (Instant::now(), SystemTime::now()) }
    }

    /// Seals with the keys of a store, in the place of those before.
    pub(crate) fn set(&self, seals: Arc<Seals>) {
        self.seals.store(seals);
    }

    /// What a client is given in the place of a state.
    pub(crate) fn close(
        &self,
        state: &RawValue,
        bound: &Bound,
        now: Instant,
    ) -> Result<String, RpcError> {
        let made = self.age(now).to_be_bytes();
        let sealed = self.seals.load().close(state.get().as_bytes().to_vec(), &about(made, bound));
        let sealed =
            sealed.ok_or_else(|| RpcError::internal(format!("`{STATE}` cannot be sealed")))?;
        Ok(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode([&made[..], &sealed].concat())))
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
        let (made, sealed) = sealed.split_first_chunk::<8>()?;
        let state = self.seals.load().open(sealed, &about(*made, bound))?;
        Some((u64::from_be_bytes(*made), serde_json::from_slice(&state).ok()?))
    }
}

/// The answer for a state that is not this caller's for this request. It says no more than that.
pub(crate) fn foreign() -> RpcError {
    RpcError::invalid_params(format!(
        "`{STATE}` is of no question that waits for this client and this request"
    ))
}

/// What a seal is about: what it is bound to, and when it was made.
fn about(made: [u8; 8], bound: &Bound) -> Vec<u8> {
    [&made[..], &bound.to_bytes()].concat()
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
