use std::sync::OnceLock;

use tokio_util::sync::CancellationToken;

use crate::Stopped;

/// How one execution is told that it must stop.
#[derive(Default)]
pub(crate) struct Halt {
    token: CancellationToken,
    why: OnceLock<Stopped>,
}

impl Halt {
    pub(crate) fn stop(&self, why: Stopped) {
        // The first reason is the telling one.
        self.why.set(why).unwrap_or_default();
        self.token.cancel();
    }

    pub(crate) fn token(&self) -> &CancellationToken {
        &self.token
    }

    pub(crate) fn why(&self) -> Option<Stopped> {
        self.why.get().cloned()
    }
}
