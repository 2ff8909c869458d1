use std::sync::{Arc, Weak};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post, put};
use http::header::{CONTENT_TYPE, ORIGIN};
use http::{HeaderMap, HeaderValue, Method};
use mcpgraph_config::model::GraphFile;
use mcpgraph_engine::StepId;
use mcpgraph_gateway::Gateway;
use mcpgraph_graph::Graph;
use mcpgraph_journal::{Journal, RunId, RunStatus, RunSummary};
use mcpgraph_mcp::server::Guard;
use mcpgraph_runtime::{DebugSessions, Drain, DurableError, LiveRuns, only_known};
use mcpgraph_telemetry::Metrics;
use mcpgraph_toolkit::Documents;
use mcpgraph_upstream::Upstreams;
use mcpgraph_value::Value;

use crate::begun::Begun;
use crate::problem::Problem;
use crate::procedures::{self, ReadProcedures};
use crate::{
    control, documents, events, expressions, extract, find, fork, pages, questions, requests, runs,
    upstreams, workflows,
};

/// The largest body a request may have.
const MAX_BODY_BYTES: usize = 4 * 1024 * 1024;

/// How long a debugger may say nothing before its run is released.
const LEASE: Duration = Duration::from_mins(1);

/// How long somebody who asks for a run under way waits until something of it is recorded.
const FIRST_COMMIT: Duration = Duration::from_secs(5);

/// What the interface shows and controls.
pub struct Studio {
    /// The server whose tools are run.
    pub gateway: Arc<Gateway>,
    /// Where runs are recorded; none if they are not.
    pub journal: Option<Arc<Journal>>,
    /// The runs under way.
    pub live: LiveRuns,
    /// What `/metrics` shows.
    pub metrics: Metrics,
    /// Whether the server is about to end, and what that waits for.
    pub drain: Drain,
    /// Who may come.
    pub guard: Guard,
    /// The files, where they can be seen and changed in a browser.
    pub workshop: Option<Workshop>,
}

/// What the pages of the studio work on.
pub struct Workshop {
    /// Reads and saves the graph file.
    pub documents: Arc<dyn Documents>,
    /// The servers that the graph calls.
    pub upstreams: Arc<Upstreams>,
    /// Reads the procedures that are served.
    pub procedures: Box<ReadProcedures>,
    /// Serves a file that was saved, at once.
    pub serve: Box<Serve>,
}

/// Takes over a file and the graph that it says.
pub type Serve = dyn Fn(&GraphFile, Arc<Graph>) + Send + Sync;

/// What all requests share.
pub(crate) struct Shared {
    pub(crate) studio: Studio,
    pub(crate) sessions: Arc<DebugSessions>,
    pub(crate) begun: Begun,
}

/// The paths of the interface. It must be called inside a runtime.
pub fn router(studio: Studio) -> Router {
    let (sessions, begun) = (DebugSessions::new(LEASE), Begun::default());
    tokio::spawn(release(studio.drain.clone(), Arc::downgrade(&sessions)));
    let shared = Arc::new(Shared { studio, sessions, begun });
    let mut router = Router::new();
    if shared.studio.workshop.is_some() {
        router = pages::routes()
            .route("/api/graphs", get(documents::show).put(documents::save))
            .route("/api/graphs/version", get(documents::version))
            .route("/api/graphs/{tool}", get(documents::tool))
            .route("/api/draft", post(documents::draft))
            .route("/api/procedures", get(procedures::list))
            .route("/api/procedures/{agent}", get(procedures::show))
            .route("/api/runs/{id}/edited", get(documents::edited_since))
            .route("/api/runs/{id}/procedure", get(procedures::of_run))
            .route("/api/runs/{id}/walk", get(procedures::of_walk))
            .route("/api/runs/{id}/find", post(find::find))
            .route("/api/expr/test", post(expressions::test))
            .route("/api/upstreams", get(upstreams::list))
            .route("/api/upstreams/{server}/tools", get(upstreams::tools));
    }
    router
        .route("/metrics", get(metrics))
        .route("/api/status", get(runs::status))
        .route("/api/stats", get(runs::stats))
        .route("/api/changes", get(events::changes))
        .route("/api/requests", get(requests::list))
        .route("/api/questions", get(questions::list))
        .route("/api/questions/{id}", post(questions::answer))
        .route("/api/runs", get(runs::list).post(control::start))
        .route("/api/runs/{id}", get(runs::show).delete(runs::remove))
        .route("/api/runs/{id}/export", get(runs::export))
        .route("/api/runs/{id}/events", get(events::of_run))
        .route("/api/runs/{id}/steps/{step}", get(runs::step))
        .route("/api/runs/{id}/steps/{step}/context", get(runs::context))
        .route("/api/runs/{id}/diff", get(runs::diff))
        .route("/api/runs/{id}/stop", post(control::stop))
        .route("/api/runs/{id}/fork", post(fork::fork))
        .route("/api/runs/{id}/fork/effects", post(fork::effects))
        .route(
            "/api/runs/{id}/debug",
            get(control::state).post(control::join).delete(control::leave),
        )
        .route("/api/runs/{id}/debug/breakpoints", put(control::set_breakpoints))
        .route("/api/runs/{id}/debug/context", get(control::context))
        .route("/api/runs/{id}/debug/outputs/{node}", put(control::set_output))
        .route("/api/runs/{id}/debug/{move}", post(control::go))
        .merge(workflows::routes())
        // Not a fallback: what is beside `/api` is somebody else's.
        .route("/api", any(extract::nothing_there))
        .route("/api/{*path}", any(extract::nothing_there))
        .method_not_allowed_fallback(extract::wrong_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), guard))
        .with_state(shared)
}

/// Lets go of debugged runs when the server is to end, so that they can finish.
async fn release(drain: Drain, sessions: Weak<DebugSessions>) {
    drain.begun().await;
    if let Some(sessions) = sessions.upgrade() {
        sessions.clear();
    }
}

/// Lets only those in who may come: a page from elsewhere must not read or control anything.
async fn guard(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    if let Err(why) = shared.studio.guard.check(request.uri(), request.headers()) {
        return Problem::forbidden(why).into_response();
    }
    if request.uri().path().starts_with("/api") && is_from_elsewhere(request.headers()) {
        return Problem::forbidden("a page of another origin asks for this").into_response();
    }
    // A form of a page from elsewhere can send text, but not JSON, without being asked first.
    let changes = matches!(*request.method(), Method::POST | Method::PUT);
    if changes && !is_json(request.headers().get(CONTENT_TYPE)) {
        return Problem::invalid("the body must have the type application/json").into_response();
    }
    next.run(request).await
}

/// Whether a page of another origin asks without saying which: a picture or a link of it does, and
/// must not start anything. Pages may be linked to, and an `Origin` is looked at by the guard.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
    let is_own = site.is_none_or(|site| matches!(site, b"same-origin" | b"none"));
    !is_own && !headers.contains_key(ORIGIN)
}

fn is_json(kind: Option<&HeaderValue>) -> bool {
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn metrics(State(shared): State<Arc<Shared>>) -> Response {
    let mut response = Response::new(Body::from(shared.studio.metrics.render()));
    let kind = HeaderValue::from_static(mcpgraph_telemetry::CONTENT_TYPE);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// The body of a request as JSON; nothing is an empty object.
pub(crate) async fn body(body: Body) -> Result<Value, Problem> {
    let bytes = axum::body::to_bytes(body, MAX_BODY_BYTES).await.map_err(|_| {
        Problem::invalid(format!("the body is larger than {MAX_BODY_BYTES} bytes, the limit"))
    })?;
    if bytes.is_empty() {
        return Ok(Value::object(mcpgraph_value::Map::new()));
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|_| Problem::invalid("the body is not UTF-8"))?;
    Value::from_json(text)
        .map_err(|error| Problem::invalid(format!("the body is not JSON: {error}")))
}

/// The body of a request as an object that has no members but these.
pub(crate) async fn fields(sent: Body, known: &[&str]) -> Result<Value, Problem> {
    let sent = body(sent).await?;
    only_known(&sent, "the body", known)?;
    Ok(sent)
}

impl Shared {
    /// Reads the record on a thread that may block.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Journal) -> Result<T, mcpgraph_journal::JournalError> + Send + 'static,
    ) -> Result<T, Problem> {
        let journal = self.journal()?;
        tokio::task::spawn_blocking(move || read(&journal))
            .await
            .map_err(|_| Problem::internal("reading the record failed by a fault of mcpgraph"))?
            .map_err(Problem::from)
    }

    /// A run as the record has it. One that was just started is in it with its first commit, for
    /// which this waits, as long as [`FIRST_COMMIT`].
    pub(crate) async fn recorded(&self, id: RunId) -> Result<RunSummary, Problem> {
        // Following begins before the first look, so that no commit falls between the two.
        let mut follower = self.journal()?.follow(Some(id));
        let look = async {
            loop {
                let is_live = self.studio.live.contains(id);
                if let Some(run) = self.read(move |journal| journal.run(id)).await? {
                    return Ok(run);
                }
                if !is_live || !follower.changed().await {
                    return Err(Problem::not_found(format!("there is no run {id}")));
                }
            }
        };
        tokio::time::timeout(FIRST_COMMIT, look).await.unwrap_or_else(|_| {
            let seconds = FIRST_COMMIT.as_secs();
            Err(Problem::not_found(format!(
                "run {id} is under way, but nothing of it was recorded within {seconds} s; ask again"
            )))
        })
    }

    /// Whether a run goes on, wherever it is executed, because it is durable.
    pub(crate) async fn goes_on(&self, run: RunId) -> bool {
        let offer = self.studio.gateway.offer();
        let Some(durable) = offer.runtime().durable() else { return false };
        match durable.look(run).await {
            Ok(finished) => finished.is_none(),
            Err(DurableError::Unknown(_)) => false,
            Err(error) => {
                tracing::debug!(%run, %error, "it cannot be seen how a run stands");
                true
            }
        }
    }

    /// How a run stands by the record; none where that does not know it.
    pub(crate) async fn status(&self, run: RunId) -> Option<RunStatus> {
        let recorded = self.read(move |journal| journal.run(run)).await.ok()??;
        Some(recorded.status)
    }

    /// What the pages work on. Their paths are only there where there is one.
    pub(crate) fn workshop(&self) -> Result<&Workshop, Problem> {
        self.studio.workshop.as_ref().ok_or_else(|| Problem::not_found("there is no studio here"))
    }

    pub(crate) fn journal(&self) -> Result<Arc<Journal>, Problem> {
        self.studio.journal.clone().ok_or_else(Problem::no_history)
    }
}

/// The step that a path names.
pub(crate) fn step_id(text: &str) -> Result<StepId, Problem> {
    text.parse().map_err(|_| Problem::invalid(format!("`{text}` is not the number of a step")))
}

/// The run that a path names, in full.
pub(crate) fn run_id(text: &str) -> Result<RunId, Problem> {
    text.parse().map_err(|_| Problem::invalid(format!("`{text}` is not the id of a run")))
}
