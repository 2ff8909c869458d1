//! Sessions that several processes serve: one that another process began goes on here.

use std::sync::{Arc, Weak};

use http::StatusCode;

use super::Http;
use super::respond::{Refused, refuse};
use super::sessions::HttpSession;
use crate::message::{Id, RpcError, code};
use crate::server::client::SessionKey;
use crate::server::saved::{SessionChange, SessionStore, SessionsAway};

impl Http {
    /// The session with this key, whichever process it began in. While sessions cannot be looked up,
    /// those that are known here go on.
    pub(super) async fn find_session(
        self: &Arc<Self>,
        key: &str,
    ) -> Result<Option<Arc<HttpSession>>, SessionsAway> {
        let known = self.sessions.get(key);
        let Some(store) = &self.config.sessions else { return Ok(known) };
        if let Some(known) = known.as_ref().filter(|known| known.is_certain()) {
            return Ok(Some(Arc::clone(known)));
        }
        match (store.find(key).await, known) {
            (Ok(Some(saved)), Some(known)) => {
                known.session.take_over(&saved);
                known.set_certain(true);
                Ok(Some(known))
            }
            (Ok(Some(saved)), None) => {
                let session = self.server.restore(key, &saved, store);
                let (restored, removed) = self.sessions.restore(session, &self.stop);
                if let Some(removed) = removed {
                    removed.close_here();
                }
                if restored.begin_telling() {
                    tokio::spawn(Arc::clone(&restored).tell_changes());
                }
                Ok(Some(restored))
            }
            (Ok(None), _) => {
                if let Some(ended) = self.sessions.remove(key) {
                    ended.close_here();
                }
                Ok(None)
            }
            (Err(error), Some(known)) => {
                tracing::debug!(%error, "a session goes on as it is known here");
                Ok(Some(known))
            }
            (Err(error), None) => Err(error),
        }
    }

    /// Lets go of a session that is not used here. Others may go on with it if it is theirs, too.
    pub(super) async fn let_go(&self, session: &HttpSession) {
        session.close_here();
        if self.config.sessions.is_none() {
            self.server.service().closed(&session.session.client).await;
        }
    }

    /// Ends what nobody has used for long, in any process, and has what is used here kept.
    pub(super) async fn sweep_shared(&self, store: &Arc<dyn SessionStore>) {
        for key in self.sessions.busy() {
            store.keep(&key).await;
        }
        for (key, saved) in store.expire(self.server.limits().session_idle).await {
            let client = Arc::new(saved.client(SessionKey::known(&key)));
            self.server.service().closed(&client).await;
        }
    }
}

/// Does what other processes say of sessions, until the endpoint is gone.
pub(super) async fn hear(http: Weak<Http>, store: Arc<dyn SessionStore>) {
    let mut news = store.news();
    let Some(shutdown) = http.upgrade().map(|http| http.server.shutdown().clone()) else { return };
    loop {
        let change = tokio::select! {
            change = news.next() => change,
            () = shutdown.cancelled() => return,
        };
        let (Some(change), Some(http)) = (change, http.upgrade()) else { return };
        match change {
            SessionChange::Changed(key) => {
                if let Some(known) = http.sessions.peek(&key) {
                    known.set_certain(false);
                    // One that has ended has to close what it streams.
                    drop(http.find_session(&key).await);
                }
            }
            SessionChange::Withdrawn { key, request } => {
                let id = serde_json::from_str::<Id>(&request).ok();
                if let (Some(known), Some(id)) = (http.sessions.peek(&key), id) {
                    known.calls.withdraw(&id);
                }
            }
            SessionChange::Anything => http.sessions.doubt_all(),
        }
    }
}

/// The refusal of a request whose session cannot be looked up.
pub(super) fn away(id: Option<&Id>, error: &SessionsAway) -> Refused {
    let error = RpcError::new(code::UNAVAILABLE, error.to_string());
    refuse(StatusCode::SERVICE_UNAVAILABLE, id.cloned(), error)
}
