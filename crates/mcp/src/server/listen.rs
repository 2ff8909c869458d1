//! `subscriptions/listen`: a modern client is told of changes for as long as it listens.

use std::borrow::Cow;

use indexmap::IndexSet;

use super::dispatch::{Admitted, Server, params, too_many_resources};
use super::in_flight::Wanted;
use super::outlet::Outlet;
use crate::edit;
use crate::message::{Id, Message, Notification, Raw, RpcError, raw};
use crate::meta_key;
use crate::subscription::Params;

impl Server {
    pub(super) async fn listen(
        &self,
        admitted: &Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        let limits = self.limits();
        let Params { notifications: asked } = params(&admitted.request)?;
        if asked.resource_subscriptions.len() > limits.max_watched_resources {
            return Err(too_many_resources(limits.max_watched_resources));
        }
        let _place = self.listeners().try_acquire().map_err(|_| {
            RpcError::unavailable(format!(
                "too many clients listen: the limit is {}",
                limits.max_listeners
            ))
        })?;
        let description = self.service().describe(&admitted.client).await;
        let mut accepted = asked.promised_by(&description.capabilities);
        let mut seen = IndexSet::new();
        for uri in std::mem::take(&mut accepted.resource_subscriptions) {
            if self.service().may_watch(&admitted.client, &uri).await {
                seen.insert(uri);
            }
        }
        accepted.resource_subscriptions = seen;
        let id = &admitted.request.id;
        let acknowledged = raw(&serde_json::json!({ "notifications": accepted }));
        let subscriber = self.broadcaster().subscribe(accepted, admitted.client.clone());
        let send = async |method: &str, params: Option<Raw>| {
            let notification =
                Notification { method: method.to_owned(), params: Some(tagged(params, id)) };
            outlet.send(Message::Notification(notification)).await;
        };
        send("notifications/subscriptions/acknowledged", Some(acknowledged)).await;
        loop {
            tokio::select! {
                () = wanted.cancel.cancelled() => break,
                () = self.shutdown().cancelled() => break,
                change = subscriber.next() => {
                    let Notification { method, params } = change.to_notification();
                    send(&method, params).await;
                }
            }
        }
        Ok(tagged(None, id))
    }
}

/// Says in `_meta` which request the notification belongs to.
fn tagged(params: Option<Raw>, id: &Id) -> Raw {
    let params = params.map_or_else(|| Cow::Owned(raw(&serde_json::json!({}))), Cow::Owned);
    let meta = raw(&serde_json::json!({ meta_key::SUBSCRIPTION_ID: id }));
    edit::with_member(&params, "_meta", &meta).unwrap_or_else(|| params.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notifications_carry_the_id_as_it_was() {
        assert_eq!(
            tagged(Some(raw(&serde_json::json!({"uri": "a"}))), &Id::string("x")).get(),
            r#"{"uri":"a","_meta":{"io.modelcontextprotocol/subscriptionId":"x"}}"#
        );
        assert_eq!(
            tagged(None, &Id::number(4)).get(),
            r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":4}}"#
        );
    }
}
