//! The tools that answer by themselves: fixed content, log messages, progress, changes of lists.
#![expect(deprecated, reason = "the older era's logging is what is to be tested")]

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolResponse, CallToolResult, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::handler::{Change, Fixture, complete, is_modern};

/// An image of one red pixel.
pub(crate) const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC";

/// A sound of one silent sample.
const WAV: &str = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAAAAA==";

/// The pause between two notifications, long enough that they arrive one by one.
const PAUSE: Duration = Duration::from_millis(50);

/// The answer of the tool, if it is one of these.
pub(crate) async fn call(
    fixture: &Fixture,
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let content = match name {
        "test_simple_text" => json!([text("This is a simple text response for testing.")]),
        "test_image_content" => json!([image()]),
        "test_audio_content" => json!([{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]),
        "test_embedded_resource" => json!([resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content."
        )]),
        "test_multiple_content_types" => json!([
            text("Multiple content types test:"),
            image(),
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#
            ),
        ]),
        "test_error_handling" => {
            let message = json!([text("This tool intentionally returns an error for testing")]);
            let result: CallToolResult = complete(json!({"content": message, "isError": true}))?;
            return Ok(Some(result.into()));
        }
        "test_tool_with_logging" => {
            log(fixture, "Tool execution started", context).await;
            sleep(PAUSE).await;
            log(fixture, "Tool processing data", context).await;
            sleep(PAUSE).await;
            log(fixture, "Tool execution completed", context).await;
            json!([text("Sent three log messages")])
        }
        "test_logging_tool" => {
            log(fixture, "One message", context).await;
            json!([text("Sent what the client wants to see")])
        }
        "test_tool_with_progress" => {
            report_progress(context).await;
            json!([text("Reported progress three times")])
        }
        "test_reconnection" => {
            sleep(PAUSE * 2).await;
            json!([text("Answered after a pause")])
        }
        "json_schema_2020_12_tool" => json!([text("The arguments were accepted")]),
        "test_custom_header" => json!([text("The header was accepted")]),
        "test_trigger_tool_change" => change(fixture, Change::Tools, context).await,
        "test_trigger_prompt_change" => change(fixture, Change::Prompts, context).await,
        _ => return Ok(None),
    };
    let result: CallToolResult = complete(json!({"content": content}))?;
    Ok(Some(result.into()))
}

/// A text item.
pub(crate) fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

/// An image item.
pub(crate) fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

/// An embedded resource item.
pub(crate) fn resource(uri: &str, mime_type: &str, text: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
}

async fn log(fixture: &Fixture, message: &str, context: &RequestContext<RoleServer>) {
    if fixture.wants(LoggingLevel::Info, context) {
        let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(message));
        // A client that has gone away notices the end of the call by itself.
        drop(context.peer.notify_logging_message(message).await);
    }
}

async fn report_progress(context: &RequestContext<RoleServer>) {
    for done in [0.0, 50.0, 100.0] {
        if let Some(token) = context.meta.get_progress_token() {
            let progress = ProgressNotificationParam::new(token, done).with_total(100.0);
            drop(context.peer.notify_progress(progress).await);
        }
        sleep(PAUSE).await;
    }
}

/// Tells the listeners of the newer era, and the caller itself in the older one.
async fn change(fixture: &Fixture, change: Change, context: &RequestContext<RoleServer>) -> Value {
    let listeners = fixture.shared.changes.send(change).unwrap_or(0);
    if !is_modern(context) {
        drop(match change {
            Change::Tools => context.peer.notify_tool_list_changed().await,
            Change::Prompts => context.peer.notify_prompt_list_changed().await,
        });
    }
    json!([text(format!("Told {listeners} listeners"))])
}
