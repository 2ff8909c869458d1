//! The product as these tests start it.

use std::path::{Path, PathBuf};

use mcpgraph_testkit::{HttpServer, Program, environment::interop};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A graph file below `tests/interop`, with the servers it may need.
pub(crate) struct Product {
    graph: PathBuf,
    /// The `mcp.json`, in a folder that goes away with this.
    servers: Option<(TempDir, PathBuf)>,
}

impl Product {
    /// The product with a graph file that needs no servers.
    pub(crate) fn new(graph: &str) -> Self {
        Self { graph: interop(graph), servers: None }
    }

    /// The product with a graph file and one upstream server.
    pub(crate) fn with_server(graph: &str, name: &str, server: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mcp.json");
        let servers = json!({"mcpServers": {name: server}});
        std::fs::write(&file, servers.to_string()).unwrap();
        Self { servers: Some((folder, file)), ..Self::new(graph) }
    }

    /// How a client starts it.
    pub(crate) fn over_stdio(&self) -> Program {
        self.files(binary())
    }

    /// Starts it as an HTTP server.
    pub(crate) fn over_http(&self) -> HttpServer {
        self.serve(binary())
    }

    /// Starts it as an HTTP server with a store that others use, too.
    pub(crate) fn with_store(&self, store: &str) -> HttpServer {
        self.serve(binary().env("MCPGRAPH_STORE", store))
    }

    fn serve(&self, program: Program) -> HttpServer {
        HttpServer::start(|port| {
            let program = program.clone().arg("serve");
            self.files(program).arg("--http").arg(format!("127.0.0.1:{port}"))
        })
    }

    fn files(&self, program: Program) -> Program {
        let program = program.arg("-g").arg(&self.graph);
        match &self.servers {
            Some((_, file)) => program.arg("-m").arg(file as &Path),
            None => program,
        }
    }
}

fn binary() -> Program {
    let runs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runs");
    Program::new(env!("CARGO_BIN_EXE_mcpgraph")).env("MCPGRAPH_DATA", runs)
}
