//! Calls in several rounds: a modern server that needs something of the client answers with its
//! questions, and the call is made again with the answers.

use indexmap::IndexMap;
use mcpgraph_mcp::client::CallEvent;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

/// How often a server may ask before its call is answered.
pub(crate) const MAX_ROUNDS: usize = 10;
/// How many questions a round may hold.
const MAX_QUESTIONS: usize = 64;

/// What a server asks in one round.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Questions {
    #[serde(default)]
    input_requests: IndexMap<String, Question>,
    request_state: Option<Raw>,
}

#[derive(Deserialize)]
struct Question {
    method: String,
    params: Option<Raw>,
}

impl Questions {
    /// The questions of a result, if it consists of questions.
    pub(crate) fn of(result: &Raw) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Kind {
            result_type: Option<String>,
        }
        // Looked for as text first: most results are long and hold no questions.
        if !result.get().contains("input_required") {
            return None;
        }
        let kind: Kind = serde_json::from_str(result.get()).ok()?;
        if kind.result_type.as_deref() != Some("input_required") {
            return None;
        }
        serde_json::from_str(result.get()).ok()
    }

    /// Lets the caller answer, as if a legacy server had asked during the call, and gives the
    /// parameters for the next round.
    pub(crate) async fn answer(
        self,
        params: &Raw,
        events: &mpsc::Sender<CallEvent>,
    ) -> Result<Raw, RpcError> {
        if self.input_requests.len() > MAX_QUESTIONS {
            return Err(RpcError::internal(format!(
                "the server asks more than {MAX_QUESTIONS} questions at once"
            )));
        }
        let gone = || RpcError::internal("the server asks something that nobody answers");
        let mut answers: IndexMap<String, Raw> = IndexMap::new();
        for (key, Question { method, params }) in self.input_requests {
            let (reply, answer) = oneshot::channel();
            events
                .send(CallEvent::ServerRequest { method, params, reply })
                .await
                .map_err(|_| gone())?;
            answers.insert(key, answer.await.map_err(|_| gone())??);
        }
        let mut params: IndexMap<String, Raw> = serde_json::from_str(params.get())
            .map_err(|error| RpcError::internal(error.to_string()))?;
        params.insert("inputResponses".to_owned(), raw(&answers));
        // A state of an earlier round is of no use to this one.
        params.shift_remove("requestState");
        if let Some(state) = self.request_state {
            params.insert("requestState".to_owned(), state);
        }
        Ok(raw(&params))
    }
}
