use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FileArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph test orders.test.yaml                          one line a test, and what differs
  mcpgraph test *.test.yaml --format junit -o junit.xml   for a build server
  mcpgraph test orders.test.yaml --filter 'not paid'      only the tests with this in their name
  mcpgraph test --record 0199a1b2 -g orders.yaml -o orders.test.yaml
                                                          add a test made of a recorded run

Upstream servers are not started: their tools answer what the test says. Exits with 1 if a test
fails. Nothing is recorded.")]
pub(crate) struct TestArgs {
    /// The test files
    #[arg(value_name = "FILE", required_unless_present = "record", conflicts_with = "record")]
    pub(crate) paths: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) files: FileArgs,

    /// The form of the report
    #[arg(long, default_value = "human", conflicts_with = "record")]
    pub(crate) format: TestFormat,

    /// Where the report goes, or the recorded test: it is added to a file that is there
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Run only tests with this text in their name
    #[arg(long, value_name = "TEXT", conflicts_with = "record")]
    pub(crate) filter: Option<String>,

    /// How many tests run at once; as many as there are cores if not said
    #[arg(long, value_name = "COUNT", conflicts_with = "record")]
    pub(crate) jobs: Option<NonZeroUsize>,

    /// Write a test from this recorded run instead, to -o or to stdout
    #[arg(long, value_name = "RUN")]
    pub(crate) record: Option<String>,

    /// The name of the recorded test
    #[arg(long, requires = "record")]
    pub(crate) name: Option<String>,

    /// Write the recorded test even if it does not pass
    #[arg(long, requires = "record")]
    pub(crate) force: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TestFormat {
    /// For people
    Human,
    /// `JUnit` XML, for build servers
    Junit,
    /// For tools
    Json,
}
