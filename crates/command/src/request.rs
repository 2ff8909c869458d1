use mcpgraph_value::Value;

/// What is sent to a backend: every value in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// A command for an EdgeLake node.
    EdgeLake {
        /// The text of the command.
        command: String,
        /// Who is asked: `network`, or addresses; the node itself if there is none.
        destination: Option<String>,
    },
    /// A program to run.
    Process {
        /// The program and its arguments.
        argv: Vec<String>,
        /// What it reads.
        stdin: Option<String>,
        /// Exit codes that are no failure.
        success_codes: Vec<i32>,
    },
    /// An HTTP request.
    Http {
        /// The method.
        method: String,
        /// Where.
        url: String,
        /// The headers of the command, after those of the backend.
        headers: Vec<(String, String)>,
        /// The body.
        body: Option<Body>,
    },
    /// An SQL statement.
    Sql {
        /// PostgreSQL: a `WITH` clause that comes before the statement, and before what is put
        /// around it; empty if there is none.
        lead: String,
        /// The statement, with places for parameters.
        statement: String,
        /// What is bound to them, in order.
        parameters: Vec<Value>,
        /// Whether it gives rows; other statements give the number of rows they changed.
        gives_rows: bool,
    },
}

/// The body of an HTTP request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// Its media type.
    pub media_type: &'static str,
    /// Its text.
    pub text: String,
}

/// What a backend answered.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Data.
    Value(Value),
    /// Text that may hold JSON, and other things around it.
    Printed(String),
    /// Text that is JSON or is not.
    Text(String),
}
