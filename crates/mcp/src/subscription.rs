//! `subscriptions/listen`, with which a modern client asks to be told of changes.

use std::collections::BTreeSet;

use indexmap::IndexSet;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// The parameters of the request.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Params {
    pub(crate) notifications: Filter,
}

/// What a client wants to be told of, as on the wire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Filter {
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) tools_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) prompts_list_changed: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) resources_list_changed: bool,
    #[serde(skip_serializing_if = "IndexSet::is_empty")]
    pub(crate) resource_subscriptions: IndexSet<String>,
}

impl Filter {
    /// All lists, no resource: what a legacy session is told of from the start.
    pub(crate) fn lists() -> Self {
        Self {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            resource_subscriptions: IndexSet::new(),
        }
    }

    /// All lists and these resources.
    pub(crate) fn lists_and(resources: &BTreeSet<String>) -> Self {
        Self { resource_subscriptions: resources.iter().cloned().collect(), ..Self::lists() }
    }

    /// What of it a server's capabilities promise.
    pub(crate) fn promised_by(self, capabilities: &RawValue) -> Self {
        let capabilities: Value = serde_json::from_str(capabilities.get()).unwrap_or_default();
        let promises = |what: &str, how: &str| capabilities[what][how] == true;
        let Self {
            tools_list_changed,
            prompts_list_changed,
            resources_list_changed,
            mut resource_subscriptions,
        } = self;
        if !promises("resources", "subscribe") {
            resource_subscriptions.clear();
        }
        Self {
            tools_list_changed: tools_list_changed && promises("tools", "listChanged"),
            prompts_list_changed: prompts_list_changed && promises("prompts", "listChanged"),
            resources_list_changed: resources_list_changed && promises("resources", "listChanged"),
            resource_subscriptions,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::message::raw;

    #[test]
    fn only_what_is_promised_is_left() {
        let asked = || Filter::lists_and(&["a:b".to_owned()].into());
        let offered = json!({"tools": {"listChanged": true}, "resources": {"x": 1}});
        let left = asked().promised_by(&raw(&offered));
        assert_eq!(raw(&left).get(), r#"{"toolsListChanged":true}"#);
        let all = json!({
            "prompts": {"listChanged": true},
            "tools": null,
            "resources": {"listChanged": true, "subscribe": true}
        });
        assert_eq!(
            raw(&asked().promised_by(&raw(&all))).get(),
            r#"{"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["a:b"]}"#
        );
        assert_eq!(asked().promised_by(RawValue::NULL), Filter::default());
    }
}
