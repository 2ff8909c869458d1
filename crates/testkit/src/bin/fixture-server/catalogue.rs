//! What the server lists, read from `catalogue.json`.

use anyhow::Context;
use rmcp::model::{Prompt, Resource, ResourceTemplate, Tool};
use serde_json::Value;

/// The lists, as they go to every client.
pub(crate) struct Catalogue {
    pub(crate) tools: Vec<Tool>,
    pub(crate) prompts: Vec<Prompt>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) templates: Vec<ResourceTemplate>,
}

impl Catalogue {
    pub(crate) fn read() -> anyhow::Result<Self> {
        let mut lists: Value = serde_json::from_str(include_str!("catalogue.json"))?;
        let mut list = |key: &str| lists[key].take();
        Ok(Self {
            tools: serde_json::from_value(list("tools")).context("tools")?,
            prompts: serde_json::from_value(list("prompts")).context("prompts")?,
            resources: serde_json::from_value(list("resources")).context("resources")?,
            templates: serde_json::from_value(list("templates")).context("templates")?,
        })
    }
}
