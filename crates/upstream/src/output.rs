//! What a tool's result means as a value.

use mcpgraph_value::{MAX_DEPTH, Value};

/// What an `mcp` node gets from a tool.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeOutput {
    /// The value the tool returned.
    Value(Value),
    /// The tool said that it failed.
    Error {
        /// All it said in words, line by line.
        text: String,
        /// The whole result.
        result: Value,
    },
}

/// Turns the result of `tools/call` into a value.
///
/// `structuredContent` is the value if it is there. Otherwise a single item of `content` is the
/// value, and several are an array; text is read as JSON where it is JSON and kept as text where
/// it is not, so that `42` is a number. Images, audio, links and embedded resources stay the
/// objects they are. No content is null.
///
/// In the legacy era only objects are structured content, and servers write null for none; a
/// modern result, which says its type, may mean the null.
pub fn output_of(result: &Value) -> NodeOutput {
    let content = result.get("content").and_then(Value::as_array).map_or(&[][..], |c| c.as_slice());
    if result.get("isError").and_then(Value::as_bool) == Some(true) {
        return NodeOutput::Error { text: text_of(content, result), result: result.clone() };
    }
    let is_modern = result.get("resultType").is_some();
    match result.get("structuredContent") {
        Some(Value::Null) if !is_modern => {}
        Some(structured) => return NodeOutput::Value(structured.clone()),
        None => {}
    }
    NodeOutput::Value(match content {
        [] => Value::Null,
        [item] => value_of(item),
        items => Value::array(items.iter().map(value_of).collect()),
    })
}

/// The value of one item of content.
fn value_of(item: &Value) -> Value {
    match item_text(item) {
        Some(text) => parsed(text).unwrap_or_else(|| Value::string(text)),
        None => item.clone(),
    }
}

/// The text of an item, if it is a text item.
fn item_text(item: &Value) -> Option<&str> {
    if item.get("type").and_then(Value::as_str) == Some("text") {
        item.get("text").and_then(Value::as_str)
    } else {
        None
    }
}

/// The text as JSON, if it is JSON of a depth that the rest of the product accepts.
fn parsed(text: &str) -> Option<Value> {
    Value::from_json(text).ok().filter(|value| !value.is_deeper_than(MAX_DEPTH))
}

/// What a failed tool said.
fn text_of(content: &[Value], result: &Value) -> String {
    let texts: Vec<&str> = content.iter().filter_map(item_text).collect();
    if !texts.is_empty() {
        return texts.join("\n");
    }
    match result.get("structuredContent") {
        Some(structured) if *structured != Value::Null => structured.to_json(),
        _ => String::from("the tool failed and did not say why"),
    }
}

#[cfg(test)]
mod tests;
