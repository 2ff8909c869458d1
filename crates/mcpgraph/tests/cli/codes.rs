//! The codes of failed runs are in the table of all codes, and so have a page.

use mcpgraph_config::{read_tests, test_schema};
use mcpgraph_diagnostics::{Source, codes::Code};
use mcpgraph_engine::ErrorKind;
use mcpgraph_value::Value;

/// All kinds there are; the match below does not compile when one is missing.
const KINDS: [ErrorKind; 20] = [
    ErrorKind::Expression,
    ErrorKind::ToolError,
    ErrorKind::ProtocolError { code: -1 },
    ErrorKind::Unavailable,
    ErrorKind::Timeout,
    ErrorKind::Limit,
    ErrorKind::NoRoute,
    ErrorKind::InvalidInput,
    ErrorKind::InvalidOutput,
    ErrorKind::Refused,
    ErrorKind::CommandFailed,
    ErrorKind::BadAnswer,
    ErrorKind::OutcomeUnknown,
    ErrorKind::Cancelled,
    ErrorKind::Internal,
    ErrorKind::HookFailed,
    ErrorKind::HookBlocked,
    ErrorKind::NoResponse,
    ErrorKind::Declined,
    ErrorKind::Unanswered,
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
        ErrorKind::Refused => 9,
        ErrorKind::CommandFailed => 10,
        ErrorKind::BadAnswer => 11,
        ErrorKind::OutcomeUnknown => 12,
        ErrorKind::Cancelled => 13,
        ErrorKind::Internal => 14,
        ErrorKind::HookFailed => 15,
        ErrorKind::HookBlocked => 16,
        ErrorKind::NoResponse => 17,
        ErrorKind::Declined => 18,
        ErrorKind::Unanswered => 19,
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

#[test]
fn every_kind_of_failure_is_found_by_its_name() {
    for kind in KINDS {
        assert_eq!(ErrorKind::from_name(kind.name(), -1), Some(kind));
    }
    assert_eq!(ErrorKind::from_name("any", -1), None);
}

#[test]
fn test_files_know_every_kind_of_failure_and_no_other() {
    for kind in KINDS {
        let name = kind.name();
        let text = format!("tests: [{{name: n, tool: t, expect: {{error: {{kind: {name}}}}}}}]");
        assert!(read_tests(&Source::new("t", text)).1.is_empty(), "{name}");
    }
    let schema = test_schema();
    let words = schema.pointer("/$defs/mockError/properties/kind/enum").and_then(Value::as_array);
    assert_eq!(words.unwrap().len(), KINDS.len());
}
