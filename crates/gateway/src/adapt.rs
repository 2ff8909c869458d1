//! Tools of exposed servers, as the file wants them offered: other names, descriptions, arguments.
//!
//! Everything that is not changed stays as the server wrote it.

use indexmap::IndexMap;
use mcpgraph_config::model::{ExposedArgument, ExposedTool};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use serde_json::value::RawValue;

/// The members of an object, each as it was written.
type Members = IndexMap<String, Raw>;

/// A tool as clients see it.
pub(crate) fn tool(tool: &RawValue, name: &str, as_wanted: Option<&ExposedTool>) -> Raw {
    let Ok(mut members) = serde_json::from_str::<Members>(tool.get()) else {
        return tool.to_owned();
    };
    members.insert("name".to_owned(), raw(name));
    if let Some(wanted) = as_wanted {
        if let Some(description) = &wanted.description {
            members.insert("description".to_owned(), raw(description.as_str()));
        }
        if let Some(schema) = members.get("inputSchema").filter(|_| !wanted.arguments.is_empty()) {
            let schema = input_schema(schema, &wanted.arguments);
            members.insert("inputSchema".to_owned(), schema);
        }
    }
    raw(&members)
}

/// A schema without hidden arguments, and with the defaults of the others.
fn input_schema(schema: &RawValue, arguments: &[ExposedArgument]) -> Raw {
    let Ok(mut members) = serde_json::from_str::<Members>(schema.get()) else {
        return schema.to_owned();
    };
    let properties = members.get("properties").map_or("{}", |properties| properties.get());
    if let Ok(mut properties) = serde_json::from_str::<Members>(properties) {
        for argument in arguments {
            let name = argument.name.as_str();
            if argument.is_hidden {
                properties.shift_remove(name);
            } else if let (Some(default), Some(property)) =
                (&argument.default, properties.get_mut(name))
                && let Ok(mut schema) = serde_json::from_str::<Members>(property.get())
            {
                schema.insert("default".to_owned(), raw(default));
                *property = raw(&schema);
            }
        }
        if members.contains_key("properties") {
            members.insert("properties".to_owned(), raw(&properties));
        }
    }
    let required = members.get("required").map_or("[]", |required| required.get());
    if let Ok(mut required) = serde_json::from_str::<Vec<String>>(required)
        && !required.is_empty()
    {
        // What has a default need not be given.
        required.retain(|name| !arguments.iter().any(|argument| *argument.name == **name));
        members.insert("required".to_owned(), raw(&required));
    }
    raw(&members)
}

/// The arguments the tool gets: those of the client, defaults filled in, hidden ones replaced.
pub(crate) fn arguments(
    given: Option<&RawValue>,
    wanted: &[ExposedArgument],
) -> Result<Raw, RpcError> {
    let text = given.map_or("{}", RawValue::get);
    let mut members = match serde_json::from_str::<Option<Members>>(text) {
        Ok(members) => members.unwrap_or_default(),
        Err(_) => return Err(RpcError::invalid_params("`arguments` must be an object")),
    };
    for argument in wanted {
        let name = argument.name.as_str();
        if argument.is_hidden {
            members.shift_remove(name);
        }
        if let (Some(default), false) = (&argument.default, members.contains_key(name)) {
            members.insert(name.to_owned(), raw(default));
        }
    }
    Ok(raw(&members))
}
