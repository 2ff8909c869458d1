//! The upstream of the outside-world tests: every tool, prompt and resource that the official
//! conformance suite asks a server for, in both protocol eras, over stdio or streamable HTTP.
//!
//! It is built on the official Rust SDK, not on this project's protocol core, so that the core is
//! tested against somebody else's reading of the protocol. What a gateway passes through unchanged
//! from here makes the suite pass against the gateway.

mod asking;
mod catalogue;
mod content;
mod handler;
mod prompts;
mod resources;
mod rounds;
mod tasks;

use std::{net::SocketAddr, sync::Arc};

use axum::{Router, serve::ListenerExt};
use clap::Parser;
use rmcp::{
    ServiceExt,
    service::ServerInitializeError,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio_pipes,
        streamable_http_server::session::local::LocalSessionManager,
    },
};

use crate::handler::{Fixture, Shared};

/// The upstream of the outside-world tests.
#[derive(Parser)]
struct Cli {
    /// Serves streamable HTTP at this address, below `/mcp`, instead of stdio
    #[arg(long, value_name = "ADDRESS")]
    http: Option<SocketAddr>,

    /// Leaves a tool out, for a gateway that has one of this name itself
    #[arg(long, value_name = "TOOL")]
    without: Vec<String>,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let cli = Cli::parse();
    let shared = Arc::new(Shared::new(&cli.without)?);
    match cli.http {
        None => serve_stdio(shared).await,
        Some(address) => serve_http(shared, address).await,
    }
}

async fn serve_stdio(shared: Arc<Shared>) -> anyhow::Result<()> {
    match Fixture::new(shared).serve(stdio_pipes()).await {
        Ok(service) => {
            service.waiting().await?;
            Ok(())
        }
        // A client may only ask what there is, and leave.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Serves until the process is ended.
async fn serve_http(shared: Arc<Shared>, address: SocketAddr) -> anyhow::Result<()> {
    let hosts = ["localhost", "127.0.0.1", "[::1]"];
    let config = StreamableHttpServerConfig::default()
        .with_allowed_origins(hosts.map(|host| format!("http://{host}:*")));
    let service = StreamableHttpService::new(
        move || Ok(Fixture::new(shared.clone())),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    let listener = tokio::net::TcpListener::bind(address).await?;
    announce(listener.local_addr()?);
    // Without this every small answer waits for the delayed acknowledgement of the one before.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}

#[expect(clippy::print_stderr, reason = "standard error is where a server speaks to people")]
fn announce(address: SocketAddr) {
    eprintln!("listening on http://{address}/mcp");
}
