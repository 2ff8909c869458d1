//! How clients reach a server, and who may come.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_access::{Access, Tokens};
use mcpgraph_mcp::server::HttpConfig;

use super::args::{HistoryArgs, ListenArgs};
use super::drain::DRAIN_TIMEOUT;
use super::usage;

/// How clients reach the server.
pub(super) enum Transport {
    Stdio {
        /// How long calls under way may take when the server is to end.
        drain: Duration,
        /// Whether the command could listen for HTTP instead.
        has_http: bool,
    },
    Http {
        address: SocketAddr,
        config: HttpConfig,
        access: Option<Arc<Access>>,
        has_studio: bool,
        /// How long calls under way may take when the server is to end.
        drain: Duration,
    },
}

impl Transport {
    /// Over stdio, where nothing was said about it.
    pub(super) fn stdio() -> Self {
        Self::Stdio { drain: DRAIN_TIMEOUT, has_http: false }
    }

    /// What a command line asks for, without a studio: further hosts and origins may be allowed.
    pub(super) fn of(
        listening: &ListenArgs,
        (hosts, origins): (&[String], &[String]),
        history: &HistoryArgs,
    ) -> anyhow::Result<Self> {
        let drain = listening.drain_timeout;
        let Some(address) = listening.http else {
            return Ok(Self::Stdio { drain, has_http: true });
        };
        let access = access(history)?;
        let asks = access.as_ref().is_some_and(|access| access.asks());
        if !asks && !address.ip().is_loopback() && !listening.insecure {
            return Err(usage(format!(
                "{address} can be reached by other machines and nothing asks who they are; \
                 make tokens with `mcpgraph tokens add`, use a loopback address such as \
                 127.0.0.1, or say --insecure"
            )));
        }
        let config = http_config(address.ip(), hosts, origins);
        Ok(Self::Http { address, config, access, has_studio: false, drain })
    }

    /// `mcpgraph studio`: at an address of this machine.
    pub(super) fn of_studio(address: SocketAddr, history: &HistoryArgs) -> anyhow::Result<Self> {
        let access = access(history)?;
        let config = HttpConfig::default();
        Self::Http { address, config, access, has_studio: false, drain: DRAIN_TIMEOUT }
            .with_studio()
    }

    /// The same with a studio, which changes files and calls tools: it is for the person at this
    /// machine.
    pub(super) fn with_studio(mut self) -> anyhow::Result<Self> {
        if let Self::Http { address, has_studio, .. } = &mut self {
            if !address.ip().is_loopback() {
                return Err(usage(format!(
                    "the studio changes files and nothing asks who you are, so it is not served \
                     at {address}, which other machines can reach; use a loopback address such as \
                     127.0.0.1"
                )));
            }
            *has_studio = true;
        }
        Ok(self)
    }

    pub(super) fn has_studio(&self) -> bool {
        matches!(self, Self::Http { has_studio: true, .. })
    }

    /// Who may come, where that is asked.
    pub(super) fn access(&self) -> Option<&Arc<Access>> {
        match self {
            Self::Stdio { .. } => None,
            Self::Http { access, .. } => access.as_ref(),
        }
    }
}

/// What to tell a person who started a server over stdio by hand: it says nothing until a client
/// does. Nothing where stdin is a client's already.
pub(super) fn waiting(stdin_is_terminal: bool, has_http: bool) -> Option<String> {
    let instead = if has_http { "; --http ADDRESS serves over HTTP" } else { "" };
    stdin_is_terminal
        .then(|| format!("serving MCP over stdio: waiting for a client (Ctrl-C ends it{instead})"))
}

fn http_config(address: IpAddr, hosts: &[String], origins: &[String]) -> HttpConfig {
    let mut config = HttpConfig::default();
    if address.is_unspecified() && hosts.is_empty() {
        // Under which names the machine is known is not known here; tokens are asked for, or
        // --insecure was said.
        config.allowed_hosts.push("*".to_owned());
    } else if !address.is_loopback() {
        config.allowed_hosts.push(match address {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        });
    }
    config.allowed_hosts.extend(hosts.iter().cloned());
    config.allowed_origins.extend(origins.iter().cloned());
    config
}

/// Who may come: as soon as there is a token, everybody has to show one.
fn access(history: &HistoryArgs) -> anyhow::Result<Option<Arc<Access>>> {
    let in_folder = history.folder().ok().map(|folder| Tokens::in_folder(&folder));
    if history.store.is_none() {
        // Where there is no folder for data, there are no tokens in it.
        let Some(tokens) = in_folder else { return Ok(None) };
        tokens.list()?;
        return Ok(Some(Access::new(tokens)));
    }
    let tokens = history.tokens()?;
    // Whoever made tokens means them to be asked for.
    if tokens.list()?.is_empty()
        && let Some(in_folder) = in_folder
        && !in_folder.list()?.is_empty()
    {
        return Err(usage(
            "there are tokens in the data folder, but with --store they are kept in the \
             database, which has none: make them there with `mcpgraph tokens add --store URL`, \
             or remove those of the folder with `mcpgraph tokens rm`",
        ));
    }
    Ok(Some(Access::new(tokens)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_person_is_told_that_a_client_is_waited_for() {
        assert_eq!(waiting(false, true), None);
        assert_eq!(waiting(false, false), None);
        let told = waiting(true, false).unwrap();
        assert!(told.contains("waiting for a client") && !told.contains("--http"), "{told}");
        assert!(waiting(true, true).unwrap().contains("--http ADDRESS"));
    }
}
