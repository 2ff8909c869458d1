//! Keeps a modern server's stream of list changes open.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection::{CallOptions, Link};
use super::handshake::Negotiated;
use super::{ClientError, RequestOptions};
use crate::message::{Raw, raw};
use crate::subscription::{Filter, Params};

/// The pause before a stream that ended is opened again; it doubles while streams end at once.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// A stream that lived this long was a good one.
const GOOD: Duration = Duration::from_secs(10);

/// Opens `subscriptions/listen` for the list changes the server offers, and keeps it open until
/// the connection ends.
pub(super) fn keep_listening(
    link: &Link,
    negotiated: &Negotiated,
    envelope: Vec<(String, Raw)>,
    stop: CancellationToken,
) {
    let Some(params) = params_of(&negotiated.capabilities) else { return };
    let link = link.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = stop.cancelled() => {}
            _ = link.calls.wait_closed() => {}
            () = listen(&link, &params, &envelope) => {}
        }
    });
}

async fn listen(link: &Link, params: &Raw, envelope: &[(String, Raw)]) {
    let mut pause = FIRST_PAUSE;
    loop {
        let opened = Instant::now();
        let options = CallOptions {
            request: RequestOptions { timeout: Duration::MAX, ..RequestOptions::default() },
            is_listening: true,
            tells_cancel: true,
        };
        let ended =
            link.call("subscriptions/listen", Some(params.clone()), envelope, options).await;
        if let Err(error @ ClientError::Rpc(_)) = ended {
            tracing::debug!(%error, "the server does not let us listen for changes");
            return;
        }
        pause = if opened.elapsed() >= GOOD { FIRST_PAUSE } else { pause };
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The parameters for what the server offers, if it offers any.
fn params_of(capabilities: &Raw) -> Option<Raw> {
    let notifications = Filter::lists().promised_by(capabilities);
    (notifications != Filter::default()).then(|| raw(&Params { notifications }))
}
