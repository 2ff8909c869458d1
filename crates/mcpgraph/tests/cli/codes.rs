//! The codes of failed runs are in the table of all codes, and so have a page.

use mcpgraph_diagnostics::codes::Code;
use mcpgraph_engine::ErrorKind;

/// All kinds there are; the match below does not compile when one is missing.
const KINDS: [ErrorKind; 11] = [
    ErrorKind::Expression,
    ErrorKind::ToolError,
    ErrorKind::ProtocolError { code: -1 },
    ErrorKind::Unavailable,
    ErrorKind::Timeout,
    ErrorKind::Limit,
    ErrorKind::NoRoute,
    ErrorKind::InvalidInput,
    ErrorKind::InvalidOutput,
    ErrorKind::Cancelled,
    ErrorKind::Internal,
];

fn place(kind: ErrorKind) -> usize {
    match kind {
        ErrorKind::Expression => 0,
        ErrorKind::ToolError => 1,
        ErrorKind::ProtocolError { .. } => 2,
        ErrorKind::Unavailable => 3,
        ErrorKind::Timeout => 4,
        ErrorKind::Limit => 5,
        ErrorKind::NoRoute => 6,
        ErrorKind::InvalidInput => 7,
        ErrorKind::InvalidOutput => 8,
        ErrorKind::Cancelled => 9,
        ErrorKind::Internal => 10,
    }
}

#[test]
fn every_kind_of_failure_has_a_code_of_its_own() {
    let mut ids = Vec::new();
    for (index, kind) in KINDS.into_iter().enumerate() {
        assert_eq!(place(kind), index);
        let code =
            Code::find(kind.code()).unwrap_or_else(|| panic!("{kind:?} is not in the table"));
        assert!(!ids.contains(&code.id()), "{kind:?} shares {code}");
        ids.push(code.id());
    }
}
