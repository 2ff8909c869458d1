//! The binary as these tests start it.

use std::{
    env,
    ffi::OsStr,
    fs::{self, File},
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use mcpgraph_testkit::{StdioClient, observe::PATIENCE};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The product.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_mcpgraph");

/// The two ways in which clients begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Era {
    Legacy,
    Modern,
}

impl Era {
    pub(crate) const BOTH: [Self; 2] = [Self::Legacy, Self::Modern];
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A file next to these tests.
pub(crate) fn beside(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli").join(path)
}

/// One of the files in `graphs/`, with a shell script as its server.
pub(crate) fn with_server(name: &str, script: &str) -> String {
    let text = fs::read_to_string(beside("graphs").join(name)).unwrap();
    let demo = r#"command: "${MCPGRAPH_BIN}", args: [demo-server]"#;
    assert!(text.contains(demo));
    text.replace(demo, &format!("command: sh, args: [-c, {}]", json!(script)))
}

/// The product without what the environment of the tests says to it.
pub(crate) fn command() -> Command {
    undisturbed(Command::new(BINARY))
}

/// A line typed into a shell that knows the product.
pub(crate) fn typed(line: &str, folder: &Path) -> Output {
    let binaries = Path::new(BINARY).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), env::var("PATH").unwrap());
    let mut shell = undisturbed(Command::new("sh"));
    shell.args(["-c", line]).current_dir(folder).env("PATH", path).output().unwrap()
}

fn undisturbed(mut command: Command) -> Command {
    let ours = ["MCPGRAPH_LOG", "MCPGRAPH_BIN", "MCPGRAPH_DATA", "MCPGRAPH_NO_HISTORY"];
    for variable in ours.into_iter().chain(["COLUMNS", "CLICOLOR_FORCE"]) {
        command.env_remove(variable);
    }
    // All tests record into one folder at once, as the programs of one user do. The product's own
    // variable would show in its help.
    command.env("XDG_DATA_HOME", env!("CARGO_TARGET_TMPDIR"));
    command
}

/// A graph file in a folder of its own, served over stdio to one client.
pub(crate) struct Served {
    pub(crate) client: StdioClient,
    era: Era,
    file: PathBuf,
    /// Where the graph is, if it goes away with this.
    _folder: Option<TempDir>,
    /// Where stderr goes, which is not a folder the product watches.
    log: TempDir,
}

impl Served {
    /// Serves one of the files in `graphs/`.
    pub(crate) fn graph(name: &str, era: Era) -> Self {
        Self::text(&fs::read_to_string(beside("graphs").join(name)).unwrap(), era)
    }

    /// Serves a graph file with this text.
    pub(crate) fn text(text: &str, era: Era) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("graph.yaml");
        fs::write(&file, text).unwrap();
        Self { _folder: Some(folder), ..Self::file_of(&file, &[], era) }
    }

    /// Serves a file that somebody else owns.
    pub(crate) fn file_of(file: &Path, arguments: &[&OsStr], era: Era) -> Self {
        let log = tempfile::tempdir().unwrap();
        let stderr = File::create(log.path().join("stderr")).unwrap();
        let mut command = command();
        command.arg("-g").arg(file).args(arguments).stderr(stderr);
        let mut client = StdioClient::start(command);
        if era == Era::Legacy {
            client.initialize();
        }
        Self { client, era, file: file.to_owned(), _folder: None, log }
    }

    /// The graph file.
    pub(crate) fn file(&self) -> PathBuf {
        self.file.clone()
    }

    /// Replaces the graph file in one step, as editors do.
    pub(crate) fn edit(&self, text: &str) {
        let draft = self.file.with_file_name(".draft");
        fs::write(&draft, text).unwrap();
        fs::rename(draft, &self.file).unwrap();
    }

    /// What it wrote to stderr so far.
    pub(crate) fn stderr(&self) -> String {
        fs::read_to_string(self.log.path().join("stderr")).unwrap()
    }

    /// Parameters with what a request of the era says about its sender.
    pub(crate) fn params(&self, mut params: Value) -> Value {
        if self.era == Era::Modern {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
        }
        params
    }

    /// The whole answer to a request.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Value {
        let params = self.params(params);
        self.client.request(method, &params)
    }

    /// The whole answer to a call.
    pub(crate) fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a call without waiting for its answer; gives the request's id.
    pub(crate) fn begin(&mut self, tool: &str, arguments: Value) -> u64 {
        self.begin_with(json!({"name": tool, "arguments": arguments}))
    }

    /// Sends a call with these parameters without waiting for its answer.
    pub(crate) fn begin_with(&mut self, params: Value) -> u64 {
        let params = self.params(params);
        self.client.begin("tools/call", &params)
    }

    /// The answer to a request that was sent; other messages before it are passed over.
    pub(crate) fn answer(&mut self, id: u64) -> Value {
        self.until(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The first message that is wanted; those before it are passed over.
    pub(crate) fn until(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.client.receive();
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// The names of the tools.
    pub(crate) fn tool_names(&mut self) -> Vec<String> {
        let answer = self.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

/// Waits until something is true.
pub(crate) fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
