mod blame;
mod steps;
mod strangers;
mod typed;

use std::io::Read as _;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use mcpgraph_config::model::GraphFile;
use mcpgraph_engine::{Call, Event};
use mcpgraph_graph::{Ask, Graph, Tool};
use mcpgraph_journal::{Face, Origin};
use mcpgraph_mcp::message::Raw;
use mcpgraph_runtime::{Caller, Execution, Finished};
use mcpgraph_value::{Map, Value};
use parking_lot::Mutex;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use self::blame::Blame;
use self::steps::Steps;
use self::strangers::strangers;
pub(super) use self::typed::typed;
use super::args::{HistoryArgs, RunArgs};
use super::watch::Watch;
use super::{Exit, Threads, block_on, draw, output, usage};
use crate::McpGraph;
use crate::durable::{AtHome, Identity};
use crate::load::Files;

/// Calls one tool: the result goes to stdout, everything else to stderr.
pub(super) fn run(args: RunArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let files = args.files.files()?;
    let loaded = files.load();
    output::diagnostics(&loaded.diagnostics);
    let (Some(file), Some(graph)) = (loaded.file, loaded.graph) else {
        return Ok(Exit::of(&loaded.diagnostics));
    };
    let tool = draw::find(&graph, &args.tool)?;
    let input = arguments(&args, &tool)?;
    for told in strangers(&input, &tool) {
        output::warning(&told);
    }
    let origin = Origin { face: Face::Cli, ..Origin::default() };
    let show = Show { steps: args.trace, json: args.json };
    show.execute(Subject { file, graph, files: Some(files) }, history, async |product, watched| {
        let call = Execution { origin, ..product.call(&tool, input) };
        product.execute(watched.with(call)).await
    })
}

/// How a run is shown.
#[derive(Clone, Copy)]
pub(super) struct Show {
    /// Every step, on stderr.
    pub(super) steps: bool,
    /// The result as a document with all steps.
    pub(super) json: bool,
}

/// What is executed.
pub(super) struct Subject {
    pub(super) file: GraphFile,
    pub(super) graph: Arc<Graph>,
    /// The files it comes from, if it comes from any.
    pub(super) files: Option<Files>,
}

/// A run that is watched and can be interrupted.
pub(super) struct Watched {
    watcher: Arc<Watcher>,
    cancel: CancellationToken,
}

impl Watched {
    /// The call, watched.
    pub(super) fn with(&self, call: Execution) -> Execution {
        let caller = Arc::clone(&self.watcher) as Arc<dyn Caller>;
        Execution { caller, cancel: self.cancel.clone(), ..call }
    }

    /// Writes a line to stderr, whatever else is shown there.
    pub(super) fn say(&self, line: &str) {
        self.watcher.say(line);
    }
}

impl Show {
    /// Executes a run of a graph to its end: the result goes to stdout, everything else to stderr.
    pub(super) fn execute(
        self,
        subject: Subject,
        history: &HistoryArgs,
        run: impl AsyncFnOnce(&McpGraph, &Watched) -> Finished,
    ) -> anyhow::Result<Exit> {
        let Subject { file, graph, files } = subject;
        let blame = Blame::new(&file);
        let identity = Identity::new(&graph.server.name, files.as_ref());
        let watch = Watch::start(history, &identity, false);
        block_on(Threads::One, async move {
            let product = McpGraph::new(file, graph, watch.instruments());
            watch.show_queues(product.upstreams(), product.hooks());
            let (runtime, graph) = (product.runtime().clone(), Arc::clone(product.graph()));
            let home = AtHome {
                served: move || Some((runtime.clone(), Arc::clone(&graph))),
                files: files.unwrap_or_default(),
            };
            watch.durable().serve(Arc::new(home), false);
            let watcher = Arc::new(Watcher::new(self, watch.journal().is_some()));
            let cancel = CancellationToken::new();
            let asked = Arc::new(OnceLock::new());
            let signals = tokio::spawn(stop_on_signal(cancel.clone(), Arc::clone(&asked))?);
            let watched = Watched { watcher: Arc::clone(&watcher), cancel };
            let finished = run(&product, &watched).await;
            signals.abort();
            watcher.finish();
            // It is in the store; what else there is to end, a collector may hold up.
            let reported = report(&finished, &watcher, &blame, self.json);
            watch.durable().close().await;
            product.close().await;
            drop(product);
            watch.end().await;
            reported?;
            Ok(match (&finished.outcome, asked.get()) {
                (Ok(_), _) => Exit::Success,
                (Err(_), Some(exit)) => *exit,
                (Err(_), None) => Exit::Failure,
            })
        })
    }
}

/// Cancels the run when the keyboard or the system asks for that, and notes who did.
fn stop_on_signal(
    cancel: CancellationToken,
    asked: Arc<OnceLock<Exit>>,
) -> std::io::Result<impl Future<Output = ()> + use<>> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        let exit = tokio::select! {
            _ = interrupt.recv() => Exit::Interrupted,
            _ = terminate.recv() => {
                mcpgraph_runtime::process_ends();
                Exit::Terminated
            }
        };
        asked.get_or_init(|| exit);
        cancel.cancel();
    })
}

fn report(
    finished: &Finished,
    watcher: &Watcher,
    blame: &Blame,
    as_json: bool,
) -> anyhow::Result<()> {
    if as_json {
        let mut report: Map = Map::from_iter([("run", finished.run.to_string())]);
        match &finished.outcome {
            Ok(result) => report.insert("result", result.clone()),
            Err(error) => report.insert("error", finished.details(error)),
        };
        let steps = watcher.steps.as_ref().map(|steps| steps.lock().to_value());
        report.insert("steps", steps.unwrap_or_default());
        return output::data(&(Value::from(report).to_json_pretty() + "\n"));
    }
    match &finished.outcome {
        Ok(Value::String(text)) => output::data(&format!("{text}\n")),
        Ok(result) => output::data(&(result.to_json_pretty() + "\n")),
        Err(error) => {
            blame.tell(finished, error);
            Ok(())
        }
    }
}

/// The arguments of the call, from `--args` and then from each `key=value`.
fn arguments(args: &RunArgs, tool: &Tool) -> anyhow::Result<Value> {
    let map = match args.args.as_deref() {
        None => Map::new(),
        Some(text) => {
            let text = if text == "-" {
                let mut text = String::new();
                std::io::stdin().read_to_string(&mut text)?;
                text
            } else {
                text.to_owned()
            };
            match Value::from_json(&text) {
                Ok(Value::Object(members)) => (*members).clone(),
                Ok(_) => return Err(usage("--args must be a JSON object")),
                Err(error) => return Err(usage(format!("--args is not JSON: {error}"))),
            }
        }
    };
    Ok(typed(&args.arguments, &tool.input, map)?.into())
}

/// Shows a run while it happens.
struct Watcher {
    traces: bool,
    /// Whether questions are kept where somebody finds them.
    can_be_asked: bool,
    bar: Option<ProgressBar>,
    /// The steps, if somebody wants to see them.
    steps: Option<Mutex<Steps>>,
}

impl Watcher {
    fn new(show: Show, can_be_asked: bool) -> Self {
        let bar = output::is_watched().then(|| {
            let bar = ProgressBar::new_spinner();
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        });
        let steps = (show.steps || show.json).then(|| Mutex::new(Steps::new(show.json)));
        Self { traces: show.steps, can_be_asked, bar, steps }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn say(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| output::say(line)),
            None => output::say(line),
        }
    }
}

#[async_trait::async_trait]
impl Caller for Watcher {
    fn event(&self, event: &Event) {
        if let (Some(bar), Event::StepStarted { node, .. }) = (&self.bar, event) {
            bar.set_message(node.to_string());
        }
        if self.can_be_asked
            && let Event::StepStarted { kind: "ask", input: Some(question), .. } = event
        {
            let message = Ask::message(question);
            self.say(&format!("it asks, and `mcpgraph questions` answers: {message}\n"));
        }
        let line = self.steps.as_ref().and_then(|steps| steps.lock().take(event));
        if self.traces
            && let Some(line) = line
        {
            self.say(&line);
        }
    }

    async fn progress(&self, call: &Call, params: Raw) {
        let Some(bar) = &self.bar else { return };
        let params = Value::from_json(params.get()).unwrap_or_default();
        let message = params.get("message").and_then(Value::as_str).unwrap_or_default();
        bar.set_message(format!("{} {message}", call.node));
    }
}
