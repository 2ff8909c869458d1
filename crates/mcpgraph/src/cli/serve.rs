use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use mcpgraph_access::{Access, Tokens};
use mcpgraph_config::model::GraphFile;
use mcpgraph_diagnostics::Source;
use mcpgraph_gateway::{Gate, RequestLog};
use mcpgraph_graph::Graph;
use mcpgraph_journal::Journal;
use mcpgraph_mcp::server::{
    Broadcaster, Guard, HttpConfig, Limits, Server, Service, http_router, serve_http, serve_stdio,
    standard_streams,
};
use mcpgraph_procedures::{
    Audience, Catalogue, IDLE, InMemory, InStore, MAX_CONVERSATIONS, Options, Procedures, Store,
};
use mcpgraph_runtime::DurableRuns;
use mcpgraph_studio::{Studio, Workshop};
use mcpgraph_workflows::Library;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::args::{FileArgs, HistoryArgs, ListenArgs, ServeArgs, StudioArgs};
use super::drain::{DRAIN_TIMEOUT, Drain};
use super::toolkit::OnDisk;
use super::watch::Watch;
use super::{Exit, Threads, authorize, block_on, health, logging, output, start_is_over, usage};
use crate::durable::AtHome;
use crate::load::{self, Files};
use crate::reload::{self, Face};
use crate::sessions::SharedSessions;
use crate::{McpGraph, seals, sops, stored, tokens, walkers};

/// How long calls of durable runs that must not be repeated may take to end before the process does:
/// whoever goes on with their runs could not know what became of them.
const LETTING_GO: Duration = Duration::from_secs(5);

/// `mcpgraph -g FILE`: over stdio, for a client's configuration.
pub(super) fn stdio(files: &FileArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    serve_files(files.served()?, Transport::Stdio { drain: DRAIN_TIMEOUT }, true, history)
}

/// `mcpgraph studio`.
pub(super) fn studio(args: &StudioArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let address = args.http;
    refuse_strangers(address)?;
    let config = HttpConfig::default();
    let access = access(history)?;
    let transport =
        Transport::Http { address, config, access, has_studio: true, drain: DRAIN_TIMEOUT };
    serve_files(args.files.files()?, transport, true, history)
}

/// The studio changes files and calls tools: it is for the person at this machine.
fn refuse_strangers(address: SocketAddr) -> anyhow::Result<()> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(usage(format!(
        "the studio changes files and nothing asks who you are, so it is not served at {address}, \
         which other machines can reach; use a loopback address such as 127.0.0.1"
    )))
}

/// `mcpgraph serve`.
pub(super) fn serve(args: &ServeArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let hosts = (&args.allow_host[..], &args.allow_origin[..]);
    let mut transport = Transport::of(&args.listening, hosts, history)?;
    if let Transport::Http { address, has_studio, .. } = &mut transport
        && args.studio
    {
        refuse_strangers(*address)?;
        *has_studio = true;
    }
    serve_files(args.files.served()?, transport, !args.no_reload, history)
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

/// How clients reach the server.
pub(super) enum Transport {
    Stdio {
        /// How long calls under way may take when the server is to end.
        drain: Duration,
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
    /// What a command line asks for, without a studio: further hosts and origins may be allowed.
    pub(super) fn of(
        listening: &ListenArgs,
        (hosts, origins): (&[String], &[String]),
        history: &HistoryArgs,
    ) -> anyhow::Result<Self> {
        let drain = listening.drain_timeout;
        let Some(address) = listening.http else { return Ok(Self::Stdio { drain }) };
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

    /// Who may come, where that is asked.
    fn access(&self) -> Option<&Arc<Access>> {
        match self {
            Self::Stdio { .. } => None,
            Self::Http { access, .. } => access.as_ref(),
        }
    }
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
    let has_studio = matches!(transport, Transport::Http { has_studio: true, .. });
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
    let has_studio = matches!(transport, Transport::Http { has_studio: true, .. });
    let (threads, audience) = match transport {
        Transport::Stdio { .. } => (Threads::One, Audience::One),
        Transport::Http { .. } => (Threads::PerCore, Audience::Many),
    };
    let watch = Watch::start(history, matches!(transport, Transport::Http { .. }));
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
        let outcome = over(transport, service, broadcaster, store, durable, |config| {
            watch.shown().map(|shown| {
                mcpgraph_studio::router(Studio {
                    gateway,
                    journal: watch.journal().cloned(),
                    live: shown.live.clone(),
                    metrics: shown.metrics.clone(),
                    guard: Guard::new(config),
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
    beside: impl FnOnce(&HttpConfig) -> Option<Router>,
) -> anyhow::Result<Exit> {
    let shutdown = CancellationToken::new();
    let drain = Drain::default();
    // When the server shuts down, calls under way have been waited for, or shall not be.
    let limits = Limits { shutdown_grace: Duration::ZERO, ..Limits::default() };
    match transport {
        Transport::Stdio { drain: timeout } => {
            let draining = (drain.clone(), timeout);
            let signals = tokio::spawn(stop_on_signal(shutdown.clone(), draining, durable)?);
            let server = Server::new(drain.around(service), broadcaster, limits, shutdown);
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
            let server = Server::new(drain.around(service), broadcaster, limits, shutdown);
            let listener = TcpListener::bind(address)
                .await
                .map_err(|error| anyhow::anyhow!("cannot listen at {address}: {error}"))?;
            let url = format!("http://{}{}", listener.local_addr()?, config.path);
            logging::announce(&format!("serving MCP at {url}"));
            if has_studio {
                logging::announce(&format!("the studio is at http://{}/", listener.local_addr()?));
            }
            let beside = beside(&config);
            let path = config.path.clone();
            let mut router = http_router(&server, config);
            if let Some(beside) = beside {
                router = router.merge(beside);
            }
            if let Some(access) = access {
                router = authorize::guarded(router, access, path, has_studio);
            }
            router = router.merge(health::router(drain, store.as_ref()));
            drop(store);
            start_is_over();
            serve_http(&server, listener, router).await?;
            signals.abort();
        }
    }
    Ok(Exit::Success)
}

/// Serves any service over stdio until its client goes away.
pub(super) async fn over_stdio(service: Arc<dyn Service>) -> anyhow::Result<Exit> {
    over(Transport::Stdio { drain: DRAIN_TIMEOUT }, service, Broadcaster::new(), None, None, |_| {
        None
    })
    .await
}

/// What happens when the system or the keyboard asks the server to end. The system's first word lets
/// calls under way finish; its second, or the keyboard's first, does not. Durable runs are let go of
/// in any case.
///
/// The signals are caught from here on, not only when the future is first looked at.
fn stop_on_signal(
    shutdown: CancellationToken,
    (drain, timeout): (Drain, Duration),
    durable: Option<Arc<DurableRuns>>,
) -> std::io::Result<impl Future<Output = ()> + use<>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        let is_polite = tokio::select! {
            _ = terminate.recv() => true,
            _ = interrupt.recv() => false,
        };
        if is_polite {
            tokio::select! {
                () = drain.drain(timeout) => {}
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
        }
        if let Some(durable) = durable {
            drop(tokio::time::timeout(LETTING_GO, durable.let_go()).await);
        }
        mcpgraph_runtime::process_ends();
        shutdown.cancel();
    })
}
