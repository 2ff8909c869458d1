//! HTTP headers that mirror parts of a request's body, so that what stands between a client and a
//! server can route without reading bodies. The modern era requires them.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The key in an input schema that asks for a header.
const ANNOTATION: &str = "x-mcp-header";

const BASE64_START: &str = "=?base64?";
const BASE64_END: &str = "?=";

/// An argument of a tool that is mirrored in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderParameter {
    /// Where the argument is: property names from the root of the arguments.
    pub path: Vec<String>,
    /// The header is [`PARAMETER_PREFIX`](crate::header::PARAMETER_PREFIX) and this.
    pub header: String,
}

/// The parameters that a tool's input schema wants mirrored.
///
/// The error says why an annotation is not allowed. A client does not use such a tool.
pub fn header_parameters(schema: &RawValue) -> Result<Vec<HeaderParameter>, String> {
    // Most schemas have none, and a search is cheaper than reading them.
    if !schema.get().contains(ANNOTATION) {
        return Ok(Vec::new());
    }
    let schema: Value = serde_json::from_str(schema.get()).map_err(|error| error.to_string())?;
    let mut found = Vec::new();
    collect(&schema, &mut Some(Vec::new()), &mut found)?;
    Ok(found)
}

/// Goes through a schema. `path` leads there by `properties` alone, or there is none.
fn collect(
    schema: &Value,
    path: &mut Option<Vec<String>>,
    found: &mut Vec<HeaderParameter>,
) -> Result<(), String> {
    match schema {
        Value::Array(items) => items.iter().try_for_each(|item| collect(item, &mut None, found)),
        Value::Object(members) => members.iter().try_for_each(|(key, value)| {
            match (key.as_str(), value) {
                (ANNOTATION, header) => {
                    let kind = members.get("type").and_then(Value::as_str);
                    found.push(annotated(path.as_deref(), header, kind, found)?);
                    Ok(())
                }
                ("properties", Value::Object(properties)) => {
                    properties.iter().try_for_each(|(name, property)| {
                        if let Some(path) = path {
                            path.push(name.clone());
                        }
                        let outcome = collect(property, path, found);
                        if let Some(path) = path {
                            path.pop();
                        }
                        outcome
                    })
                }
                // Data, not schemas.
                ("default" | "const" | "enum" | "examples", _) => Ok(()),
                // Names to schemas: a name is not a keyword.
                (
                    "$defs" | "definitions" | "dependentSchemas" | "patternProperties",
                    Value::Object(schemas),
                ) => schemas.values().try_for_each(|schema| collect(schema, &mut None, found)),
                (_, value) => collect(value, &mut None, found),
            }
        }),
        _ => Ok(()),
    }
}

fn annotated(
    path: Option<&[String]>,
    header: &Value,
    kind: Option<&str>,
    found: &[HeaderParameter],
) -> Result<HeaderParameter, String> {
    let Some(path) = path.filter(|path| !path.is_empty()) else {
        return Err(format!(
            "`{ANNOTATION}` is only allowed on properties reached by `properties`"
        ));
    };
    let header = header.as_str().unwrap_or_default();
    if header.is_empty() || !header.bytes().all(is_token) {
        return Err(format!("`{ANNOTATION}` of `{}` is not a header name", path.join(".")));
    }
    if found.iter().any(|other| other.header.eq_ignore_ascii_case(header)) {
        return Err(format!("`{ANNOTATION}` `{header}` is there twice"));
    }
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(format!(
            "`{ANNOTATION}` of `{}` needs the type string, integer or boolean",
            path.join(".")
        ));
    }
    Ok(HeaderParameter { path: path.to_vec(), header: header.to_owned() })
}

/// What may be in the name of a header.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// What [`NAME`](crate::header::NAME) mirrors for a request; none where the method has no name to mirror.
pub fn name_of(method: &str, params: Option<&RawValue>) -> Option<String> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        name: Option<Value>,
        uri: Option<Value>,
        task_id: Option<Value>,
    }
    let pick: fn(Params) -> Option<Value> = match method {
        "tools/call" | "prompts/get" => |params| params.name,
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => |params| params.uri,
        "tasks/get" | "tasks/update" | "tasks/cancel" => |params| params.task_id,
        _ => return None,
    };
    match pick(serde_json::from_str(params?.get()).ok()?)? {
        Value::String(name) => Some(name),
        _ => None,
    }
}

/// What the headers of these parameters mirror: one value each, none where the arguments have
/// none. `params` are those of `tools/call`.
pub fn parameter_values(
    parameters: &[HeaderParameter],
    params: Option<&RawValue>,
) -> Vec<Option<String>> {
    #[derive(Default, Deserialize)]
    struct Params {
        #[serde(default)]
        arguments: Value,
    }
    let Params { arguments } =
        params.and_then(|params| serde_json::from_str(params.get()).ok()).unwrap_or_default();
    let value = |parameter: &HeaderParameter| match parameter
        .path
        .iter()
        .try_fold(&arguments, |at, name| at.get(name))?
    {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    parameters.iter().map(value).collect()
}

/// A value as it stands in a header: as it is, or in base64 where a header could not hold it.
pub fn encode(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, b' '..=b'~'))
        && value.trim_matches(' ').len() == value.len()
        && !(value.starts_with(BASE64_START) && value.ends_with(BASE64_END));
    if is_plain {
        value.to_owned()
    } else {
        format!("{BASE64_START}{}{BASE64_END}", BASE64_STANDARD.encode(value))
    }
}

/// The value that stands in a header; none if it is not valid.
pub fn decode(text: &str) -> Option<String> {
    match text.strip_prefix(BASE64_START).and_then(|rest| rest.strip_suffix(BASE64_END)) {
        Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded).ok()?).ok(),
        None => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::raw;
    use serde_json::json;

    fn parameters(schema: Value) -> Result<Vec<HeaderParameter>, String> {
        header_parameters(&raw(&schema))
    }

    fn one(path: &[&str], header: &str) -> HeaderParameter {
        HeaderParameter {
            path: path.iter().map(|name| (*name).to_owned()).collect(),
            header: header.to_owned(),
        }
    }

    #[test]
    fn annotations_are_found_on_properties() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"n": {"x-mcp-header": "N", "type": "integer"}}},
            "properties": {"type": "object", "default": {"x-mcp-header": 1}},
            "x-mcp-header": {"type": "string"},
        }});
        assert_eq!(
            parameters(schema),
            Ok(vec![one(&["region"], "Region"), one(&["deep", "n"], "N")])
        );
        assert_eq!(parameters(json!({"type": "object"})), Ok(vec![]));
    }

    #[test]
    fn annotations_that_are_not_allowed() {
        let string = |header: Value| json!({"type": "string", "x-mcp-header": header});
        for schema in [
            string(json!("Root")),
            json!({"properties": {"a": string(json!(""))}}),
            json!({"properties": {"a": string(json!("a b"))}}),
            json!({"properties": {"a": string(json!(7))}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"x-mcp-header": "A"}}}),
            json!({"properties": {"a": string(json!("X")), "b": string(json!("x"))}}),
            json!({"properties": {"a": {"items": string(json!("A"))}}}),
            json!({"anyOf": [{"properties": {"a": string(json!("A"))}}]}),
            json!({"$defs": {"default": {"properties": {"a": string(json!("A"))}}}}),
            json!({"$defs": {"d": string(json!("D"))}}),
        ] {
            assert!(parameters(schema.clone()).is_err(), "{schema}");
        }
    }

    #[test]
    fn a_schema_of_any_depth_is_survived() {
        let mut schema = json!({"type": "string", "x-mcp-header": "X"});
        for _ in 0..120 {
            schema = json!({"properties": {"p": schema}});
        }
        assert!(parameters(schema).is_err());
    }

    #[test]
    fn values_survive_a_header() {
        for (value, header) in [
            ("plain text", "plain text"),
            ("", ""),
            (" led", "=?base64?IGxlZA==?="),
            ("é", "=?base64?w6k=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?%%?="), None);
        assert_eq!(decode("=?base64?/w==?="), None);
    }

    #[test]
    fn what_is_mirrored() {
        let params = raw(&json!({"name": "t", "uri": "a:b", "taskId": 7,
            "arguments": {"s": "x", "n": 1.50, "b": true, "o": {"i": 3}, "z": null}}));
        assert_eq!(name_of("tools/call", Some(&params)).as_deref(), Some("t"));
        assert_eq!(name_of("resources/read", Some(&params)).as_deref(), Some("a:b"));
        assert_eq!(name_of("tasks/get", Some(&params)), None);
        assert_eq!(name_of("tools/list", Some(&params)), None);
        assert_eq!(name_of("tools/call", None), None);
        let wanted = [
            one(&["s"], "S"),
            one(&["b"], "B"),
            one(&["o", "i"], "I"),
            one(&["o"], "O"),
            one(&["z"], "Z"),
            one(&["none"], "X"),
        ];
        assert_eq!(
            parameter_values(&wanted, Some(&params)),
            [Some("x".into()), Some("true".into()), Some("3".into()), None, None, None]
        );
        assert_eq!(parameter_values(&wanted[..1], Some(RawValue::NULL)), [None]);
    }
}
