//! Schemas that mean the same in every draft.
//!
//! A schema is checked against the meta-schema of its draft, which has to be compiled first and
//! stays in memory. That of 2020-12 is several documents and takes longer than most programs take
//! to start; that of draft 7 is one small one. Nearly all tools' schemas say a few simple things
//! that both drafts write in the same way.

use mcpgraph_value::Value;

/// A schema that nests deeper than this is left to its own draft.
const MAX_DEPTH: usize = 64;

/// Whether a schema has only keywords that mean the same from draft 7 on. It need not be right.
pub(super) fn is_plain(schema: &Value) -> bool {
    is_plain_at(schema, 0)
}

fn is_plain_at(schema: &Value, depth: usize) -> bool {
    let members = match schema {
        Value::Object(members) if depth < MAX_DEPTH => members,
        other => return matches!(other, Value::Bool(_)),
    };
    let is_schema = |value: &Value| is_plain_at(value, depth + 1);
    members.iter().all(|(keyword, value)| match &**keyword {
        "title" | "description" | "default" | "const" | "enum" | "examples" | "type"
        | "required" | "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum"
        | "multipleOf" | "minLength" | "maxLength" | "minItems" | "maxItems" | "uniqueItems"
        | "minProperties" | "maxProperties" => true,
        "properties" => value.as_object().is_some_and(|map| map.values().all(is_schema)),
        // A list of these is something else in either draft.
        "items" | "additionalProperties" => is_schema(value),
        // Whether a format is checked, how a reference is read and all the rest is not the same.
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use jsonschema::Draft;
    use proptest::prelude::*;

    use super::*;

    fn schema(json: &str) -> Value {
        Value::from_json(json).unwrap()
    }

    #[test]
    fn what_most_tools_say_is_plain() {
        for json in [
            "true",
            "{}",
            r#"{"type": "object", "properties": {"n": {"type": "number", "minimum": 0.5}},
                "required": ["n"], "additionalProperties": false}"#,
            r#"{"type": "array", "items": {"enum": [1, "a", null]}, "minItems": 1}"#,
        ] {
            assert!(is_plain(&schema(json)), "{json}");
        }
    }

    #[test]
    fn what_drafts_disagree_about_is_not() {
        for json in [
            "1",
            r#"{"items": [{}]}"#,
            r#"{"properties": {"a": {"format": "email"}}}"#,
            r#"{"prefixItems": [{}]}"#,
            r#"{"$schema": "http://json-schema.org/draft-04/schema#", "exclusiveMinimum": true}"#,
            r##"{"$ref": "#/nowhere"}"##,
        ] {
            assert!(!is_plain(&schema(json)), "{json}");
        }
        let deep = format!("{}{{}}{}", r#"{"items":"#.repeat(100), "}".repeat(100));
        assert!(!is_plain(&schema(&deep)));
    }

    fn any_value() -> impl Strategy<Value = String> {
        let values = [
            "true",
            "0",
            "-1",
            "2.5",
            "\"a\"",
            "\"object\"",
            "\"number\"",
            "[]",
            "[\"a\"]",
            "[\"a\", \"a\"]",
            "[1, [2]]",
            "{}",
            "{\"a\": {}}",
            "{\"a\": 3}",
            "null",
        ];
        prop::sample::select(values.map(str::to_owned).to_vec())
    }

    fn any_schema() -> impl Strategy<Value = String> {
        let keyword = prop::sample::select(vec![
            "title",
            "default",
            "const",
            "enum",
            "examples",
            "type",
            "properties",
            "required",
            "items",
            "additionalProperties",
            "minimum",
            "exclusiveMaximum",
            "multipleOf",
            "maxLength",
            "minItems",
            "uniqueItems",
            "maxProperties",
        ]);
        any_value().prop_recursive(3, 24, 4, move |inner| {
            prop::collection::btree_map(keyword.clone(), inner, 0..4).prop_map(|members| {
                let members: Vec<String> =
                    members.iter().map(|(key, value)| format!("\"{key}\": {value}")).collect();
                format!("{{{}}}", members.join(", "))
            })
        })
    }

    proptest! {
        #[test]
        fn what_is_plain_means_the_same(json in any_schema(), value in any_value()) {
            let plain = schema(&json);
            prop_assume!(is_plain(&plain));
            let plain = serde_json::Value::from(&plain);
            let value = serde_json::Value::from(&schema(&value));
            let answers = [Draft::Draft7, Draft::Draft202012].map(|draft| {
                let validator = jsonschema::options().with_draft(draft).build(&plain).ok()?;
                Some(validator.iter_errors(&value).map(|error| error.to_string()).collect::<Vec<_>>())
            });
            prop_assert_eq!(&answers[0], &answers[1]);
        }
    }
}
