use std::io::IsTerminal as _;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::Source;
use mcpgraph_gateway::{Gate, RequestLog};
use mcpgraph_graph::Graph;
use mcpgraph_journal::Journal;
use mcpgraph_mcp::server::{
    Broadcaster, Guard, HttpConfig, Limits, Server, Service, http_router, open_to_pages,
    serve_http, serve_stdio, standard_streams,
};
use mcpgraph_procedures::{
    Audience, Catalogue, IDLE, InMemory, InStore, MAX_CONVERSATIONS, Options, Procedures, Store,
};
use mcpgraph_runtime::{Drain, DurableRuns};
use mcpgraph_studio::{Studio, Workshop};
use mcpgraph_workflows::Library;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::args::{FileArgs, HistoryArgs, ServeArgs, StudioArgs};
use super::drain::{self, GIVING_UP, stop_on_signal};
use super::toolkit::OnDisk;
use super::transport::{Transport, waiting};
use super::watch::Watch;
use super::{Exit, Threads, authorize, block_on, health, logging, output, start_is_over};
use crate::durable::{AtHome, Identity};
use crate::load::{self, Files};
use crate::reload::{self, Face};
use crate::sessions::SharedSessions;
use crate::{McpGraph, seals, sops, stored, tokens, walkers};

/// `mcpgraph -g FILE`: over stdio, for a client's configuration.
pub(super) fn stdio(files: &FileArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    serve_files(files.served()?, Transport::stdio(), true, history)
}

/// `mcpgraph studio`.
pub(super) fn studio(args: &StudioArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let transport = Transport::of_studio(args.http, history)?;
    serve_files(args.files.files()?, transport, true, history)
}

/// `mcpgraph serve`.
pub(super) fn serve(args: &ServeArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let hosts = (&args.allow_host[..], &args.allow_origin[..]);
    let mut transport = Transport::of(&args.listening, hosts, history)?;
    if args.studio {
        transport = transport.with_studio()?;
    }
    serve_files(args.files.served()?, transport, !args.no_reload, history)
}

/// What is served.
pub(super) struct Served {
    pub(super) file: GraphFile,
    pub(super) graph: Arc<Graph>,
    /// The procedures beside the graph's tools.
    pub(super) catalogue: Option<Catalogue>,
    /// Whether illegal moves are made all the same, in procedures that do not bind.
    pub(super) lenient: bool,
    /// How long a conversation is kept that nobody goes on with.
    pub(super) idle: Duration,
    /// The files the graph comes from, if it comes from any.
    pub(super) files: Option<Files>,
    /// What the files said when they were read, if their changes are to be followed.
    pub(super) seen: Option<reload::Fingerprint>,
}

fn serve_files(
    files: Files,
    transport: Transport,
    follows: bool,
    history: &HistoryArgs,
) -> anyhow::Result<Exit> {
    let seen = follows.then(|| reload::fingerprint(&files));
    let has_studio = transport.has_studio();
    let loaded = files.load();
    output::diagnostics(&loaded.diagnostics);
    let (file, graph) = match (loaded.file, loaded.graph) {
        (Some(file), Some(graph)) => (file, graph),
        // A file that can be read can be mended in the studio.
        _ if has_studio && Exit::of(&loaded.diagnostics) == Exit::Failure => nothing()?,
        _ => return Ok(Exit::of(&loaded.diagnostics)),
    };
    let catalogue = sops::catalogue_of(&file)?;
    let served =
        Served { file, graph, catalogue, lenient: false, idle: IDLE, files: Some(files), seen };
    serve_loaded(served, transport, history)
}

/// Serves until the client goes away or the process is told to end.
pub(super) fn serve_loaded(
    served: Served,
    transport: Transport,
    history: &HistoryArgs,
) -> anyhow::Result<Exit> {
    let Served { file, graph, catalogue, lenient, idle, files, seen } = served;
    let has_studio = transport.has_studio();
    let (threads, audience) = match transport {
        Transport::Stdio { .. } => (Threads::One, Audience::One),
        Transport::Http { .. } => (Threads::PerCore, Audience::Many),
    };
    let identity = Identity::new(&graph.server.name, files.as_ref());
    let watch = Watch::start(history, &identity, matches!(transport, Transport::Http { .. }));
    // Workflows are in the store whether or not runs are recorded there.
    let store = watch.journal().cloned().or_else(|| history.open().ok().map(Arc::new));
    let library = store.map(Library::new);
    block_on(threads, async move {
        let product = Arc::new(McpGraph::new(file, graph, watch.instruments()));
        watch.show_queues(product.upstreams(), product.hooks());
        let broadcaster = Broadcaster::new();
        let gate = Gate::new(transport.access().cloned());
        let gateway = product.guarded_gateway(broadcaster.clone(), gate.clone());
        let served = Arc::downgrade(&gateway);
        let home = AtHome {
            served: move || {
                let offer = served.upgrade()?.offer();
                Some((offer.runtime().clone(), Arc::clone(offer.graph())))
            },
            files: files.clone().unwrap_or_default(),
        };
        watch.durable().serve(Arc::new(home), true);
        let stored = match library {
            Some(library) => {
                let seen = stored::begin(&library, &gateway)?;
                Some(tokio::spawn(stored::follow(library, Arc::clone(&gateway), seen)))
            }
            None => None,
        };
        let admitting = transport
            .access()
            .filter(|_| watch.journal().is_some_and(|journal| journal.is_shared()))
            .zip(watch.journal())
            .map(|(access, journal)| {
                tokio::spawn(tokens::follow(Arc::clone(access), journal.news()))
            });
        let sealing = match watch.journal() {
            Some(journal) => {
                // Before anybody is given something sealed.
                seals::take(journal, &gateway);
                Some(tokio::spawn(seals::follow(Arc::clone(journal), Arc::clone(&gateway))))
            }
            None => None,
        };
        // Over stdio a conversation is that of the process.
        let shared =
            watch.journal().filter(|journal| journal.is_shared() && audience == Audience::Many);
        let conversations: Arc<dyn Store> = match shared {
            Some(journal) => Arc::new(InStore::new(Arc::clone(journal), idle, MAX_CONVERSATIONS)),
            None => Arc::new(InMemory::new(idle, MAX_CONVERSATIONS)),
        };
        let procedures = Procedures::new(
            Arc::clone(&gateway) as _,
            catalogue,
            conversations,
            broadcaster.clone(),
            Options {
                audience,
                lenient,
                instruments: watch.instruments(),
                gate: gate.clone(),
                elsewhere: shared.map(|journal| walkers::telling(Arc::clone(journal))),
            },
        );
        let walking = shared
            .map(|journal| tokio::spawn(walkers::follow(Arc::clone(&procedures), journal.news())));
        let answering =
            shared.map(|journal| tokio::spawn(gateway.share_questions(Arc::clone(journal))));
        let face = Face {
            product: Arc::clone(&product),
            gateway: Arc::clone(&gateway),
            procedures: Arc::clone(&procedures),
        };
        let changes = tokio::spawn(Arc::clone(&gateway).follow_upstreams());
        let watched = tokio::spawn(Arc::clone(&gateway).follow_watched());
        let names = tokio::spawn({
            let gateway = Arc::clone(&gateway);
            async move { gateway.check_names().await }
        });
        let reload = files
            .clone()
            .zip(seen)
            .map(|(files, seen)| tokio::spawn(reload::follow(files, seen, face.clone())));
        let workshop = files.filter(|_| has_studio).map(|files| Workshop {
            documents: Arc::new(OnDisk::new(files, watch.instruments())),
            upstreams: Arc::clone(product.upstreams()),
            procedures: {
                let procedures = Arc::clone(&procedures);
                Box::new(move || sops::read_again(&procedures.named()))
            },
            serve: Box::new(move |file, graph| face.replace(file, graph)),
        });
        let service = Arc::clone(&procedures) as _;
        let service = RequestLog::new(service, watch.journal().cloned(), gate);
        let store = watch.journal().cloned();
        let durable = Some(Arc::clone(watch.durable()));
        let outcome = over(transport, service, broadcaster, store, durable, |guard, drain| {
            watch.shown().map(|shown| {
                mcpgraph_studio::router(Studio {
                    gateway,
                    journal: watch.journal().cloned(),
                    live: shown.live.clone(),
                    metrics: shown.metrics.clone(),
                    drain: drain.clone(),
                    guard,
                    workshop,
                })
            })
        })
        .await;
        changes.abort();
        watched.abort();
        names.abort();
        if let Some(reload) = reload {
            reload.abort();
        }
        for followed in [stored, sealing, admitting, walking, answering].into_iter().flatten() {
            followed.abort();
            // It has the store, which is closed when nobody has it any more.
            drop(followed.await);
        }
        watch.durable().close().await;
        procedures.close().await;
        drop(procedures);
        product.close().await;
        drop(product);
        watch.end().await;
        outcome
    })
}

/// What is served while a file has errors: no tools.
fn nothing() -> anyhow::Result<(GraphFile, Arc<Graph>)> {
    let source = Source::new("nothing", load::NO_GRAPH);
    let (file, _) = mcpgraph_config::read_graph(&source, &|_| None);
    let file = file.ok_or_else(|| anyhow::anyhow!("an empty graph cannot be read"))?;
    let graph = mcpgraph_graph::compile(&file).0;
    let graph = graph.ok_or_else(|| anyhow::anyhow!("an empty graph cannot be compiled"))?;
    Ok((file, Arc::new(graph)))
}

async fn over(
    transport: Transport,
    service: Arc<dyn Service>,
    broadcaster: Broadcaster,
    store: Option<Arc<Journal>>,
    durable: Option<Arc<DurableRuns>>,
    beside: impl FnOnce(Guard, &Drain) -> Option<Router>,
) -> anyhow::Result<Exit> {
    let shutdown = CancellationToken::new();
    let drain = Drain::default();
    // When the server shuts down, calls under way have been waited for, or shall not be.
    let limits = Limits { shutdown_grace: Duration::ZERO, ..Limits::default() };
    match transport {
        Transport::Stdio { drain: timeout, has_http } => {
            let draining = (drain.clone(), timeout);
            let signals = tokio::spawn(stop_on_signal(shutdown.clone(), draining, durable)?);
            let server = Server::new(drain::around(&drain, service), broadcaster, limits, shutdown);
            if let Some(told) = waiting(std::io::stdin().is_terminal(), has_http) {
                logging::announce(&told);
            }
            let (input, output) = standard_streams();
            start_is_over();
            serve_stdio(&server, input, output).await?;
            signals.abort();
        }
        Transport::Http { address, mut config, access, has_studio, drain: timeout } => {
            let shared = store.as_ref().filter(|store| store.is_shared());
            config.sessions = shared.map(|store| SharedSessions::new(Arc::clone(store)) as _);
            let draining = (drain.clone(), timeout);
            let signals = tokio::spawn(stop_on_signal(shutdown.clone(), draining, durable)?);
            let server = Server::new(drain::around(&drain, service), broadcaster, limits, shutdown);
            let listener = TcpListener::bind(address)
                .await
                .map_err(|error| anyhow::anyhow!("cannot listen at {address}: {error}"))?;
            let url = format!("http://{}{}", listener.local_addr()?, config.path);
            logging::announce(&format!("serving MCP at {url}"));
            if has_studio {
                logging::announce(&format!("the studio is at http://{}/", listener.local_addr()?));
            }
            // A studio asks nobody for a token: names and origins that were added are not for it.
            let own = HttpConfig::default();
            let guard = Guard::new(if has_studio { &own } else { &config });
            let beside = beside(guard, &drain);
            let mut router = http_router(&server, config.clone());
            if let Some(beside) = beside {
                router = router.merge(beside);
            }
            if let Some(access) = access {
                router = authorize::guarded(router, access, config.path.clone(), has_studio);
            }
            router = open_to_pages(router, &config);
            router = router.merge(health::router(drain.clone(), store.as_ref()));
            drop(store);
            start_is_over();
            serve_http(&server, listener, router).await?;
            // Runs that no request waits for are cancelled, and say so in the record.
            drain.is_over(GIVING_UP).await;
            signals.abort();
        }
    }
    Ok(Exit::Success)
}

/// Serves any service over stdio until its client goes away.
pub(super) async fn over_stdio(service: Arc<dyn Service>) -> anyhow::Result<Exit> {
    over(Transport::stdio(), service, Broadcaster::new(), None, None, |_, _| None).await
}
