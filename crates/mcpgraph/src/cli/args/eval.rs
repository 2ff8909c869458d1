//! An expression that is evaluated.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::aside::WithoutHistory;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph eval jsonata '$sum(items.price)' --context order.json
  echo '{\"a\": {\"n\": 4}}' | mcpgraph eval jsonata '$.a.n * 2' --context -
  mcpgraph eval jsonlogic '{\">\": [{\"var\": \"a.n\"}, 3]}' --context data.json
  mcpgraph eval jsonpath '$.items[?@.price > 10].name' --context order.json

The result is JSON on stdout. An error is JSON on stdout too, {\"error\": …}, with exit code 1.
An expression without a result prints nothing.")]
pub(crate) struct EvalArgs {
    /// The language of the expression
    pub(crate) language: Language,

    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub(crate) expression: String,

    /// A JSON file with the data, as {node_id: output} for graphs; - reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) context: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) aside: WithoutHistory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Transforms, arguments and `var` operands
    Jsonata,
    /// Rules of a switch
    Jsonlogic,
    /// RFC 9535 queries
    Jsonpath,
}
