//! Messages that are too long to be read.

use super::ids::number_of;
use super::{Calls, Owner};
use crate::client::ClientError;
use crate::excerpt::{Excerpt, Traits};

impl Calls {
    /// A message was too long to be read: the request it answers fails, and no other. Where that
    /// cannot be known, whoever waits for it finds out by its deadline.
    pub(in crate::client) fn too_large(
        &self,
        excerpt: &Excerpt,
        limit: usize,
        origin: Option<u64>,
    ) {
        let Traits { id, has_method } = excerpt.traits();
        let id = match id {
            _ if has_method => None,
            Some(id) => number_of(id.as_json()),
            None => match self.owner(origin) {
                Owner::Call(id) => Some(id),
                Owner::Connection => None,
            },
        };
        match id.and_then(|id| self.take(id)) {
            Some(pending) => drop(pending.done.send(Err(ClientError::TooLarge { limit }))),
            None => tracing::warn!(limit, "skipped a message of a server that is too long"),
        }
    }
}
