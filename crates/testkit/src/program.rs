//! A program with its arguments: to be started, or to be named in a client's configuration.

use std::{
    ffi::OsStr,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

/// A program, its arguments and what it needs in its environment.
#[derive(Clone, Debug)]
pub struct Program {
    command: String,
    args: Vec<String>,
    env: Vec<(String, String)>,
}

impl Program {
    /// The program at this path, or of this name.
    pub fn new(command: impl AsRef<OsStr>) -> Self {
        Self { command: text(command), args: Vec::new(), env: Vec::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.args.push(text(argument));
        self
    }

    /// Sets a variable of the program's environment.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.to_owned(), text(value)));
        self
    }

    /// The program as an entry of `mcpServers`, the way clients write it.
    pub fn to_json(&self) -> Value {
        let env: serde_json::Map<_, _> =
            self.env.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        json!({"command": self.command, "args": self.args, "env": env})
    }

    /// The program, ready to be started.
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.command);
        command.args(&self.args).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs the program to its end.
    pub fn run(&self) -> Finished {
        let output = self.command().stdin(Stdio::null()).output();
        let output = output.unwrap_or_else(|error| panic!("could not start {self:?}: {error}"));
        Finished {
            success: output.status.success(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// How a program ended.
#[derive(Debug)]
pub struct Finished {
    /// Whether it ended with exit code 0.
    pub success: bool,
    /// What it wrote to its standard output.
    pub stdout: String,
    /// What it wrote to its standard error.
    pub stderr: String,
}

fn text(text: impl AsRef<OsStr>) -> String {
    text.as_ref().to_str().expect("paths in tests are Unicode").to_owned()
}
