use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use mcpgraph_graph::glob::fits;

use crate::lease::Leases;
use crate::rate::Buckets;
use crate::{Grant, Rate, StoreError, Token, Tokens};

/// What a server asks before it lets somebody do something. Until there is a token it asks nothing;
/// from then on it does, also when the last one is gone.
pub struct Access {
    tokens: Tokens,
    asks: AtomicBool,
    counting: Counting,
}

/// Who counts requests.
enum Counting {
    /// This process by itself.
    Alone(Buckets),
    /// All processes that share the store of the tokens.
    Together(Leases),
}

/// Somebody asks for more than was granted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {rate} requests; try again in {} ms", wait.as_millis())]
pub struct TooMany {
    /// What is granted.
    pub rate: Rate,
    /// How long to wait.
    pub wait: Duration,
}

impl Access {
    /// Access by these tokens.
    pub fn new(tokens: Tokens) -> Arc<Self> {
        let counting = match tokens.journal() {
            Some(journal) => Counting::Together(Leases::new(Arc::clone(journal))),
            None => Counting::Alone(Buckets::default()),
        };
        Arc::new(Self { tokens, asks: AtomicBool::new(false), counting })
    }

    /// Whether a token is asked for, now that it is looked: there is one, or was. Where that cannot
    /// be seen, one is.
    pub fn asks(&self) -> bool {
        if !self.asks_yet() && self.tokens.list().map_or(true, |tokens| !tokens.is_empty()) {
            self.asks.store(true, Ordering::Release);
        }
        self.asks_yet()
    }

    /// Whether a token was asked for when it was last looked.
    pub fn asks_yet(&self) -> bool {
        self.asks.load(Ordering::Acquire)
    }

    /// Who shows this token; none if it is none, or has ended or was revoked.
    pub fn identify(&self, secret: &str) -> Result<Option<Token>, StoreError> {
        self.tokens.find(secret, SystemTime::now())
    }

    /// What the token with this id grants now; nothing at all if it was revoked.
    pub fn grant(&self, id: &str) -> Option<Grant> {
        self.tokens.with_id(id, SystemTime::now()).ok()?.map(|token| token.grant)
    }

    /// What people call the token with this id; none if it was revoked.
    pub fn name(&self, id: &str) -> Option<String> {
        self.tokens.with_id(id, SystemTime::now()).ok()?.map(|token| token.name)
    }

    /// Looks whether another process made or revoked tokens, which blocks as files do.
    pub fn look(&self) -> Result<(), StoreError> {
        self.tokens.look()?;
        self.asks();
        Ok(())
    }

    /// Forgets what nothing has been spent of for long, which blocks as files do.
    pub fn tidy(&self) -> Result<(), StoreError> {
        match &self.counting {
            Counting::Alone(_) => Ok(()),
            Counting::Together(leases) => Ok(leases.tidy()?),
        }
    }

    /// Counts a request of the token with this id; with the tool that it calls, if it calls one.
    pub async fn count(&self, id: &str, tool: Option<&str>) -> Result<(), TooMany> {
        let Ok(Some(token)) = self.tokens.with_id(id, SystemTime::now()) else { return Ok(()) };
        let key = |what: &str| (token.id.clone(), what.to_owned());
        let mut rates: Vec<_> = token.rate.map(|rate| (key(""), rate)).into_iter().collect();
        if let Some(tool) = tool {
            let fitting = token.tool_rates.iter().filter(|(pattern, _)| fits(pattern, tool));
            rates.extend(fitting.map(|(pattern, rate)| (key(pattern), *rate)));
        }
        let taken = match &self.counting {
            Counting::Alone(buckets) => buckets.take(&rates, Instant::now()),
            Counting::Together(leases) => leases.take(&rates).await,
        };
        taken.map_err(|(rate, wait)| TooMany { rate, wait })
    }
}
