//! `subscriptions/listen`: a modern client is told of changes for as long as it listens.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::broadcast::Filter;
use super::dispatch::{Admitted, Server, params, too_many_resources};
use super::edit;
use super::in_flight::Wanted;
use super::outlet::Outlet;
use crate::message::{Id, Message, Notification, Raw, RpcError, raw};
use crate::meta_key;

impl Server {
    pub(super) async fn listen(
        &self,
        admitted: &Admitted,
        wanted: &Wanted,
        outlet: &dyn Outlet,
    ) -> Result<Raw, RpcError> {
        #[derive(Deserialize)]
        struct Params {
            notifications: Filter,
        }
        let limits = self.limits();
        let Params { notifications: asked } = params(&admitted.request)?;
        if asked.resource_subscriptions.len() > limits.max_watched_resources {
            return Err(too_many_resources(limits.max_watched_resources));
        }
        let _place = self.listeners().try_acquire().map_err(|_| {
            RpcError::internal(format!(
                "too many clients listen: the limit is {}",
                limits.max_listeners
            ))
        })?;
        let description = self.service().describe(&admitted.client).await;
        let accepted = accept(asked, &description.capabilities);
        let id = &admitted.request.id;
        let acknowledged = raw(&serde_json::json!({ "notifications": accepted }));
        let subscriber = self.broadcaster().subscribe(accepted);
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

/// What of `asked` the server's capabilities promise.
fn accept(asked: Filter, capabilities: &RawValue) -> Filter {
    #[derive(Default, Deserialize)]
    #[serde(rename_all = "camelCase", default)]
    struct Feature {
        list_changed: bool,
        subscribe: bool,
    }
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct Capabilities {
        tools: Feature,
        prompts: Feature,
        resources: Feature,
    }
    let offered: Capabilities = serde_json::from_str(capabilities.get()).unwrap_or_default();
    Filter {
        tools_list_changed: asked.tools_list_changed && offered.tools.list_changed,
        prompts_list_changed: asked.prompts_list_changed && offered.prompts.list_changed,
        resources_list_changed: asked.resources_list_changed && offered.resources.list_changed,
        resource_subscriptions: if offered.resources.subscribe {
            asked.resource_subscriptions
        } else {
            indexmap::IndexSet::new()
        },
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
    fn only_what_is_offered_is_accepted() {
        let asked = || Filter {
            resource_subscriptions: ["a:b".to_owned()].into_iter().collect(),
            ..Filter::lists()
        };
        let offered = serde_json::json!({"tools": {"listChanged": true}, "resources": {"x": 1}});
        let accepted = accept(asked(), &raw(&offered));
        assert_eq!(raw(&accepted).get(), r#"{"toolsListChanged":true}"#);
        let all = serde_json::json!({
            "prompts": {"listChanged": true},
            "resources": {"listChanged": true, "subscribe": true}
        });
        assert_eq!(
            raw(&accept(asked(), &raw(&all))).get(),
            r#"{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b"]}"#
        );
        assert_eq!(accept(asked(), RawValue::NULL), Filter::default());
    }

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
