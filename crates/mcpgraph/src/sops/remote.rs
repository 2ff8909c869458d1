//! Procedures from other machines.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_diagnostics::Source;
use mcpgraph_outbound::{Client, Hosts, Limits, Network, OutboundError, Request};
use mcpgraph_procedures::NotLoaded;
use mcpgraph_sop::MAX_FILE_BYTES;

use super::refused;

/// How long loading may take, redirects included.
const TIME: Duration = Duration::from_secs(10);

/// Loads procedures from the hosts that an operator named, over https and at public addresses.
pub(super) struct Remote(Client);

/// Whether a name is an address on the network rather than a path.
pub(super) fn is_address(name: &str) -> bool {
    name.split_once("://").is_some_and(|(scheme, _)| {
        scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http")
    })
}

impl Remote {
    pub(super) fn new<N: AsRef<str>>(hosts: &[N]) -> Result<Self, OutboundError> {
        Self::on(Network::default(), hosts)
    }

    /// The same on another network than this machine's.
    pub(super) fn on<N: AsRef<str>>(network: Network, hosts: &[N]) -> Result<Self, OutboundError> {
        let limits = Limits { time: TIME, bytes: MAX_FILE_BYTES, ..Limits::default() };
        let hosts = Hosts::only_public(hosts)?;
        Ok(Self(Client::on(network, hosts, limits)?.encrypted()))
    }

    pub(super) async fn load(&self, address: &str) -> Result<Arc<Source>, NotLoaded> {
        let not_loaded = |why: String| refused(format!("`{address}` is not loaded: {why}"));
        let request = Request::get(address).map_err(|error| not_loaded(error.to_string()))?;
        if !request.url.username().is_empty() || request.url.password().is_some() {
            // It would be in every record of the walk.
            return Err(not_loaded(String::from("an address must not hold a name or password")));
        }
        let answer = self.0.send(request).await.map_err(|error| not_loaded(error.to_string()))?;
        if !answer.status.is_success() {
            return Err(not_loaded(format!("the server answers {}", answer.status)));
        }
        if !answer.is_complete {
            return Err(not_loaded(String::from("the answer breaks off")));
        }
        match String::from_utf8(answer.body.into()) {
            Ok(text) => Ok(Source::new(address, text)),
            Err(_) => Err(not_loaded(String::from("it is not text in UTF-8"))),
        }
    }
}

#[cfg(test)]
mod tests;
