//! Questions for modern clients, which answer in their next request.
//!
//! A legacy server asks in the middle of a call: the call waits here meanwhile. A modern server
//! gives the client a state to come back with, which goes through sealed.

mod elsewhere;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Instant;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use mcpgraph_journal::{Journal, TraceContext};
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::Call;
use mcpgraph_upstream::{CallContext, CallEvent, UpstreamError, Upstreams};
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use self::elsewhere::{Post, Refused};
use crate::relay::{self, CLIENT_PATIENCE, PENDING_EVENTS, Params};
use crate::seal::{self, Bound, RESPONSES, STATE, Seal};

/// How many calls may wait for their clients; a server that asks for one more is told so.
const MAX_PARKED: usize = 1024;

/// What the state of our questions begins with. Others are the servers' own.
const PREFIX: &str = "mcpgraph-parked-";

/// The name of the only question of a round.
const QUESTION: &str = "question";

/// What a server may ask of a client.
const QUESTIONS: [&str; 3] = ["elicitation/create", "sampling/createMessage", "roots/list"];

/// The calls that wait for their clients, and the seal of states that go through them.
pub(crate) struct Parking {
    /// By the state that the clients were given.
    waiting: Mutex<HashMap<String, Parked>>,
    seal: Seal,
    /// How answers to other processes come here, and the other way round; none where there is one
    /// process.
    post: OnceLock<Post>,
}

/// A call that waits. Dropping it takes it back.
struct Parked {
    bound: Bound,
    conversation: Conversation,
    reply: oneshot::Sender<Result<Raw, RpcError>>,
}

/// A call under way, and what its server says.
struct Conversation {
    answer: BoxFuture<'static, Result<Raw, UpstreamError>>,
    events: mpsc::Receiver<CallEvent>,
    cancel: CancellationToken,
}

/// What the server asks.
struct Question {
    method: String,
    params: Option<Raw>,
    reply: oneshot::Sender<Result<Raw, RpcError>>,
}

/// Who hears what a server says in the middle of a call.
#[derive(Clone, Copy)]
enum Hearer<'a> {
    /// The client of a request.
    Client(&'a Call),
    /// A client of another process, which hears of questions alone.
    Elsewhere { refused: &'a Refused, cancel: &'a CancellationToken },
}

/// Passes a request of a modern client on, or goes on with one whose question it answers.
pub(crate) async fn pass(
    parking: &Arc<Parking>,
    upstreams: &Arc<Upstreams>,
    server: &str,
    call: &Call,
    mut params: Params,
    trace: Option<TraceContext>,
) -> Result<Result<Raw, UpstreamError>, RpcError> {
    let conversation = if params.contains_key(STATE) {
        let state = relay::text(&params, STATE)?;
        let bound = Bound::of(server, call)?;
        if state.starts_with(PREFIX) {
            let responses = params.get(RESPONSES).map_or("{}", |responses| responses.get());
            if let Some((post, holder)) = parking.elsewhere(&state)? {
                return post.send(holder, &state, &bound, responses, call).await.map(Ok);
            }
            parking.resume(&state, |held| *held == bound, responses)?.0
        } else {
            let state = parking.seal.open(&state, &bound, Instant::now())?;
            params.insert(STATE.to_owned(), state);
            Conversation::begin(upstreams, server, call, &params, trace)
        }
    } else {
        Conversation::begin(upstreams, server, call, &params, trace)
    };
    parking.go_on(conversation, Hearer::Client(call), || Bound::of(server, call)).await
}

impl Parking {
    pub(crate) fn new() -> Self {
        Self { waiting: Mutex::default(), seal: Seal::new(), post: OnceLock::new() }
    }

    /// Takes answers from other processes with the same store, and sends them theirs, until the
    /// future is dropped.
    pub(crate) fn share(
        self: &Arc<Self>,
        journal: Arc<Journal>,
    ) -> impl Future<Output = ()> + Send + 'static {
        // It is shared once.
        drop(self.post.set(Post::new(&journal)));
        elsewhere::take_answers(Arc::downgrade(self), journal)
    }

    /// The process that holds the call of a state, if that is another one.
    fn elsewhere<'a>(&self, state: &'a str) -> Result<Option<(&Post, &'a str)>, RpcError> {
        let holder = elsewhere::holder(state)?;
        Ok(self.post.get().zip(holder).filter(|(post, holder)| *post.name != **holder))
    }

    /// Goes on with a call until its client is asked something, or there is the answer.
    async fn go_on(
        self: &Arc<Self>,
        mut conversation: Conversation,
        hearer: Hearer<'_>,
        bound: impl Fn() -> Result<Bound, RpcError>,
    ) -> Result<Result<Raw, UpstreamError>, RpcError> {
        loop {
            let Question { method, params, reply } = match conversation.go_on(hearer).await {
                Ok(question) => question,
                Err(Ok(result)) => return self.sealed(result, bound).map(Ok),
                Err(failure) => return Ok(failure),
            };
            let bound = bound()?;
            match self.new_state() {
                Some(state) if self.has_room() => {
                    let asked = raw(&json!({
                        "resultType": "input_required",
                        "inputRequests": { QUESTION: { "method": method, "params": params } },
                        "requestState": state,
                    }));
                    self.park(state, Parked { bound, conversation, reply });
                    return Ok(Ok(asked));
                }
                _ => {
                    let full =
                        format!("{MAX_PARKED} calls wait for their clients, which is the limit");
                    drop(reply.send(Err(RpcError::internal(full))));
                }
            }
        }
    }

    /// The seal of states.
    pub(crate) fn seal(&self) -> &Seal {
        &self.seal
    }

    fn has_room(&self) -> bool {
        self.waiting.lock().len() < MAX_PARKED
    }

    /// The result of a server, with its state sealed if it asks something.
    fn sealed(
        &self,
        result: Raw,
        bound: impl Fn() -> Result<Bound, RpcError>,
    ) -> Result<Raw, RpcError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Asks {
            result_type: Option<String>,
            request_state: Option<Raw>,
        }
        // Looked for as text first: most results are long and ask nothing.
        if !result.get().contains(STATE) {
            return Ok(result);
        }
        match serde_json::from_str(result.get()) {
            Ok(Asks { result_type: Some(kind), request_state: Some(state) })
                if kind == "input_required" =>
            {
                let sealed = self.seal.close(&state, &bound()?, Instant::now())?;
                Ok(relay::with_text(&result, STATE, &sealed))
            }
            _ => Ok(result),
        }
    }

    /// Keeps a call until its client comes back, but not for ever.
    fn park(self: &Arc<Self>, state: String, parked: Parked) {
        let parking = Arc::downgrade(self);
        let known = state.clone();
        self.waiting.lock().insert(state, parked);
        tokio::spawn(async move {
            tokio::time::sleep(CLIENT_PATIENCE).await;
            let forgotten = Weak::upgrade(&parking);
            drop(forgotten.and_then(|parking| parking.waiting.lock().remove(&known)));
        });
    }

    /// The call that a client answers a question of; the server gets the answer.
    fn resume(
        &self,
        state: &str,
        is_bound: impl Fn(&Bound) -> bool,
        responses: &str,
    ) -> Result<(Conversation, Bound), RpcError> {
        let answer = serde_json::from_str::<HashMap<String, Raw>>(responses)
            .ok()
            .and_then(|mut responses| responses.remove(QUESTION));
        let mut all = self.waiting.lock();
        // Somebody else's question is none.
        if !all.get(state).is_some_and(|parked| is_bound(&parked.bound)) {
            return Err(seal::foreign());
        }
        let answer = answer.ok_or_else(|| {
            RpcError::invalid_params(format!("`{RESPONSES}` has no answer to `{QUESTION}`"))
        })?;
        let parked = all.remove(state);
        drop(all);
        let Some(Parked { conversation, reply, bound }) = parked else {
            return Err(RpcError::internal("a call that waited is gone"));
        };
        // A server that took its question back goes on without the answer.
        drop(reply.send(Ok(answer)));
        Ok((conversation, bound))
    }

    /// A state that nobody can guess, and that names this process to the others; none if the system
    /// gives no random numbers.
    fn new_state(&self) -> Option<String> {
        let holder = self.post.get().map(|post| format!(".{}", post.name));
        Some(format!("{PREFIX}{}{}", random()?, holder.unwrap_or_default()))
    }
}

impl Hearer<'_> {
    async fn progress(self, params: &Raw) {
        if let Self::Client(call) = self {
            call.peer.progress(params).await;
        }
    }

    async fn log(self, params: Raw) {
        if let Self::Client(call) = self {
            call.peer.notify("notifications/message", Some(params)).await;
        }
    }

    fn may_ask(self, method: &str) -> Result<(), RpcError> {
        match self {
            Self::Client(call) => call.peer.may_ask(method),
            Self::Elsewhere { refused, .. } => refused.may_ask(method),
        }
    }

    /// Fires when the request is taken back.
    fn cancel(&self) -> &CancellationToken {
        match self {
            Self::Client(call) => &call.cancel,
            Self::Elsewhere { cancel, .. } => cancel,
        }
    }
}

impl Conversation {
    fn begin(
        upstreams: &Arc<Upstreams>,
        server: &str,
        call: &Call,
        params: &Params,
        trace: Option<TraceContext>,
    ) -> Self {
        let (sender, events) = mpsc::channel(PENDING_EVENTS);
        // It may outlive the request that began it.
        let cancel = CancellationToken::new();
        let context = CallContext {
            timeout: None,
            cancel: cancel.clone(),
            events: Some(sender),
            progress: call.peer.progress_token().is_some(),
            meta: relay::meta_within(call, trace),
        };
        let (upstreams, server) = (Arc::clone(upstreams), server.to_owned());
        let (method, params) = (call.method.clone(), raw(params));
        let answer =
            async move { upstreams.request(&server, &method, Some(params), context).await };
        Self { answer: answer.boxed(), events, cancel }
    }

    /// Goes on for a request, until there is a question for its client or the answer.
    async fn go_on(&mut self, hearer: Hearer<'_>) -> Result<Question, Result<Raw, UpstreamError>> {
        loop {
            tokio::select! {
                biased;
                Some(event) = self.events.recv() => {
                    if let Some(question) = Self::tell(event, hearer).await {
                        return Ok(question);
                    }
                }
                answer = &mut self.answer => {
                    while let Ok(event) = self.events.try_recv() {
                        Self::tell(event, hearer).await;
                    }
                    return Err(answer);
                }
                () = hearer.cancel().cancelled(), if !self.cancel.is_cancelled() => {
                    self.cancel.cancel();
                }
            }
        }
    }

    /// Passes on what the server says; gives what it asks.
    async fn tell(event: CallEvent, hearer: Hearer<'_>) -> Option<Question> {
        match event {
            CallEvent::Progress(params) => hearer.progress(&params).await,
            CallEvent::Log(params) => hearer.log(params).await,
            CallEvent::ServerRequest { method, params, reply } => {
                let may_ask = if QUESTIONS.contains(&method.as_str()) {
                    hearer.may_ask(&method)
                } else {
                    Err(RpcError::method_not_found(&method))
                };
                match may_ask {
                    Ok(()) => return Some(Question { method, params, reply }),
                    Err(error) => drop(reply.send(Err(error))),
                }
            }
        }
        None
    }
}

/// A text that nobody can guess; none if the system gives no random numbers.
fn random() -> Option<String> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
