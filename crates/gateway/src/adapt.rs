//! Tools of exposed servers, as the file wants them offered: other names, descriptions, arguments.
//!
//! Everything that is not changed stays as the server wrote it.

use indexmap::IndexMap;
use mcpgraph_config::model::{ExposedArgument, ExposedTool};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_value::MAX_DEPTH;
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
        Err(error) => return Err(not_arguments(text, &error)),
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

/// Why a text cannot be the arguments of a call.
pub(crate) fn not_arguments(text: &str, error: &serde_json::Error) -> RpcError {
    if !text.starts_with('{') {
        return RpcError::invalid_params("`arguments` must be an object");
    }
    let why = error.to_string();
    RpcError::invalid_params(if why.starts_with("recursion limit exceeded") {
        // The reader counts what it has left, and stops when that is nothing.
        let most = MAX_DEPTH - 1;
        format!("`arguments` is nested deeper than the limit of {most} levels; send it flatter")
    } else {
        format!("`arguments` cannot be read: {why}")
    })
}

#[cfg(test)]
mod tests {
    use mcpgraph_value::Value;

    use super::not_arguments;

    #[test]
    fn what_is_wrong_with_arguments_is_said() {
        let nested =
            |levels: usize| format!("{}1{}", r#"{"a":"#.repeat(levels), "}".repeat(levels));
        assert!(Value::from_json(&nested(127)).is_ok());
        for (text, wanted) in [
            (nested(128), "nested deeper than the limit of 127 levels"),
            (r#"{"a":"\ud800"}"#.to_owned(), "cannot be read: "),
            ("7".to_owned(), "must be an object"),
        ] {
            let error = Value::from_json(&text).err().unwrap_or_else(|| {
                serde_json::from_str::<super::Members>(&text).expect_err("no object")
            });
            let said = not_arguments(&text, &error).message;
            assert!(said.contains(wanted), "{said}");
        }
    }
}
