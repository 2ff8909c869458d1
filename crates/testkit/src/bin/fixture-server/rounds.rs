//! The tools that ask by their result, as the newer era does it: the client answers by calling
//! again, with what was asked for and with the state it was given.
#![expect(deprecated, reason = "sampling is still asked for by the suite")]

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        InputRequiredResult, InputResponses, RequestStateCodec,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::handler::typed;

/// The answer of the tool, if it is one of these.
pub(crate) fn call(
    states: &RequestStateCodec,
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<Option<CallToolResponse>, ErrorData> {
    let capabilities = context.client_capabilities().unwrap_or_default();
    let round = Round { states, request };
    let response = match request.name.as_ref() {
        "test_input_required_result_elicitation" | "test_streaming_elicitation" => round.greet(),
        "test_input_required_result_sampling" => round.sample(),
        "test_input_required_result_list_roots" => round.list_roots(),
        "test_input_required_result_request_state"
        | "test_input_required_result_tampered_state" => round.confirm(),
        "test_input_required_result_multiple_inputs" => round.ask_for_everything(),
        "test_input_required_result_multi_round" => round.ask_twice(),
        "test_input_required_result_capabilities" => round.ask_within(&capabilities),
        "test_missing_capability" if capabilities.sampling.is_none() => {
            let needed = ClientCapabilities::builder().enable_sampling().build();
            Err(ErrorData::missing_required_client_capability(needed))
        }
        "test_missing_capability" => Ok(done("The client can sample")),
        _ => return Ok(None),
    };
    response.map(Some)
}

/// A question to the user with one field.
pub(crate) fn elicitation(message: &str, field: &str, kind: &str) -> Value {
    json!({
        "method": "elicitation/create",
        "params": {
            "mode": "form",
            "message": message,
            "requestedSchema": {
                "type": "object",
                "properties": {field: {"type": kind}},
                "required": [field],
            },
        },
    })
}

/// What the user entered into a field, if the question was answered.
pub(crate) fn accepted(
    responses: Option<&InputResponses>,
    key: &str,
    field: &str,
) -> Option<String> {
    let response = responses?.get(key)?;
    let content = response.get("content").filter(|_| response["action"] == "accept")?;
    match content.get(field)? {
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }
}

/// A prompt for the client's model.
pub(crate) fn sampling(prompt: &str) -> Value {
    json!({
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": prompt}}],
            "maxTokens": 100,
        },
    })
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}

/// A result that is only a text.
pub(crate) fn done(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

/// A result that asks.
pub(crate) fn ask(requests: Value) -> Result<CallToolResponse, ErrorData> {
    typed(requests).map(|requests| InputRequiredResult::from_input_requests(requests).into())
}

fn ask_with_state(requests: Value, state: String) -> Result<CallToolResponse, ErrorData> {
    typed(requests).map(|requests| InputRequiredResult::new(Some(requests), Some(state)).into())
}

/// One call of such a tool.
struct Round<'a> {
    states: &'a RequestStateCodec,
    request: &'a CallToolRequestParams,
}

impl Round<'_> {
    fn responses(&self) -> Option<&InputResponses> {
        self.request.input_responses.as_ref()
    }

    fn response(&self, key: &str) -> Option<&Value> {
        self.responses()?.get(key).filter(|response| response.is_object())
    }

    /// The state this server wrote in the round before; one it did not write is refused.
    fn state(&self) -> Result<Option<String>, ErrorData> {
        let Some(sealed) = &self.request.request_state else { return Ok(None) };
        self.states
            .open(sealed)
            .map(|state| Some(String::from_utf8_lossy(&state).into_owned()))
            .map_err(|error| ErrorData::invalid_params(error.to_string(), None))
    }

    fn greet(&self) -> Result<CallToolResponse, ErrorData> {
        match accepted(self.responses(), "user_name", "name") {
            Some(name) => Ok(done(format!("Hello, {name}!"))),
            None => ask(json!({"user_name": elicitation("What is your name?", "name", "string")})),
        }
    }

    fn sample(&self) -> Result<CallToolResponse, ErrorData> {
        match self.response("capital_question") {
            Some(answer) => Ok(done(answer["content"]["text"].as_str().unwrap_or_default())),
            None => ask(json!({"capital_question": sampling("What is the capital of France?")})),
        }
    }

    fn list_roots(&self) -> Result<CallToolResponse, ErrorData> {
        match self.response("client_roots") {
            Some(answer) => Ok(done(format!("The roots are {}", answer["roots"]))),
            None => ask(json!({"client_roots": roots()})),
        }
    }

    fn confirm(&self) -> Result<CallToolResponse, ErrorData> {
        let state = self.state()?;
        if state.is_some() && self.response("confirm").is_some() {
            return Ok(done("state-ok"));
        }
        let question = json!({"confirm": elicitation("Please confirm", "ok", "boolean")});
        ask_with_state(question, self.states.seal(b"confirm"))
    }

    fn ask_for_everything(&self) -> Result<CallToolResponse, ErrorData> {
        let state = self.state()?;
        let keys = ["user_name", "greeting", "client_roots"];
        if state.is_some() && keys.iter().all(|key| self.response(key).is_some()) {
            return Ok(done("All answers arrived"));
        }
        let questions = json!({
            "user_name": elicitation("What is your name?", "name", "string"),
            "greeting": sampling("Generate a greeting"),
            "client_roots": roots(),
        });
        ask_with_state(questions, self.states.seal(b"everything"))
    }

    /// The first answer travels to the second round in the state.
    fn ask_twice(&self) -> Result<CallToolResponse, ErrorData> {
        let state = self.state()?;
        if let Some(name) = state.as_deref().and_then(|state| state.strip_prefix("name:"))
            && let Some(color) = accepted(self.responses(), "step2", "color")
        {
            return Ok(done(format!("{name} likes {color}")));
        }
        if let Some(name) = accepted(self.responses(), "step1", "name") {
            let question = "Step 2: What is your favorite color?";
            return ask_with_state(
                json!({"step2": elicitation(question, "color", "string")}),
                self.states.seal(format!("name:{name}").as_bytes()),
            );
        }
        let question = "Step 1: What is your name?";
        ask_with_state(
            json!({"step1": elicitation(question, "name", "string")}),
            self.states.seal(b"begun"),
        )
    }

    fn ask_within(&self, capabilities: &ClientCapabilities) -> Result<CallToolResponse, ErrorData> {
        if self.responses().is_some() {
            return Ok(done("The answers arrived"));
        }
        let mut questions = serde_json::Map::new();
        if capabilities.sampling.is_some() {
            questions.insert("greeting".into(), sampling("Generate a greeting"));
        }
        if capabilities.elicitation.is_some() {
            let question = elicitation("What is your name?", "name", "string");
            questions.insert("user_name".into(), question);
        }
        if questions.is_empty() {
            return Ok(done("The client cannot be asked anything"));
        }
        ask(questions.into())
    }
}
