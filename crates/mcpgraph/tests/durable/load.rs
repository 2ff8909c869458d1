//! Runs of every kind, many at once, and what has to hold for them whatever happened meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcpgraph_journal::{Filter, RunStatus, RunSummary};
use mcpgraph_testkit::{Cable, PostgresServer, Replica, postgres};
use serde_json::{Value, json};

use crate::world::{PATIENCE, World, append, until};

/// The kinds of steps, and the tools that have one as their step 2, between two others.
pub(crate) const KINDS: [&str; 11] = [
    "repeatable",
    "effect",
    "retried",
    "process",
    "http",
    "sql",
    "wait",
    "ask",
    "foreach",
    "parallel",
    "graph",
];

/// The kinds whose step 2 is not repeated: where it was under way, its run fails and says so.
const AT_MOST_ONCE: [&str; 3] = ["effect", "process", "sql"];

/// Asks the database who does what.
const SESSIONS: &str = "SELECT string_agg(concat_ws(' ', pid, state, now() - state_change,
    wait_event_type, wait_event, 'by ' || pg_blocking_pids(pid)::text, query), E'\n')
    FROM pg_stat_activity WHERE datname = current_database()";

/// What a program does that is a step.
const PROGRAM: &str = r#"echo "begin $0:2 -" >> COUNTS; sleep 0.6; echo "end $0:2 -" >> COUNTS"#;

/// The head of the file.
const HEAD: &str = "version: '2'
server: {name: load, version: '1'}
mcpServers:
  counting: {command: 'COUNTING', args: ['COUNTS']}
backends:
  programs: {process: {}}
  web: {http: {url: 'http://WEB', allow_hosts: ['WEB']}}
  database: {postgres: {url: 'DATABASE', write: true}}
tools:
";

/// Calls of tools, one of each kind, on whatever processes there are.
pub(crate) struct Load {
    pub(crate) world: World,
    calls: Vec<Call>,
    /// Those who are to live until the runs have ended.
    living: Vec<(Replica, Option<Cable>)>,
}

/// A call that was made.
struct Call {
    kind: &'static str,
    /// Which process was called.
    on: SocketAddr,
    answer: JoinHandle<Option<Value>>,
    /// It was under way when its process was killed.
    is_hit: bool,
}

impl Load {
    /// A world of its own; none where the counting server is not built.
    pub(crate) fn new(server: &PostgresServer, name: &str) -> Option<Self> {
        let world = World::of_graph(&graph(), Some(server.create_database(name)))?;
        let web = serve_web(world.counts());
        world.fill("WEB", &web.to_string());
        world.fill("DATABASE", &server.url());
        Some(Self { world, calls: Vec::new(), living: Vec::new() })
    }

    /// Calls a tool of a process.
    pub(crate) fn call(&mut self, replica: &Replica, kind: &'static str) {
        let answer = replica.call(kind, &json!({"n": self.calls.len()}));
        let on = replica.address().parse().unwrap();
        self.calls.push(Call { kind, on, answer, is_hit: false });
    }

    /// How many calls were made.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// Keeps a process until the runs have ended.
    pub(crate) fn keep(&mut self, replica: Replica, cable: Option<Cable>) {
        self.living.push((replica, cable));
    }

    /// A process is about to be killed: how many of its calls are under way. A question is, until it
    /// is answered.
    pub(crate) fn hit(&mut self, replica: &Replica) -> usize {
        let on: SocketAddr = replica.address().parse().unwrap();
        let is_under_way = |call: &&mut Call| {
            call.on == on && !call.is_hit && (!call.answer.is_finished() || call.kind == "ask")
        };
        self.calls.iter_mut().filter(is_under_way).map(|call| call.is_hit = true).count()
    }

    /// How many calls of each kind were under way when their process was killed.
    pub(crate) fn hits(&self) -> BTreeMap<&'static str, usize> {
        let mut hits = BTreeMap::new();
        for call in &self.calls {
            *hits.entry(call.kind).or_default() += usize::from(call.is_hit);
        }
        hits
    }

    /// How many runs have begun.
    pub(crate) fn begun(&self) -> usize {
        let lines = self.world.lines();
        let begun = lines.iter().filter_map(|line| line.strip_prefix("begin ")?.split(':').next());
        begun.collect::<BTreeSet<&str>>().len()
    }

    /// Answers every question, and waits until all calls are answered and all runs have ended.
    pub(crate) fn finish(&self) -> Vec<RunSummary> {
        until("every call is answered", || {
            self.answer_questions();
            self.calls.iter().all(|call| call.answer.is_finished()).then_some(())
        });
        self.ended()
    }

    /// Answers every question, and waits until all runs have ended.
    pub(crate) fn ended(&self) -> Vec<RunSummary> {
        let began = Instant::now();
        loop {
            self.answer_questions();
            let journal = self.world.journal().unwrap();
            let runs = journal.list(&Filter { limit: 1000, ..Filter::default() }).unwrap().runs;
            let goes_on = |run: &&RunSummary| {
                matches!(run.status, RunStatus::Running | RunStatus::Interrupted)
            };
            let left: Vec<&RunSummary> = runs.iter().filter(goes_on).collect();
            if left.is_empty() {
                return runs;
            }
            if began.elapsed() > PATIENCE {
                for (replica, _) in &self.living {
                    eprintln!("{}: {:#?}", replica.address(), replica.said());
                }
                let said = postgres::ask(self.world.store().unwrap(), SESSIONS);
                panic!("these do not end: {left:#?}; the sessions are {said}");
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    fn answer_questions(&self) {
        let Ok(pending) = self.world.journal().unwrap().pending_questions(None) else { return };
        for question in pending {
            let mut answer = Command::new(env!("CARGO_BIN_EXE_mcpgraph"));
            answer.args(["questions", "answer", &question.id.to_string()]);
            answer.args(["--store", self.world.store().unwrap()]);
            // The question may have been withdrawn.
            drop(answer.output().unwrap());
        }
    }

    /// What the calls were answered, where somebody lived to answer.
    pub(crate) fn answers(self) -> Vec<(&'static str, Option<Value>)> {
        self.calls.into_iter().map(|call| (call.kind, call.answer.join().unwrap())).collect()
    }

    /// That every run has come to what it has to, that its record is whole, and that nothing was
    /// called again that had ended.
    pub(crate) fn check(self, runs: &[RunSummary]) {
        for run in runs {
            let error = run.error.as_deref().unwrap_or_default();
            let is_unknown = run.status == RunStatus::Failed
                && AT_MOST_ONCE.contains(&&*run.tool)
                && error.contains("nobody knows whether it was carried out");
            assert!(
                run.status == RunStatus::Succeeded || is_unknown,
                "{} {}: {:?}, {error}",
                run.tool,
                run.id,
                run.status
            );
            self.world.check_record(run);
        }
        let kinds: Vec<&str> = self.calls.iter().map(|call| call.kind).collect();
        let ids: BTreeSet<String> = runs.iter().map(|run| run.id.to_string()).collect();
        let counted = check_counts(&self.world.lines(), &kinds, &ids);
        eprintln!("{} runs, {counted} calls of their steps", runs.len());
        for call in self.calls {
            // Each was answered, or its process was gone.
            call.answer.join().unwrap();
        }
    }
}

/// Checks what the steps of the runs really called.
fn check_counts(lines: &[String], kinds: &[&str], ids: &BTreeSet<String>) -> usize {
    /// What a number called.
    #[derive(Default)]
    struct Counted<'l> {
        /// The steps that began, in order.
        begun: Vec<&'l str>,
        keys: BTreeMap<&'l str, &'l str>,
        run: Option<&'l str>,
    }
    let mut counted: BTreeMap<usize, Counted<'_>> = BTreeMap::new();
    let begun = lines.iter().filter_map(|line| line.strip_prefix("begin "));
    for line in begun {
        let (name, key) = line.split_once(' ').unwrap();
        let (number, step) = name.split_once(':').unwrap();
        let number: usize = number.parse().unwrap();
        let known = counted.entry(number).or_default();
        let is_late = known.begun.iter().any(|begun| is_after(begun, step));
        assert!(!is_late, "{number} ({}): {step} after {:?}", kinds[number], known.begun);
        known.begun.push(step);
        let first = *known.keys.entry(step).or_insert(key);
        assert_eq!(first, key, "{name} has two keys");
        if let Some((run, _)) = key.split_once('/') {
            assert_eq!(*known.run.get_or_insert(run), run, "{number} became two runs");
            assert!(ids.contains(run), "{run} is not recorded");
        }
        let times = known.begun.iter().filter(|begun| **begun == step).count();
        let is_once = step == "2" && AT_MOST_ONCE.contains(&kinds[number]);
        assert!(times == 1 || !is_once, "{name} ({}) began twice", kinds[number]);
    }
    counted.values().map(|counted| counted.begun.len()).sum()
}

/// Whether a step comes after another one of its run: `3` after `2/left/1`, and that after `1` and
/// before `2/left/2`.
fn is_after(later: &str, step: &str) -> bool {
    let (later, step): (Vec<&str>, Vec<&str>) =
        (later.split('/').collect(), step.split('/').collect());
    match (&later[..], &step[..]) {
        ([a, lane, a_step], [b, other, b_step]) if a == b => lane == other && a_step > b_step,
        _ => later[0] > step[0],
    }
}

/// The text of the graph.
fn graph() -> String {
    let inner = [
        format!("id: first, next: second, {}", call("repeatable", "2/inner/1", 300)),
        format!("id: second, next: exit, {}", call("lookup", "2/inner/2", 300)),
    ];
    let mut text = HEAD.to_owned() + &tool("inner", &inner);
    for kind in KINDS {
        let nodes = [
            format!("id: first, next: second, {}", call("lookup", "1", 100)),
            format!("id: second, next: third, {}", node(kind)),
            format!("id: third, next: exit, {}", call("lookup", "3", 100)),
        ];
        text += &tool(kind, &nodes);
    }
    text
}

/// A tool with these nodes; the first is called `first`.
fn tool(name: &str, nodes: &[String]) -> String {
    let mut text = format!(
        "  - name: {name}\n    durable: {}\n    inputSchema: {{type: object}}\n    nodes:\n      \
         - {{id: entry, type: entry, next: first}}\n",
        name != "inner"
    );
    for node in nodes {
        text = text + "      - {" + node + "}\n";
    }
    text + "      - {id: exit, type: exit}\n"
}

/// The node of a kind, without its id.
fn node(kind: &str) -> String {
    let to = |backend: &str, command: &str| {
        let command = format!("{{backend: {backend}, {command}}}");
        format!("type: command, command: {command}, args: {{n: {{expr: entry.n}}}}")
    };
    match kind {
        "repeatable" => call("repeatable", "2", 600),
        "effect" => call("effect", "2", 600),
        "retried" => call("effect", "2", 600) + ", retry: {times: 0}",
        "process" => to("programs", &format!("argv: [sh, -c, '{PROGRAM}', '{{n}}']")),
        "http" => to("web", "url: '/{n}'"),
        // The number is the key of the table: a second time would be refused.
        "sql" => to("database", "template: 'INSERT INTO items (id) SELECT {n} FROM pg_sleep(0.6)'"),
        "wait" => "type: wait, duration: 800ms".to_owned(),
        "ask" => "type: ask, message: Go on?".to_owned(),
        "graph" => "type: graph, tool: inner, args: {n: {expr: entry.n}}".to_owned(),
        "foreach" => format!(
            "type: foreach, items: '[1, 2, 3]', maxParallel: 2, \
             body: [{{id: one, next: two, {}}}, {{id: two, {}}}]",
            call("lookup", "2/' & item & '/1", 200),
            call("repeatable", "2/' & item & '/2", 150),
        ),
        "parallel" => format!(
            "type: parallel, branches: {{left: [{{id: l1, next: l2, {}}}, {{id: l2, {}}}], \
             right: [{{id: r1, next: r2, {}}}, {{id: r2, type: wait, duration: 100ms, next: r3}}, \
             {{id: r3, {}}}]}}",
            call("lookup", "2/l/1", 100),
            call("repeatable", "2/l/2", 300),
            call("repeatable", "2/r/1", 400),
            call("lookup", "2/r/2", 100),
        ),
        _ => panic!("there is no kind {kind}"),
    }
}

/// A node that calls the counting server, which is told `NUMBER:STEP`.
fn call(tool: &str, step: &str, ms: u32) -> String {
    let name = format!("{{expr: \"entry.n & ':{step}'\"}}");
    format!("type: mcp, server: counting, tool: {tool}, args: {{name: {name}, ms: {ms}}}")
}

/// Serves what the steps of the kind `http` get.
fn serve_web(counts: PathBuf) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let counts = counts.clone();
            thread::spawn(move || answer_get(stream, &counts));
        }
    });
    address
}

/// Answers `GET /NUMBER`, after a while.
fn answer_get(mut stream: std::net::TcpStream, counts: &Path) -> Option<()> {
    let mut head = [0; 4096];
    let length = stream.read(&mut head).ok()?;
    let head = String::from_utf8_lossy(&head[..length]).into_owned();
    let number = head.strip_prefix("GET /")?.split(' ').next()?.to_owned();
    append(counts, &format!("begin {number}:2 -"))?;
    thread::sleep(Duration::from_millis(600));
    append(counts, &format!("end {number}:2 -"))?;
    let answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\
                   Connection: close\r\n\r\n{}";
    stream.write_all(answer).ok()
}

/// Numbers that look like chance, and are the same whenever a test is run.
pub(crate) struct Luck(u64);

impl Luck {
    pub(crate) fn new(seed: u64) -> Self {
        Self(0x2545_f491_4f6c_dd1d ^ (seed + 1))
    }

    /// A number below another one.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % end
    }

    /// A time of so many milliseconds at most.
    pub(crate) fn millis(&mut self, most: usize) -> Duration {
        Duration::from_millis(self.below(most) as u64)
    }
}
