//! How a process that is told to end lets what is under way finish, and gives up the rest.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Whether the process is about to end, and what is still under way. A clone is the same one.
#[derive(Clone, Default)]
pub struct Drain {
    begun: CancellationToken,
    given_up: CancellationToken,
    under_way: Arc<watch::Sender<usize>>,
}

/// Something under way, until this is dropped.
pub struct UnderWay(Arc<watch::Sender<usize>>);

impl Drain {
    /// Counts something as under way. Whoever finds afterwards that nothing new is taken any more
    /// must not begin it: what is counted before that is waited for.
    pub fn enter(&self) -> UnderWay {
        self.under_way.send_modify(|count| *count += 1);
        UnderWay(Arc::clone(&self.under_way))
    }

    /// Whether nothing new is taken any more.
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Waits until nothing new is taken any more.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// A token that fires when what is under way is given up.
    pub fn cancel(&self) -> CancellationToken {
        self.given_up.child_token()
    }

    /// Takes nothing new from here on, and waits until nothing is under way, for so long at most.
    pub async fn drain(&self, timeout: Duration) {
        self.begun.cancel();
        let waiting = *self.under_way.borrow();
        tracing::info!(waiting, "no new calls are taken; those under way may finish");
        if !self.is_over(timeout).await {
            let left = *self.under_way.borrow();
            tracing::warn!(left, "calls did not finish within {timeout:?} and are given up");
        }
    }

    /// Takes nothing new, and gives up what is under way.
    pub fn give_up(&self) {
        self.begun.cancel();
        self.given_up.cancel();
    }

    /// Whether nothing is under way within a time.
    pub async fn is_over(&self, within: Duration) -> bool {
        let mut under_way = self.under_way.subscribe();
        tokio::time::timeout(within, under_way.wait_for(|count| *count == 0)).await.is_ok()
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
