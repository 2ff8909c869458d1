//! `notifications/cancelled`, which either side sends about a request of its own.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::message::{Id, Message, Notification, raw};

/// The method of the notification.
pub(crate) const METHOD: &str = "notifications/cancelled";

/// Tells the other side that the answer to a request is no longer wanted.
pub(crate) fn message(id: &Id, reason: &str) -> Message {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        request_id: &'a Id,
        reason: &'a str,
    }
    let params = raw(&Params { request_id: id, reason });
    Message::Notification(Notification { method: METHOD.to_owned(), params: Some(params) })
}

/// Which request the parameters of the notification are about.
pub(crate) fn id_in(params: Option<&RawValue>) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        request_id: Id,
    }
    let params: Params = serde_json::from_str(params?.get()).ok()?;
    Some(params.request_id)
}
