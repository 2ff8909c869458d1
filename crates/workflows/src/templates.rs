//! Workflows to begin with.

use mcpgraph_value::{Map, Value};

use crate::LibraryError;

/// A workflow to begin with.
#[derive(Clone, Copy, Debug)]
pub struct Template {
    /// What it is called.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    text: &'static str,
}

macro_rules! templates {
    ($($name:literal: $about:literal;)*) => {
        /// Every template there is.
        pub const TEMPLATES: &[Template] = &[$(Template {
            name: $name,
            about: $about,
            text: include_str!(concat!("../templates/", $name, ".json")),
        }),*];
    };
}

templates! {
    "block-tools": "Refuses calls of tools by their names";
    "redact": "Masks fields of every result";
    "audit-log": "Notes every call and every answer in the record, without delaying any";
    "limit-arguments": "Keeps numbers in arguments below a limit, by a branch";
    "tidy-list": "Shows fewer tools, under better names";
}

impl Template {
    /// The template of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        TEMPLATES.iter().find(|template| template.name == name)
    }

    /// A definition with a name of its own. It is not enabled.
    pub fn definition(&self, name: &str) -> Result<Value, LibraryError> {
        let text = Value::from_json(self.text)
            .map_err(|error| LibraryError::NotAWorkflow(error.to_string()))?;
        let mut members = Map::new();
        members.insert("id", name);
        members.insert("name", name);
        if let Value::Object(given) = &text {
            for (key, value) in given.iter() {
                members.insert(key.clone(), value.clone());
            }
        }
        members.insert("enabled", false);
        Ok(members.into())
    }
}
