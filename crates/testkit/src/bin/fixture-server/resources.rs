//! The resources.

use rmcp::{ErrorData, model::ReadResourceResponse};
use serde_json::json;

use crate::{content::PNG, handler::complete};

pub(crate) fn read(uri: &str) -> Result<ReadResourceResponse, ErrorData> {
    let content = match uri {
        "test://static-text" => json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        "test://watched-resource" => json!({
            "uri": uri,
            "mimeType": "text/plain",
            "text": "This is the content of the watched resource.",
        }),
        "test://static-binary" => json!({"uri": uri, "mimeType": "image/png", "blob": PNG}),
        _ => match template_id(uri) {
            Some(id) => {
                let data = format!("Data for ID: {id}");
                let document = json!({"id": id, "templateTest": true, "data": data});
                json!({"uri": uri, "mimeType": "application/json", "text": document.to_string()})
            }
            None => {
                let data = Some(json!({"uri": uri}));
                return Err(ErrorData::resource_not_found("there is no such resource", data));
            }
        },
    };
    complete(json!({"contents": [content]})).map(ReadResourceResponse::Complete)
}

/// The `id` in `test://template/{id}/data`.
fn template_id(uri: &str) -> Option<&str> {
    let id = uri.strip_prefix("test://template/")?.strip_suffix("/data")?;
    (!id.is_empty() && !id.contains('/')).then_some(id)
}
