//! Arguments that a tool does not say it takes.

use mcpgraph_diagnostics::{printable, shortened, suggest};
use mcpgraph_graph::Tool;
use mcpgraph_value::Value;

/// How much of a name is shown.
const SHOWN: usize = 60;

/// How much of the list of known names is shown.
const SHOWN_LIST: usize = 240;

/// Words with which a schema speaks of properties elsewhere than in `properties`.
const ELSEWHERE: [&str; 11] = [
    "additionalProperties",
    "unevaluatedProperties",
    "patternProperties",
    "propertyNames",
    "dependentSchemas",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "if",
    "not",
];

/// What to say about arguments that the schema of a tool lets through without knowing them: most are
/// mistyped, and a default is taken in their place. A schema that says more of its properties than
/// which there are has decided that itself.
pub(super) fn strangers(arguments: &Value, tool: &Tool) -> Vec<String> {
    told(arguments, &tool.name, tool.input.source())
}

fn told(arguments: &Value, tool: &str, schema: &Value) -> Vec<String> {
    let (Value::Object(arguments), Some(Value::Object(known))) =
        (arguments, schema.get("properties"))
    else {
        return Vec::new();
    };
    if ELSEWHERE.iter().any(|word| schema.get(word).is_some()) {
        return Vec::new();
    }
    let names: Vec<&str> = known.keys().map(|name| &**name).collect();
    let strange = arguments.keys().filter(|name| known.get(name).is_none());
    strange
        .map(|name| {
            let hint = suggest::did_you_mean(name, names.iter().copied());
            let hint = hint.unwrap_or_else(|| match &*names {
                [] => "it takes no arguments".to_owned(),
                names => format!("it has: {}", shortened(&names.join(", "), SHOWN_LIST)),
            });
            let (name, hint) = (shortened(name, SHOWN), printable(&hint));
            format!("`{}` is not in the inputSchema of `{tool}`; {hint}", printable(&name))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_decides_which_arguments_are_strange() {
        let told = |schema: &str, arguments: &str| {
            let [schema, arguments] =
                [schema, arguments].map(|text| Value::from_json(text).unwrap());
            told(&arguments, "t", &schema)
        };
        let closed = r#"{"properties": {"limit": {}, "offset": {}}}"#;
        assert_eq!(
            told(closed, r#"{"limt": 1, "limit": 2, "x": 3}"#),
            [
                "`limt` is not in the inputSchema of `t`; did you mean `limit`?",
                "`x` is not in the inputSchema of `t`; it has: limit, offset",
            ]
        );
        assert_eq!(
            told(r#"{"properties": {}}"#, r#"{"x": 1}"#),
            ["`x` is not in the inputSchema of `t`; it takes no arguments"]
        );
        for open in [
            r#"{"type": "object"}"#,
            r#"{"properties": {"limit": {}}, "additionalProperties": true}"#,
            r#"{"properties": {"limit": {}}, "additionalProperties": false}"#,
            r#"{"properties": {"limit": {}}, "patternProperties": {"^l": {}}}"#,
            r##"{"properties": {"limit": {}}, "allOf": [{"$ref": "#/$defs/a"}]}"##,
        ] {
            assert_eq!(told(open, r#"{"limt": 1}"#), [""; 0], "{open}");
        }
    }
}
