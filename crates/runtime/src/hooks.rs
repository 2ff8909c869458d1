//! The scripts of workflows, run in the sandbox.

use std::sync::Arc;

use async_trait::async_trait;
use mcpgraph_engine::{ErrorKind, LogLevel, RunError};
use mcpgraph_graph::Hook;
use mcpgraph_outbound::{Client, Hosts, Limits as RequestLimits, OutboundError, Request};
use mcpgraph_script::{
    ConsoleLevel, Execution, FetchRequest, FetchResponse, Host, Limits, Sandbox,
};
use mcpgraph_upstream::Upstreams;
use mcpgraph_value::{Map, Value};
use tokio::sync::Semaphore;

use crate::EffectCall;

/// How many scripts that nothing waits for run at once; one more fails, and the record says so.
const MAX_DETACHED: usize = 32;

/// How large an answer to `fetch` may be, in bytes.
const MAX_FETCHED: usize = 1 << 20;

/// Where scripts run.
#[derive(Clone)]
pub struct Hooks {
    sandbox: Arc<Sandbox>,
    detached: Arc<Semaphore>,
}

impl Default for Hooks {
    fn default() -> Self {
        let detached = Arc::new(Semaphore::new(MAX_DETACHED));
        Self { sandbox: Arc::default(), detached }
    }
}

impl Hooks {
    /// How many scripts wait for their turn.
    pub fn waiting(&self) -> usize {
        self.sandbox.waiting()
    }

    /// Runs a script; what it writes to the console is said.
    pub(crate) async fn run(
        &self,
        hook: &Arc<Hook>,
        upstreams: &Arc<Upstreams>,
        call: EffectCall,
    ) -> Result<Value, RunError> {
        let _place = if hook.blocking {
            None
        } else {
            Some(self.detached.try_acquire().map_err(|_| too_many())?)
        };
        let host = Servers { upstreams: Arc::clone(upstreams), hook: Arc::clone(hook) };
        let report = self
            .sandbox
            .run(Execution {
                script: Arc::clone(&hook.script),
                context: call.call.args,
                limits: Limits { time: hook.time, ..Limits::default() },
                host: Arc::new(host),
            })
            .await;
        for line in report.console {
            call.said.say(level(line.level), line.text);
        }
        report
            .outcome
            .map(Option::unwrap_or_default)
            .map_err(|error| RunError::new(ErrorKind::HookFailed, error.to_string()))
    }
}

fn too_many() -> RunError {
    RunError::new(
        ErrorKind::HookFailed,
        format!(
            "{MAX_DETACHED} hooks with `blocking: false` are running, which is the limit; this one \
             was not run"
        ),
    )
}

fn level(level: ConsoleLevel) -> LogLevel {
    match level {
        ConsoleLevel::Debug => LogLevel::Debug,
        ConsoleLevel::Info => LogLevel::Info,
        ConsoleLevel::Warn => LogLevel::Warn,
        ConsoleLevel::Error => LogLevel::Error,
    }
}

/// What a script may ask: about servers, and hosts its workflow allows.
struct Servers {
    upstreams: Arc<Upstreams>,
    hook: Arc<Hook>,
}

#[async_trait]
impl Host for Servers {
    fn server_info(&self, name: &str) -> Option<Value> {
        let status = self.upstreams.status().into_iter().find(|status| *status.name == *name)?;
        Some(Map::from_iter([("name", name), ("status", status.state.name())]).into())
    }

    async fn fetch(&self, request: FetchRequest) -> Result<FetchResponse, String> {
        let asked = send(&self.hook, request).await;
        asked.map_err(|error| match error {
            OutboundError::NotAllowed { host } => {
                format!("the workflow may not reach {host}; add it to the workflow's `allowHosts`")
            }
            other => other.to_string(),
        })
    }
}

async fn send(hook: &Hook, request: FetchRequest) -> Result<FetchResponse, OutboundError> {
    let limits = RequestLimits { time: hook.time, bytes: MAX_FETCHED, ..RequestLimits::default() };
    let client = Client::new(Hosts::only(&*hook.hosts)?, limits)?;
    let mut outgoing = Request::get(&request.url)?;
    outgoing.method = request
        .method
        .parse()
        .map_err(|_| OutboundError::Request(format!("`{}` is not a method", request.method)))?;
    for (name, value) in &request.headers {
        // Behind one address there may be others than the host that the workflow allows.
        if name.eq_ignore_ascii_case("host") {
            let message = "a script cannot set the header `Host`: the URL names the host";
            return Err(OutboundError::Request(message.to_owned()));
        }
        outgoing.header(name, value)?;
    }
    outgoing.body = request.body.unwrap_or_default().into();
    let answer = client.send(outgoing).await?;
    let usual = answer.status.canonical_reason().map(str::to_owned);
    let headers = answer.headers.iter().map(|(name, value)| {
        (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
    });
    Ok(FetchResponse {
        status: answer.status.as_u16(),
        status_text: answer.reason.or(usual).unwrap_or_default(),
        headers: headers.collect(),
        body: String::from_utf8_lossy(&answer.body).into_owned(),
    })
}
