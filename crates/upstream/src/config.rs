//! From the configuration's words to ours.

use std::collections::BTreeSet;
use std::time::Duration;

use indexmap::IndexMap;
use mcpgraph_config::model::{self, ServerDef};
use mcpgraph_mcp::client::{HttpConfig, HttpKind, StdioConfig, TransportConfig};

use crate::ServerSpec;

/// The servers of a configuration.
#[derive(Default)]
pub struct Specs {
    /// Those that may be used, by name.
    pub(crate) usable: IndexMap<String, ServerSpec>,
    /// The names of those that are left alone: who calls one is told that, and not that it is
    /// unknown.
    pub(crate) disabled: BTreeSet<String>,
}

/// The servers of a file.
pub fn specs(servers: &[ServerDef]) -> Specs {
    let mut specs = Specs::default();
    for server in servers {
        let name = server.name.to_string();
        if server.disabled {
            specs.disabled.insert(name);
        } else {
            specs.usable.insert(name, server.into());
        }
    }
    specs
}

impl From<IndexMap<String, ServerSpec>> for Specs {
    fn from(usable: IndexMap<String, ServerSpec>) -> Self {
        Self { usable, ..Self::default() }
    }
}

impl From<&ServerDef> for ServerSpec {
    fn from(def: &ServerDef) -> Self {
        let secrets: Vec<String> = def.secrets().map(str::to_owned).collect();
        let target = match &def.transport {
            model::Transport::Stdio { command, args, env, cwd } => {
                TransportConfig::Stdio(StdioConfig {
                    command: command.value.clone(),
                    args: args.iter().map(|arg| arg.value.clone()).collect(),
                    env: env
                        .iter()
                        .map(|(key, value)| (key.to_string(), value.value.clone()))
                        .collect(),
                    inherit_env: false,
                    cwd: cwd.as_ref().map(|cwd| cwd.value.clone().into()),
                    secrets,
                })
            }
            model::Transport::Http { url, kind, headers } => TransportConfig::Http(HttpConfig {
                url: url.value.clone(),
                headers: headers
                    .iter()
                    .map(|(key, value)| (key.to_string(), value.value.clone()))
                    .collect::<IndexMap<_, _>>(),
                kind: match kind {
                    model::HttpKind::Streamable => HttpKind::Streamable,
                    model::HttpKind::Sse => HttpKind::Sse,
                    model::HttpKind::Unstated => HttpKind::Auto,
                },
                secrets,
            }),
        };
        let mut spec = Self::new(target);
        if let Some(timeout) = &def.timeout_ms {
            spec.timeout = Duration::from_millis(timeout.value);
            // At a URL nothing has to be started: the first requests are requests like any other.
            // A program may need longer to begin than to answer, even every time.
            if spec.target.is_http() {
                spec.start_timeout = spec.timeout;
            }
        }
        if let Some(limit) = def.max_concurrent {
            spec.max_concurrent = limit.get() as usize;
        }
        if let Some(limit) = def.max_message_bytes {
            spec.max_message_bytes = limit.get() as usize;
        }
        spec
    }
}
