//! A server with the interface, and a client that sends bytes.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use mcpgraph_diagnostics::{Diagnostics, Source};
use mcpgraph_files::SaveError;
use mcpgraph_gateway::{Gateway, Offer};
use mcpgraph_journal::{Journal, JournalOptions};
use mcpgraph_mcp::server::{Broadcaster, Guard, HttpConfig};
use mcpgraph_runtime::{self as runtime, Drain, Instruments, LiveRuns};
use mcpgraph_sop::Procedure;
use mcpgraph_studio::{Studio, Workshop, router};
use mcpgraph_telemetry::Metrics;
use mcpgraph_toolkit::{Documents, Loaded, NotSaved};
use mcpgraph_upstream::{ClientInfo, UpstreamOptions, Upstreams, specs};
use mcpgraph_value::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub(crate) const GRAPH: &str = r#"
server: { name: studio, version: "1" }
tools:
  - name: sum_to
    description: Adds the numbers from 1 to n
    inputSchema: { type: object, properties: { n: { type: number } }, required: [n] }
    nodes:
      - { id: entry, type: entry, next: count }
      - id: count
        type: transform
        transform: { expr: "{ 'i': $executionCount('count') + 1, 'sum': ($executionCount('count') = 0 ? 0 : $nodeExecution('count', -1).sum) + $executionCount('count') + 1 }" }
        next: more
      - id: more
        type: switch
        conditions:
          - { rule: { "<": [{ var: count.i }, { var: entry.n }] }, target: count }
          - { target: exit }
      - { id: exit, type: exit }
"#;

pub(crate) const PROCEDURE: &str = r#"---
agent: desk
version: 1.0
enforce: true
tools: [look]
guards:
  CHECK:
    "yes": {"==": [{"var": "look.found"}, true]}
---

## Role

You answer.

```mermaid
flowchart TD
    START([Asked]) --> CHECK{"Known?"}
    CHECK -->|yes| SAY([Answer])
    CHECK -->|no| ASK["Ask back"] --> CHECK
```

## Node Prompts

### CHECK

```yaml
tools: [look]
```

Look it up.
"#;

pub(crate) struct World {
    address: std::net::SocketAddr,
    pub(crate) gateway: Arc<Gateway>,
    pub(crate) journal: Option<Arc<Journal>>,
    pub(crate) drain: Drain,
    folder: TempDir,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    /// The status line and the headers.
    pub(crate) head: String,
    pub(crate) body: String,
}

/// The events of a stream.
pub(crate) struct Events(BufReader<TcpStream>);

#[derive(Debug, Default, PartialEq)]
pub(crate) struct Sent {
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) data: String,
}

impl World {
    /// Without pages, as `serve --http` is.
    pub(crate) async fn new(records: bool) -> Self {
        Self::of(GRAPH, records, false).await
    }

    /// With the pages and a file on the disk, as `studio` is.
    pub(crate) async fn with_file(text: &str) -> Self {
        Self::of(text, true, true).await
    }

    async fn of(text: &str, records: bool, has_file: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("graph.yaml"), text).unwrap();
        let journal = records
            .then(|| Arc::new(Journal::open(folder.path(), JournalOptions::default()).unwrap()));
        let documents = OnDisk(folder.path().join("graph.yaml"));
        let loaded = documents.with_text(text);
        let (file, graph) = (loaded.file.unwrap(), loaded.graph.unwrap());
        let info = ClientInfo { name: "test".into(), title: None, version: "1".into() };
        let options = UpstreamOptions::new(info);
        let upstreams = Arc::new(Upstreams::new(specs(&file.servers), options));
        let (metrics, live) = (Metrics::new(), LiveRuns::default());
        let instruments = Instruments {
            journal: journal.clone(),
            observers: vec![metrics.observer()],
            live: Some(live.clone()),
            durable: None,
        };
        let world = runtime::World::new(Arc::clone(&upstreams));
        let offer = Offer::new(graph, &[], &world, instruments.clone());
        let gateway = Gateway::new(offer, Arc::clone(&upstreams), Broadcaster::new());
        let guard = Guard::new(&HttpConfig::default());
        let shown = Arc::clone(&gateway);
        let workshop = has_file.then(|| {
            let at = Arc::clone(&gateway);
            Workshop {
                documents: Arc::new(documents),
                upstreams,
                procedures: Box::new(procedures),
                serve: Box::new(move |file, graph| {
                    world.upstreams.replace(specs(&file.servers));
                    at.replace(Offer::new(graph, &[], &world, instruments.clone()));
                }),
            }
        });
        let kept = journal.clone();
        let drain = Drain::default();
        let draining = drain.clone();
        let router =
            router(Studio { gateway: shown, journal, live, metrics, drain, guard, workshop });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, gateway, journal: kept, drain: draining, folder }
    }

    /// The graph file.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("graph.yaml")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "", None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        self.send("POST", path, "Content-Type: application/json\r\n", Some(body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &str) -> Answer {
        self.send("PUT", path, "Content-Type: application/json\r\n", Some(body)).await
    }

    /// Starts a run of the tool; its id.
    pub(crate) async fn start(&self, body: &str) -> String {
        let answer = self.post("/api/runs", body).await;
        assert_eq!(answer.status, 201, "{}", answer.body);
        answer.text("run")
    }

    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<&str>,
    ) -> Answer {
        let mut stream = self.connect(method, path, headers, body).await;
        let mut text = String::new();
        stream.read_to_string(&mut text).await.unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer { status: status(head), head: head.to_owned(), body: body.to_owned() }
    }

    /// Follows a stream of events.
    pub(crate) async fn follow(&self, path: &str, headers: &str) -> Events {
        let headers = format!("Accept: text/event-stream\r\n{headers}");
        let mut reader = BufReader::new(self.connect("GET", path, &headers, None).await);
        let mut line = String::new();
        reader.read_line(&mut line).await.unwrap();
        assert_eq!(status(&line), 200, "{line}");
        Events(reader)
    }

    async fn connect(
        &self,
        method: &str,
        path: &str,
        headers: &str,
        body: Option<&str>,
    ) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let host = if headers.contains("Host:") { "" } else { "Host: localhost\r\n" };
        let length = body.map_or(0, str::len);
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{host}{headers}Content-Length: {length}\r\n\
             Connection: close\r\n\r\n{}",
            body.unwrap_or_default()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }
}

/// A procedure that is served beside the tools.
fn procedures() -> (Vec<Arc<Procedure>>, Diagnostics) {
    let (procedure, diagnostics) = mcpgraph_sop::read(&Source::new("desk.md", PROCEDURE));
    (procedure.map(Arc::new).into_iter().collect(), diagnostics)
}

/// A file, read and saved by the code of the product.
struct OnDisk(PathBuf);

impl Documents for OnDisk {
    fn source(&self) -> Result<Arc<Source>, String> {
        mcpgraph_files::read(&self.0).map_err(|error| error.to_string())
    }

    fn read(&self) -> Loaded {
        self.with_text(self.source().unwrap().text())
    }

    fn with_text(&self, text: &str) -> Loaded {
        let source = Source::new("graph.yaml", text);
        let (file, mut diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
        let Some(file) = file else { return Loaded { file, graph: None, diagnostics } };
        let (graph, found) = mcpgraph_graph::compile(&file);
        diagnostics.extend(found);
        file.fill_pointers(&mut diagnostics);
        let graph = graph.filter(|_| !diagnostics.has_errors()).map(Arc::new);
        Loaded { file: Some(file), graph, diagnostics }
    }

    fn save(
        &self,
        seen: &Source,
        edit: &mut dyn FnMut(&Arc<Source>) -> Option<String>,
    ) -> Result<(), NotSaved> {
        match mcpgraph_files::save(&self.0, seen, |now| edit(now).ok_or(())) {
            Ok(_) => Ok(()),
            Err(SaveError::Edit(()) | SaveError::Changed { .. }) => Err(NotSaved::Declined),
            Err(_) => Err(NotSaved::Failed("the disk".to_owned())),
        }
    }
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        Value::from_json(&self.body).unwrap()
    }

    pub(crate) fn text(&self, key: &str) -> String {
        self.json().get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}

impl Events {
    /// The next event; none at the end of the stream.
    pub(crate) async fn next(&mut self) -> Option<Sent> {
        let mut sent = Sent::default();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line).await.unwrap() == 0 {
                return None;
            }
            match line.trim_end().split_once(": ") {
                Some(("id", id)) => sent.id = id.to_owned(),
                Some(("event", event)) => sent.event = event.to_owned(),
                Some(("data", data)) => sent.data = data.to_owned(),
                _ if line.trim().is_empty() && !sent.data.is_empty() => return Some(sent),
                // Headers, sizes of chunks and comments.
                _ => {}
            }
        }
    }

    pub(crate) async fn all(mut self) -> Vec<Sent> {
        let mut all = Vec::new();
        while let Some(sent) = self.next().await {
            all.push(sent);
        }
        all
    }

    /// Reads on to an event of this name.
    pub(crate) async fn until(&mut self, event: &str) -> Sent {
        loop {
            let sent = self.next().await.expect("the stream ended");
            if sent.event == event {
                return sent;
            }
        }
    }
}
