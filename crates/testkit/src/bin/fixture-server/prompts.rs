//! The prompts.

use rmcp::{
    ErrorData,
    model::{GetPromptRequestParams, GetPromptResponse, InputRequiredResult},
};
use serde_json::{Value, json};

use crate::{
    content::{image, resource, text},
    handler::{argument, complete, typed},
    rounds::{accepted, elicitation},
};

pub(crate) fn get(request: &GetPromptRequestParams) -> Result<GetPromptResponse, ErrorData> {
    let arguments = request.arguments.as_ref();
    let contents = match request.name.as_str() {
        "test_simple_prompt" => vec![text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let [first, second] = [argument(arguments, "arg1")?, argument(arguments, "arg2")?];
            vec![text(format!("Prompt with arguments: arg1='{first}', arg2='{second}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            resource(
                &argument(arguments, "resourceUri")?,
                "text/plain",
                "Embedded resource content for testing.",
            ),
            text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![image(), text("Please analyze the image above.")],
        "test_input_required_result_prompt" => {
            match accepted(request.input_responses.as_ref(), "user_context", "context") {
                Some(context) => vec![text(format!("Consider this: {context}"))],
                None => {
                    let question = "What context should the prompt use?";
                    let ask = json!({"user_context": elicitation(question, "context", "string")});
                    return typed(ask)
                        .map(|requests| InputRequiredResult::from_input_requests(requests).into());
                }
            }
        }
        name => {
            return Err(ErrorData::invalid_params(format!("there is no prompt `{name}`"), None));
        }
    };
    let messages: Vec<Value> =
        contents.into_iter().map(|content| json!({"role": "user", "content": content})).collect();
    complete(json!({"messages": messages})).map(GetPromptResponse::Complete)
}
