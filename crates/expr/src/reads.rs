use std::ops::Range;
use std::sync::Arc;

/// What an expression reads of its context, as far as its text tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reads {
    /// The paths from the context that it names, such as `$.node.a.b`.
    pub paths: Vec<Read>,
    /// The nodes whose history it asks for by name, as in `$executionCount("node")`.
    pub history: Vec<Read>,
    /// The functions it calls that do not exist.
    pub unknown_functions: Vec<Read>,
    /// Whether it may look at any part of the context, because of a wildcard, a computed name or
    /// `$` as a whole.
    pub whole: bool,
}

/// One thing that an expression reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The names from the context down; the first is a node's id. Of a function, its name.
    pub names: Vec<Arc<str>>,
    /// Where that first name stands in the text of the expression, in bytes.
    pub span: Option<Range<usize>>,
    /// Where the expression stands in a JSON Logic rule, as an RFC 6901 pointer.
    pub pointer: Option<String>,
}

/// The functions whose first argument is a node's id.
const HISTORY: [&str; 3] = ["executionCount", "nodeExecution", "nodeExecutions"];

/// The function of the history that takes no node's id.
const PREVIOUS: &str = "previousNode";

/// The names of all functions that an expression may call, without `$`.
pub fn function_names() -> impl Iterator<Item = &'static str> {
    mcpgraph_jsonata::function_names().chain(HISTORY).chain([PREVIOUS])
}

impl Reads {
    /// Adds the reads of an expression that stands at `pointer` in a rule.
    pub(crate) fn add(&mut self, reads: &Self, pointer: &str) {
        let placed = |read: &Read| Read { pointer: Some(pointer.to_owned()), ..read.clone() };
        self.paths.extend(reads.paths.iter().map(placed));
        self.whole |= reads.whole;
        self.add_local(reads, pointer);
    }

    /// Adds what an expression in a rule does that does not depend on its context.
    pub(crate) fn add_local(&mut self, reads: &Self, pointer: &str) {
        let placed = |read: &Read| Read { pointer: Some(pointer.to_owned()), ..read.clone() };
        self.history.extend(reads.history.iter().map(placed));
        self.unknown_functions.extend(reads.unknown_functions.iter().map(placed));
    }
}

impl From<mcpgraph_jsonata::Reads> for Reads {
    fn from(reads: mcpgraph_jsonata::Reads) -> Self {
        let paths = reads.paths.into_iter().map(|path| Read {
            span: path.segments.first().map(|segment| segment.span.range()),
            names: path.segments.into_iter().map(|segment| segment.name).collect(),
            pointer: None,
        });
        let history = reads.literal_calls.into_iter();
        let history = history.filter(|call| HISTORY.contains(&&*call.function)).map(|call| Read {
            names: vec![call.argument],
            span: Some(call.argument_span.range()),
            pointer: None,
        });
        let unknown = reads.free_functions.into_iter();
        let unknown =
            unknown.filter(|free| !HISTORY.contains(&&*free.name) && &*free.name != PREVIOUS);
        let unknown = unknown.map(|free| Read {
            names: vec![free.name],
            span: Some(free.span.range()),
            pointer: None,
        });
        Self {
            paths: paths.collect(),
            history: history.collect(),
            unknown_functions: unknown.collect(),
            whole: reads.whole_context,
        }
    }
}
