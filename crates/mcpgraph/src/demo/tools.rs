use serde_json::{Value, json};

use super::orders::STATUSES;
use super::{LONGEST_MS, MOST_STEPS};

/// What the server offers.
pub(super) fn list() -> Value {
    let path = |what: &str| json!({ "path": { "type": "string", "description": what } });
    let order_id = json!({ "type": "string", "description": "Such as A-100" });
    let status = json!({ "type": "string", "enum": STATUSES });
    let read_only = json!({ "readOnlyHint": true, "openWorldHint": false });
    let content = json!({
        "type": "object",
        "properties": { "content": { "type": "string" } },
        "required": ["content"]
    });
    json!([
        {
            "name": "list_directory",
            "description": "Lists a folder below the root, a line for each entry: [FILE] name or [DIR] name",
            "inputSchema": object(path("The folder, relative to the root"), &["path"]),
            "outputSchema": content,
            "annotations": read_only
        },
        {
            "name": "read_file",
            "description": "Reads a text file below the root",
            "inputSchema": object(path("The file, relative to the root"), &["path"]),
            "outputSchema": content,
            "annotations": read_only
        },
        {
            "name": "list_orders",
            "description": "Lists the orders, all or those with a status",
            "inputSchema": object(json!({ "status": status }), &[]),
            "annotations": read_only
        },
        {
            "name": "get_order",
            "description": "Gives one order",
            "inputSchema": object(json!({ "id": order_id }), &["id"]),
            "annotations": read_only
        },
        {
            "name": "set_order_status",
            "description": "Changes the status of an order and gives the order",
            "inputSchema": object(json!({ "id": order_id, "status": status }), &["id", "status"]),
            "annotations": { "readOnlyHint": false, "destructiveHint": true, "idempotentHint": true }
        },
        {
            "name": "echo",
            "description": "Gives back what it was given",
            "inputSchema": object(json!({ "value": { "description": "Anything" } }), &["value"]),
            "annotations": read_only
        },
        {
            "name": "slow",
            "description": "Takes its time, reporting progress",
            "inputSchema": object(
                json!({
                    "ms": { "type": "integer", "minimum": 0, "maximum": LONGEST_MS, "default": 1000 },
                    "steps": { "type": "integer", "minimum": 1, "maximum": MOST_STEPS, "default": 10 }
                }),
                &[]
            ),
            "annotations": read_only
        },
        {
            "name": "fail",
            "description": "Fails with a message",
            "inputSchema": object(json!({ "message": { "type": "string" } }), &[]),
            "annotations": read_only
        }
    ])
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}
