//! What the tests share.

use std::time::Duration;

use indexmap::IndexMap;
use mcpgraph_mcp::client::{StdioConfig, TransportConfig};
use mcpgraph_testkit::{Program, environment};
use mcpgraph_upstream::{
    CallContext, ClientInfo, ServerSpec, UpstreamError, UpstreamOptions, Upstreams,
};
use mcpgraph_value::Value;

pub(crate) fn spec_of(program: &Program) -> ServerSpec {
    let json = program.to_json();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    ServerSpec::new(TransportConfig::Stdio(StdioConfig {
        command: text(&json["command"]),
        args: json["args"].as_array().unwrap().iter().map(text).collect(),
        ..StdioConfig::default()
    }))
}

/// The misbehaving server with these options.
pub(crate) fn misbehaving(options: &[&str]) -> Option<ServerSpec> {
    let program = environment::misbehaving_server()?;
    Some(spec_of(&options.iter().fold(program, Program::arg)))
}

pub(crate) fn options() -> UpstreamOptions {
    UpstreamOptions::new(ClientInfo {
        name: "test".to_owned(),
        title: None,
        version: "1".to_owned(),
    })
}

pub(crate) fn upstreams<const N: usize>(specs: [(&str, ServerSpec); N]) -> Upstreams {
    Upstreams::new(named(specs), options())
}

pub(crate) fn named<const N: usize>(
    specs: [(&str, ServerSpec); N],
) -> IndexMap<String, ServerSpec> {
    specs.into_iter().map(|(name, spec)| (name.to_owned(), spec)).collect()
}

/// Calls a tool with JSON arguments and gives its output as JSON.
pub(crate) async fn call(
    upstreams: &Upstreams,
    server: &str,
    tool: &str,
    arguments: &str,
) -> Result<String, UpstreamError> {
    call_with(upstreams, server, tool, arguments, CallContext::default()).await
}

pub(crate) async fn call_with(
    upstreams: &Upstreams,
    server: &str,
    tool: &str,
    arguments: &str,
    context: CallContext,
) -> Result<String, UpstreamError> {
    let arguments = Value::from_json(arguments).unwrap();
    let result = upstreams.call_tool(server, tool, arguments, context).await?;
    result.into_output().map(|value| value.to_json())
}

pub(crate) fn within(timeout: Duration) -> CallContext {
    CallContext { timeout: Some(timeout), ..CallContext::default() }
}
