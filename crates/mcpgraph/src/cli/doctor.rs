//! Checks everything a server needs, and says what to do about what is wrong.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use mcpgraph_config::model::{BackendDef, BackendKind, GraphFile};
use mcpgraph_diagnostics::{Colour, printable, to_terminal};
use mcpgraph_gateway::Missing;
use mcpgraph_journal::{Examined, JournalError};
use mcpgraph_mcp::version::Version;
use mcpgraph_runtime::Instruments;
use mcpgraph_toolkit::check_calls;
use mcpgraph_upstream::ToolInfo;
use serde_json::json;

use super::args::{DoctorArgs, HistoryArgs};
use super::runs::text::count;
use super::{Exit, Threads, block_on, output};
use crate::McpGraph;
use crate::load::Files;

/// How far clocks may be apart before that is doubtful.
const MAX_APART: Duration = Duration::from_secs(5);

/// How much room a disk should have.
const MIN_FREE_MIB: u64 = 256;

/// How many connections a replica may have to its database, see docs/scale.md.
const OF_REPLICA: u64 = 21;

/// How many replicas there should be room for: two are what a database is for, and while they are
/// replaced one after the other there is one more.
const MIN_REPLICAS: u64 = 3;

/// How long a server may take to be started and asked.
const SERVER_PATIENCE: Duration = Duration::from_mins(1);

/// Something that was looked at.
struct Check {
    name: String,
    verdict: Verdict,
    found: String,
    /// What to do about it.
    todo: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Fine,
    Doubtful,
    Wrong,
}

impl Verdict {
    fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Doubtful => "doubtful",
            Self::Wrong => "wrong",
        }
    }
}

impl Check {
    fn fine(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.to_owned(), verdict: Verdict::Fine, found: found.into(), todo: None }
    }

    fn but(self, verdict: Verdict, todo: impl Into<String>) -> Self {
        Self { verdict, todo: Some(todo.into()), ..self }
    }
}

/// `mcpgraph doctor`.
pub(super) fn doctor(args: &DoctorArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let files = match args.files.served() {
        Ok(files) => Some(files),
        // What was named has to be there; what was not may be nowhere.
        Err(error) if args.files.graph.is_some() || args.files.mcp.is_some() => return Err(error),
        Err(_) => None,
    };
    let mut checks = vec![versions()];
    checks.extend(store(history)?);
    match &files {
        Some(files) => checks.extend(served(files)?),
        None => checks.push(Check::fine("file", "none was named, so none was looked at")),
    }
    let is_well = checks.iter().all(|check| check.verdict != Verdict::Wrong);
    output::data(&if args.json { report(&checks, is_well) } else { text(&checks) })?;
    Ok(if is_well { Exit::Success } else { Exit::Failure })
}

fn versions() -> Check {
    let eras: Vec<&str> = Version::ALL.into_iter().map(Version::as_str).collect();
    let found = format!("mcpgraph {}, MCP {}", env!("CARGO_PKG_VERSION"), eras.join(", "));
    Check::fine("versions", found)
}

/// The store, its clock and its disk.
fn store(history: &HistoryArgs) -> anyhow::Result<Vec<Check>> {
    if history.no_history {
        return Ok(vec![Check::fine("store", "none: --no-history was said")]);
    }
    let opened = history.create();
    let examined = match opened {
        Ok(journal) => journal.examine().map(|examined| (journal.place(), examined)),
        Err(error) => match error.downcast::<JournalError>() {
            Ok(error) => Err(error),
            // The command line is wrong.
            Err(error) => return Err(error),
        },
    };
    let (place, Examined { database, clock_apart, connections }) = match examined {
        Ok(examined) => examined,
        Err(error) => {
            let wrong = Check::fine("store", error.to_string());
            return Ok(vec![wrong.but(Verdict::Wrong, advice(&error, history))]);
        }
    };
    let found = format!("{database}, {place}: written and read back, the tables are up to date");
    let mut checks = vec![Check::fine("store", found)];
    if history.store.is_some() {
        let clock = format!("{} ms from the database's", clock_apart.as_millis());
        let clock = Check::fine("clock", clock);
        checks.push(if clock_apart > MAX_APART {
            clock.but(Verdict::Doubtful, "let both machines set their clocks by the network (NTP)")
        } else {
            clock
        });
        checks.extend(connections.map(room_for_replicas));
    } else {
        checks.extend(disk(&history.folder()?));
    }
    Ok(checks)
}

/// How many replicas the database has connections for.
fn room_for_replicas(connections: u64) -> Check {
    let replicas = count((connections / OF_REPLICA) as usize, "replica");
    let found = format!("max_connections is {connections}, enough for {replicas}");
    let check = Check::fine("connections", found);
    if connections < MIN_REPLICAS * OF_REPLICA {
        check.but(
            Verdict::Doubtful,
            format!("a replica has up to {OF_REPLICA}: raise max_connections of the database"),
        )
    } else {
        check
    }
}

/// What to do about a store that does not work.
fn advice(error: &JournalError, history: &HistoryArgs) -> &'static str {
    match error {
        JournalError::Newer { .. } => "use the newer mcpgraph that wrote it, or another folder",
        JournalError::NotAStore { .. } => "name another folder with --data",
        JournalError::Open { .. } => {
            "see that this user may write to the folder, or name another with --data"
        }
        _ if history.store.is_some() => {
            "see that the database runs, that the URL of --store is right, and that its user may \
             make a schema there (GRANT CREATE ON DATABASE)"
        }
        _ => "see that the disk has room and works; the file can be moved away to begin anew",
    }
}

/// How much room the folder of the file has; none where the system does not say.
fn disk(folder: &Path) -> Option<Check> {
    let found = rustix::fs::statvfs(folder).ok()?;
    let free = found.f_bavail.saturating_mul(found.f_frsize) / (1024 * 1024);
    let check = Check::fine("disk", format!("{free} MiB free for {}", folder.display()));
    Some(if free < MIN_FREE_MIB {
        check.but(Verdict::Doubtful, "make room, or keep less: --keep-mib, --keep-days")
    } else {
        check
    })
}

/// The files, and the servers they name.
fn served(files: &Files) -> anyhow::Result<Vec<Check>> {
    let loaded = files.load();
    let (errors, warnings) = (loaded.diagnostics.error_count(), loaded.diagnostics.warning_count());
    let name = files.graph.display();
    let (Some(file), Some(graph)) = (loaded.file, loaded.graph) else {
        let problems = to_terminal(&loaded.diagnostics, Colour::Plain);
        let check =
            Check::fine("file", format!("{name} has {}\n{problems}", count(errors, "error")));
        return Ok(vec![
            check.but(Verdict::Wrong, "mend what is said; `mcpgraph check` says it too"),
        ]);
    };
    let (tools, warnings) = (count(graph.tools.len(), "tool"), count(warnings, "warning"));
    let check = Check::fine("file", format!("{name}: {tools}, {warnings}"));
    let mut checks = vec![check];
    checks.extend(file.backends.iter().filter_map(backend));
    checks.extend(block_on(Threads::One, async {
        let product = McpGraph::new(file.clone(), graph, Instruments::default());
        let servers = product.upstreams().names();
        let looks = servers.iter().map(|server| look(&product, &file, server));
        let checks = futures_util::future::join_all(looks).await;
        product.close().await;
        Ok(checks)
    })?);
    Ok(checks)
}

/// Whether a backend's file or folder is there; none of a backend that has neither.
fn backend(def: &BackendDef) -> Option<Check> {
    let (path, is_there): (_, fn(&Path) -> bool) = match &def.kind {
        BackendKind::Sqlite { path, .. } => (path, Path::is_file),
        BackendKind::Process { cwd: Some(cwd), .. } => (cwd, Path::is_dir),
        _ => return None,
    };
    let path = Path::new(&path.value);
    let name = format!("backend {}", def.name);
    if is_there(path) {
        return Some(Check::fine(&name, path.display().to_string()));
    }
    let todo = "name one that is there: a path is relative to the folder mcpgraph is started in, \
                and `${GRAPH_DIR}` is the folder of the file";
    let found = format!("{} is not there", path.display());
    Some(Check::fine(&name, found).but(Verdict::Wrong, todo))
}

/// Whether a server can be started, answers, and has what the file says of it.
async fn look(product: &McpGraph, file: &GraphFile, server: &str) -> Check {
    let name = format!("server {server}");
    let asked = tokio::time::timeout(SERVER_PATIENCE, async {
        let connection = product.upstreams().connection(server).await?;
        let tools = product.upstreams().list_tools(server).await?;
        Ok::<_, mcpgraph_upstream::UpstreamError>((connection.version(), tools))
    });
    match asked.await {
        Ok(Ok((version, tools))) => {
            let found = format!("speaks MCP {version}, has {}", count(tools.len(), "tool"));
            compared(Check::fine(&name, found), file, server, &tools)
        }
        Ok(Err(error)) => Check::fine(&name, error.to_string()).but(Verdict::Wrong, error.hint()),
        Err(_) => {
            let found = format!("does not answer within {} s", SERVER_PATIENCE.as_secs());
            let todo = format!("check `mcpServers.{server}`: that it runs on its own");
            Check::fine(&name, found).but(Verdict::Wrong, todo)
        }
    }
}

/// What the file says of a server that answers, compared with its tools.
fn compared(check: Check, file: &GraphFile, server: &str, tools: &[ToolInfo]) -> Check {
    let calls = check_calls(file, server, tools);
    let hidden: Vec<Missing> =
        file.server(server).map(|def| Missing::of(def, tools)).unwrap_or_default();
    if calls.is_empty() && hidden.is_empty() {
        return check;
    }
    let mut found = check.found;
    for missing in &hidden {
        // Writing to a text does not fail.
        write!(found, "\n{missing}").unwrap_or_default();
    }
    write!(found, "\n{}", to_terminal(&calls, Colour::Plain)).unwrap_or_default();
    let is_wrong = calls.has_errors();
    Check { found, ..check }.but(
        if is_wrong { Verdict::Wrong } else { Verdict::Doubtful },
        "correct the names in the file; its own lists are in the studio, under Upstreams",
    )
}

fn text(checks: &[Check]) -> String {
    let width = checks.iter().map(|check| check.name.len()).max().unwrap_or_default();
    let mut text = String::new();
    for Check { name, verdict, found, todo } in checks {
        let mut lines = found.lines();
        let first = lines.next().unwrap_or_default();
        // Writing to a text does not fail.
        writeln!(text, "{:<8}  {name:<width$}  {}", verdict.name(), printable(first))
            .unwrap_or_default();
        for line in lines.filter(|line| !line.is_empty()) {
            writeln!(text, "{:width$}  {}", "", printable(line), width = width + 10)
                .unwrap_or_default();
        }
        if let Some(todo) = todo {
            writeln!(text, "{:width$}  → {todo}", "", width = width + 10).unwrap_or_default();
        }
    }
    text
}

fn report(checks: &[Check], is_well: bool) -> String {
    let checks = checks.iter().map(|Check { name, verdict, found, todo }| {
        json!({ "check": name, "status": verdict.name(), "found": found, "todo": todo })
    });
    format!("{:#}\n", json!({ "ok": is_well, "checks": checks.collect::<Vec<_>>() }))
}
