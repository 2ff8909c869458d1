//! The tools that ask the client in the middle of a call: by a request in the older era, by their
//! result in the newer one.
#![expect(deprecated, reason = "the older era's sampling is what is to be tested")]

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock},
    service::{RequestContext, ServiceError},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::handler::{argument, is_modern, typed};
use crate::rounds;

/// What the only question of a call goes by in the newer era.
const QUESTION: &str = "question";

/// The answer of the tool, if it is one of these.
pub(crate) async fn call(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let arguments = request.arguments.as_ref();
    let question = match request.name.as_ref() {
        "test_sampling" => Question::sampling(&argument(arguments, "prompt")?),
        "test_elicitation" => {
            let message = argument(arguments, "message")?;
            Question::elicitation("User response", &message, &contact_form())
        }
        "test_elicitation_sep1034_defaults" => {
            let message = "Please check these values";
            Question::elicitation("Elicitation completed", message, &form_with_defaults())
        }
        "test_elicitation_sep1330_enums" => {
            let message = "Please choose";
            Question::elicitation("Elicitation completed", message, &form_with_choices())
        }
        _ => return Ok(None),
    };
    if !is_modern(context) {
        return question.put(context).await.map(Some);
    }
    let answers = request.input_responses.as_ref();
    match answers.and_then(|answers| answers.get(QUESTION)) {
        Some(answer) => Ok(Some(question.answered(answer))),
        None => rounds::ask(json!({ QUESTION: question.request })).map(Some),
    }
}

/// What a tool asks.
struct Question {
    /// The method and the parameters.
    request: Value,
    /// How the tool's text begins.
    label: &'static str,
    is_sampling: bool,
}

impl Question {
    fn sampling(prompt: &str) -> Self {
        let request = rounds::sampling(prompt);
        Self { request, label: "LLM response", is_sampling: true }
    }

    fn elicitation(label: &'static str, message: &str, form: &Value) -> Self {
        let params = json!({"mode": "form", "message": message, "requestedSchema": form});
        let request = json!({"method": "elicitation/create", "params": params});
        Self { request, label, is_sampling: false }
    }

    /// Asks as the older era does.
    async fn put(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = self.request["params"].clone();
        let answer = if self.is_sampling {
            value(context.peer.create_message(typed(params)?).await)
        } else {
            value(context.peer.create_elicitation(typed(params)?).await)
        };
        Ok(match answer {
            Ok(answer) => self.answered(&answer),
            // A client that cannot be asked is a fault the caller should read.
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into(),
        })
    }

    fn answered(&self, answer: &Value) -> CallToolResponse {
        let text = if self.is_sampling {
            answer["content"]["text"].as_str().unwrap_or_default().to_owned()
        } else {
            let action = answer["action"].as_str().unwrap_or_default();
            format!("action={action}, content={}", answer["content"])
        };
        rounds::done(format!("{}: {text}", self.label))
    }
}

fn value<T: Serialize>(answer: Result<T, ServiceError>) -> Result<Value, ServiceError> {
    answer.map(|answer| serde_json::to_value(&answer).unwrap_or_default())
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
