//! The tools that ask the client in the middle of a call, as the older era does it.
#![expect(deprecated, reason = "the older era's sampling is what is to be tested")]

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock},
    service::{RequestContext, ServiceError},
};
use serde_json::{Value, json};

use crate::handler::{argument, typed};

/// The answer of the tool, if it is one of these.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let arguments = request.arguments.as_ref();
    let answer = match request.name.as_ref() {
        "test_sampling" => sample(&argument(arguments, "prompt")?, context).await?,
        "test_elicitation" => {
            let message = argument(arguments, "message")?;
            elicit("User response", &message, contact_form(), context).await?
        }
        "test_elicitation_sep1034_defaults" => {
            let message = "Please check these values";
            elicit("Elicitation completed", message, form_with_defaults(), context).await?
        }
        "test_elicitation_sep1330_enums" => {
            let message = "Please choose";
            elicit("Elicitation completed", message, form_with_choices(), context).await?
        }
        _ => return Ok(None),
    };
    Ok(Some(answer.into()))
}

async fn sample(
    prompt: &str,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let params = typed(json!({
        "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
        "maxTokens": 100,
    }))?;
    Ok(match context.peer.create_message(params).await {
        Err(error) => failed(&error),
        Ok(answer) => {
            let answer = serde_json::to_value(&answer).unwrap_or_default();
            let text = answer["content"]["text"].as_str().unwrap_or_default();
            succeeded(format!("LLM response: {text}"))
        }
    })
}

async fn elicit(
    label: &str,
    message: &str,
    form: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let params = typed(json!({"mode": "form", "message": message, "requestedSchema": form}))?;
    Ok(match context.peer.create_elicitation(params).await {
        Err(error) => failed(&error),
        Ok(answer) => {
            let answer = serde_json::to_value(&answer).unwrap_or_default();
            let action = answer["action"].as_str().unwrap_or_default();
            succeeded(format!("{label}: action={action}, content={}", answer["content"]))
        }
    })
}

fn succeeded(text: String) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// A client that cannot be asked is a fault the caller should read.
fn failed(error: &ServiceError) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())])
}

fn contact_form() -> Value {
    json!({
        "type": "object",
        "properties": {
            "username": {"type": "string", "description": "The user's name"},
            "email": {"type": "string", "description": "The user's address"},
        },
        "required": ["username", "email"],
    })
}

fn form_with_defaults() -> Value {
    let status = ["active", "inactive", "pending"];
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {"type": "string", "enum": status, "default": "active"},
            "verified": {"type": "boolean", "default": true},
        },
    })
}

fn form_with_choices() -> Value {
    let plain = ["option1", "option2", "option3"];
    let titled = json!([
        {"const": "value1", "title": "First"},
        {"const": "value2", "title": "Second"},
        {"const": "value3", "title": "Third"},
    ]);
    json!({
        "type": "object",
        "properties": {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        },
    })
}
