//! Clients written with the official SDKs, each a script below `tests/interop/clients`.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::Environment;

/// An official SDK, in one of the ways it can choose the protocol's era.
#[derive(Clone, Copy, Debug)]
pub enum Sdk {
    /// The first line of the TypeScript SDK, which speaks the older era only.
    TypeScript1,
    /// The second line of the TypeScript SDK.
    TypeScript2(Mode),
    /// The Python SDK.
    Python(Mode),
}

/// How a client that speaks both eras chooses.
#[derive(Clone, Copy, Debug)]
pub enum Mode {
    /// With `initialize`, as all clients did before 2026.
    Legacy,
    /// By asking the server first.
    Auto,
    /// Without `initialize`, and without a way back.
    Modern,
}

/// A tool call a client is told to make.
#[derive(Clone, Debug, Serialize)]
pub struct Call {
    /// The tool.
    pub name: String,
    /// Its arguments.
    pub arguments: Value,
}

impl Call {
    /// A call of `name` with `arguments`.
    pub fn new(name: &str, arguments: Value) -> Self {
        Self { name: name.to_owned(), arguments }
    }
}

/// What a client saw.
#[derive(Debug, Deserialize)]
pub struct Report {
    /// The protocol version the two agreed on.
    pub version: String,
    /// The server's description of itself, which a modern client need not ask for.
    pub server: Option<Value>,
    /// The tools as the client understood them.
    pub tools: Vec<Value>,
    /// A result for every call, or `{"protocolError": {"code", "message"}}`.
    pub results: Vec<Value>,
}

impl Report {
    /// The names of the tools, in the order of the list.
    pub fn tool_names(&self) -> Vec<&str> {
        self.tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
    }
}

impl Sdk {
    /// Every SDK in every mode.
    pub const ALL: [Self; 7] = [
        Self::TypeScript1,
        Self::TypeScript2(Mode::Legacy),
        Self::TypeScript2(Mode::Auto),
        Self::TypeScript2(Mode::Modern),
        Self::Python(Mode::Legacy),
        Self::Python(Mode::Auto),
        Self::Python(Mode::Modern),
    ];

    /// The version such a client agrees on with a server that speaks all of them.
    pub fn expected_version(self) -> &'static str {
        match self {
            Self::TypeScript1 | Self::TypeScript2(Mode::Legacy) | Self::Python(Mode::Legacy) => {
                "2025-11-25"
            }
            Self::TypeScript2(_) | Self::Python(_) => "2026-07-28",
        }
    }

    /// Connects to a server, given as an entry of `mcpServers`, and makes the calls.
    ///
    /// # Panics
    /// If the client fails for any other reason than an error of a call.
    pub fn run(self, environment: &Environment, server: &Value, calls: &[Call]) -> Report {
        let (program, mode) = match self {
            Self::TypeScript1 => (environment.node_script("clients/ts-v1.mjs"), Mode::Legacy),
            Self::TypeScript2(mode) => (environment.node_script("clients/ts-v2.mjs"), mode),
            Self::Python(mode) => (environment.python_script("clients/python_client.py"), mode),
        };
        let mode = match mode {
            Mode::Legacy => "legacy",
            Mode::Auto => "auto",
            Mode::Modern => "modern",
        };
        let plan = json!({"mode": mode, "server": server, "calls": calls});
        let finished = program.arg(plan.to_string()).run();
        assert!(finished.success, "{self:?} failed\n{}{}", finished.stdout, finished.stderr);
        serde_json::from_str(&finished.stdout)
            .unwrap_or_else(|error| panic!("{self:?}: {error}\n{}", finished.stdout))
    }
}
