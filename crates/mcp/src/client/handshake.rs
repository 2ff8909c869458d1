//! Finds out which era a server speaks, and agrees with it on a version.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::calls::Calls;
use super::connection::{CallOptions, Link, envelope};
use super::http;
use super::stdio;
use super::{
    ClientError, ClientInfo, ClientOptions, EraChoice, Events, HttpConfig, HttpKind,
    RequestOptions, StdioConfig, TransportConfig,
};
use crate::message::{Raw, RpcError, code, raw};
use crate::meta_key;
use crate::version::{Era, Version};

/// What both sides agreed on.
pub(super) struct Negotiated {
    pub(super) version: Version,
    pub(super) server_info: Option<Raw>,
    pub(super) capabilities: Raw,
    pub(super) instructions: Option<String>,
}

/// What `server/discover` showed.
enum Verdict {
    Modern(Negotiated),
    Legacy,
}

/// Starts or reaches the server.
pub(super) async fn connect(
    transport: &TransportConfig,
    options: &ClientOptions,
    events: Arc<dyn Events>,
) -> Result<(Link, Negotiated), ClientError> {
    match transport {
        TransportConfig::Stdio(config) => start(config, options, events).await,
        TransportConfig::Http(config) => {
            let reached = reach(config, options, events);
            tokio::time::timeout(options.start_timeout, reached).await.unwrap_or_else(|_| {
                Err(ClientError::Start { after: options.start_timeout, stderr: String::new() })
            })
        }
    }
}

// === Processes ===

async fn start(
    config: &StdioConfig,
    options: &ClientOptions,
    events: Arc<dyn Events>,
) -> Result<(Link, Negotiated), ClientError> {
    let deadline = tokio::time::Instant::now() + options.start_timeout;
    let link = stdio::start(config, options, Calls::new(events.clone()))?;
    match within(deadline, options, &link, negotiate(&link, options)).await {
        Ok(negotiated) => Ok((link, negotiated)),
        // Some servers end when they are asked anything before `initialize`.
        Err(ClientError::Closed(_)) if options.era == EraChoice::Auto => {
            tracing::debug!(command = config.command, "ended during the probe; started as legacy");
            let link = stdio::start(config, options, Calls::new(events))?;
            let negotiated = within(deadline, options, &link, initialize(&link, options)).await?;
            Ok((link, negotiated))
        }
        Err(error) => Err(error),
    }
}

/// Bounds a handshake; what the process wrote to stderr explains why it took too long.
async fn within(
    deadline: tokio::time::Instant,
    options: &ClientOptions,
    link: &Link,
    handshake: impl Future<Output = Result<Negotiated, ClientError>>,
) -> Result<Negotiated, ClientError> {
    match tokio::time::timeout_at(deadline, handshake).await {
        Ok(outcome) => outcome,
        Err(_) => Err(ClientError::Start {
            after: options.start_timeout,
            stderr: link.transport.stderr(),
        }),
    }
}

async fn negotiate(link: &Link, options: &ClientOptions) -> Result<Negotiated, ClientError> {
    match options.era {
        EraChoice::Legacy => initialize(link, options).await,
        EraChoice::Modern => match discover(link, options).await? {
            Verdict::Modern(negotiated) => Ok(negotiated),
            Verdict::Legacy => Err(not_modern()),
        },
        EraChoice::Auto => {
            let mut probe = pin!(discover(link, options));
            match tokio::time::timeout(options.probe_timeout, &mut probe).await {
                Ok(Ok(Verdict::Modern(negotiated))) => Ok(negotiated),
                Ok(Ok(Verdict::Legacy)) => initialize(link, options).await,
                Ok(Err(error)) => Err(error),
                // Silence counts as legacy, but a slow modern server may answer meanwhile.
                Err(_) => match initialize(link, options).await {
                    Err(refused @ ClientError::Rpc(_)) => {
                        match tokio::time::timeout(LATE_ANSWER, probe).await {
                            Ok(Ok(Verdict::Modern(negotiated))) => Ok(negotiated),
                            _ => Err(refused),
                        }
                    }
                    outcome => outcome,
                },
            }
        }
    }
}

/// How long the answer to a probe may come after that to `initialize`.
const LATE_ANSWER: Duration = Duration::from_secs(1);

// === URLs ===

async fn reach(
    config: &HttpConfig,
    options: &ClientOptions,
    events: Arc<dyn Events>,
) -> Result<(Link, Negotiated), ClientError> {
    if config.kind == HttpKind::Sse {
        return reach_sse(config, options, events).await;
    }
    let initialize_params = initialize_params(options);
    let link =
        http::streamable::connect(config, options, Calls::new(events.clone()), initialize_params)?;
    match negotiate_http(&link, options).await {
        Ok(negotiated) => Ok((link, negotiated)),
        // Neither era over one endpoint: the transport of two endpoints is left.
        Err(error @ ClientError::Http { status: 400 | 404 | 405, .. })
            if config.kind == HttpKind::Auto && options.era != EraChoice::Modern =>
        {
            match reach_sse(config, options, events).await {
                // What the first attempt met says more than that there is no other way either.
                Err(ClientError::Http { .. } | ClientError::Protocol(_)) => Err(error),
                outcome => outcome,
            }
        }
        Err(error) => Err(error),
    }
}

async fn reach_sse(
    config: &HttpConfig,
    options: &ClientOptions,
    events: Arc<dyn Events>,
) -> Result<(Link, Negotiated), ClientError> {
    let link = http::sse::connect(config, options, Calls::new(events)).await?;
    let negotiated = initialize(&link, options).await?;
    Ok((link, negotiated))
}

async fn negotiate_http(link: &Link, options: &ClientOptions) -> Result<Negotiated, ClientError> {
    if options.era == EraChoice::Legacy {
        return initialize(link, options).await;
    }
    let verdict = match tokio::time::timeout(options.probe_timeout, discover(link, options)).await {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => match error {
            // A refusal that is not the modern protocol's is what old servers do; who may not
            // enter and what is out of order say nothing about the era.
            ClientError::Http { status: 400 | 404 | 405 | 406 | 415 | 422, .. } => Verdict::Legacy,
            ClientError::Protocol(_) => Verdict::Legacy,
            error => return Err(error),
        },
        Err(_) => Verdict::Legacy,
    };
    match verdict {
        Verdict::Modern(negotiated) => Ok(negotiated),
        Verdict::Legacy if options.era == EraChoice::Modern => Err(not_modern()),
        Verdict::Legacy => initialize(link, options).await,
    }
}

// === The two first requests ===

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Discovered {
    supported_versions: Vec<String>,
    capabilities: Option<Raw>,
    instructions: Option<String>,
    #[serde(rename = "_meta")]
    meta: Option<Raw>,
}

#[derive(Deserialize)]
struct Supported {
    supported: Vec<String>,
}

async fn discover(link: &Link, options: &ClientOptions) -> Result<Verdict, ClientError> {
    let envelope = envelope(options, Version::LATEST);
    let answer = link.call("server/discover", None, &envelope, first_request()).await;
    let discovered: Discovered = match answer {
        Ok(result) => match serde_json::from_str(result.get()) {
            Ok(discovered) => discovered,
            // Servers that answer anything to everything exist.
            Err(_) => return Ok(Verdict::Legacy),
        },
        Err(ClientError::Rpc(error)) => return refused(error),
        Err(error) => return Err(error),
    };
    let Some(version) = modern_of(&discovered.supported_versions) else {
        return legacy_of(&discovered.supported_versions);
    };
    let server_info = discovered.meta.and_then(|meta| {
        let mut meta: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(meta.get()).ok()?;
        meta.remove(meta_key::SERVER_INFO).map(|info| raw(&info))
    });
    Ok(Verdict::Modern(Negotiated {
        version,
        server_info,
        capabilities: discovered.capabilities.unwrap_or_else(empty),
        instructions: discovered.instructions,
    }))
}

/// What a refusal of `server/discover` means.
fn refused(error: RpcError) -> Result<Verdict, ClientError> {
    match error.code {
        code::UNSUPPORTED_VERSION => {
            let supported = error
                .data
                .as_deref()
                .and_then(|data| serde_json::from_str::<Supported>(data.get()).ok())
                .map(|data| data.supported)
                .unwrap_or_default();
            legacy_of(&supported)
        }
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY => Err(ClientError::Rpc(error)),
        _ => Ok(Verdict::Legacy),
    }
}

fn modern_of(versions: &[String]) -> Option<Version> {
    Version::ALL
        .into_iter()
        .filter(|version| version.era() == Era::Modern)
        .find(|version| versions.iter().any(|offered| offered == version.as_str()))
}

/// A server that knows the modern protocol but none of our modern versions may know a legacy one.
fn legacy_of(versions: &[String]) -> Result<Verdict, ClientError> {
    if versions.iter().any(|offered| Version::parse(offered).is_some()) {
        Ok(Verdict::Legacy)
    } else {
        Err(ClientError::Incompatible { offered: versions.join(", ") })
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InitializeParams<'a> {
    protocol_version: &'static str,
    capabilities: &'a RawValue,
    client_info: &'a ClientInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Initialized {
    protocol_version: String,
    capabilities: Option<Raw>,
    server_info: Option<Raw>,
    instructions: Option<String>,
}

fn initialize_params(options: &ClientOptions) -> Raw {
    raw(&InitializeParams {
        protocol_version: Version::LATEST_LEGACY.as_str(),
        capabilities: &options.capabilities,
        client_info: &options.info,
    })
}

async fn initialize(link: &Link, options: &ClientOptions) -> Result<Negotiated, ClientError> {
    let params = Some(initialize_params(options));
    let result = link.call("initialize", params, &[], first_request()).await?;
    let initialized: Initialized = serde_json::from_str(result.get()).map_err(|error| {
        ClientError::Protocol(format!("its answer to `initialize` is not one: {error}"))
    })?;
    let version = legacy_version(&initialized.protocol_version)?;
    link.notify("notifications/initialized", None).await?;
    Ok(Negotiated {
        version,
        server_info: initialized.server_info,
        capabilities: initialized.capabilities.unwrap_or_else(empty),
        instructions: initialized.instructions,
    })
}

/// The version an answer to `initialize` names.
pub(super) fn legacy_version(name: &str) -> Result<Version, ClientError> {
    match Version::parse(name) {
        Some(version) if version.era() == Era::Legacy => Ok(version),
        // Who answers `initialize` speaks the legacy protocol, whatever it calls it.
        Some(_) => Ok(Version::LATEST_LEGACY),
        // A draft of the first revision that old servers still name.
        None if name == "2024-10-07" => Ok(Version::V2024_11_05),
        None => Err(ClientError::Incompatible { offered: name.to_owned() }),
    }
}

/// The handshake as a whole has a deadline; its requests need none of their own.
fn first_request() -> CallOptions {
    let request = RequestOptions { timeout: Duration::MAX, ..RequestOptions::default() };
    CallOptions { request, is_listening: false, tells_cancel: false }
}

fn not_modern() -> ClientError {
    ClientError::Incompatible { offered: "only revisions that begin with `initialize`".to_owned() }
}

fn empty() -> Raw {
    raw(&serde_json::Map::new())
}
