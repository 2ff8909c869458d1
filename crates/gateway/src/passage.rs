//! Calls that are passed on as they are, for those who watch runs: they are counted and traced too.

use std::time::SystemTime;

use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_journal::TraceContext;
use mcpgraph_mcp::message::{Raw, RpcError};
use mcpgraph_mcp::server::Call;
use mcpgraph_runtime::{PassObserver, PassStart, Runtime, failed_call};
use mcpgraph_upstream::UpstreamError;

use crate::around::{Outer, inside};
use crate::call::origin;
use crate::relay::Params;
use crate::requests;

/// A call on its way to a server, and who watches it. Mostly nobody does, which costs nothing. One
/// that is dropped was given up.
#[derive(Default)]
pub(crate) struct Passage(Vec<Box<dyn PassObserver>>);

impl Passage {
    /// A call begins: the client named `tool`, which is `inner` of `server`.
    pub(crate) fn begin(
        runtime: &Runtime,
        call: &Call,
        (tool, server, inner): (&str, &str, &str),
        params: &Params,
        outer: Option<&Outer>,
    ) -> Self {
        let observers = runtime.observers();
        if observers.is_empty() {
            return Self::default();
        }
        let start = PassStart {
            tool,
            server,
            inner,
            arguments: params.get("arguments").map_or("{}", |arguments| arguments.get()),
            origin: &inside(origin(call), outer),
            at: SystemTime::now(),
        };
        let passage = Self(observers.iter().filter_map(|observer| observer.pass(&start)).collect());
        if let Some(trail) = requests::trail(call)
            && let Some(trace) = passage.trace_context()
        {
            trail.belongs_to(&trace);
        }
        passage
    }

    /// What goes along with the call, if somebody traces it.
    pub(crate) fn trace_context(&self) -> Option<TraceContext> {
        self.0.iter().find_map(|observer| observer.trace_context())
    }

    /// The server answered, or the call did not get to it.
    pub(crate) fn ended(self, answer: &Result<Result<Raw, UpstreamError>, RpcError>) {
        if self.0.is_empty() {
            return;
        }
        let outcome = match answer {
            Ok(Ok(result)) if requests::says_error(result) => {
                Err(RunError::new(ErrorKind::ToolError, "the tool says that it failed"))
            }
            Ok(Ok(result)) => Ok(result.get()),
            Ok(Err(error)) => Err(failed_call(error)),
            Err(RpcError { code, message, .. }) => {
                Err(RunError::new(ErrorKind::ProtocolError { code: *code }, message.clone()))
            }
        };
        for observer in self.0 {
            observer.ended(outcome.as_ref().copied());
        }
    }
}
