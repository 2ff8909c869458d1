use super::marked;
use crate::codes::{TOOL_NAME, UNKNOWN_KEY};
use crate::{Diagnostic, Diagnostics, MAX_DIAGNOSTICS, Source, Span};

#[test]
fn sorting_is_by_file_and_position() {
    let first = Source::new("a.yaml", "0123456789");
    let second = Source::new("b.yaml", "0123456789");
    let at = |source, start: usize, name: &str| {
        Diagnostic::error(UNKNOWN_KEY, name).at(source, Span::empty(start), "")
    };
    let mut all: Diagnostics = [
        at(&first, 5, "a5"),
        at(&second, 1, "b1"),
        at(&first, 2, "a2"),
        at(&first, 5, "a5 again"),
        Diagnostic::error(UNKNOWN_KEY, "nowhere"),
    ]
    .into_iter()
    .collect();
    all.sort();
    let order: Vec<&str> = all.iter().map(|item| item.message.as_str()).collect();
    assert_eq!(order, ["nowhere", "a2", "a5", "a5 again", "b1"]);
}

#[test]
fn a_flood_is_counted_and_not_kept() {
    let (source, span) = marked("«x»");
    let mut all = Diagnostics::new();
    for _ in 0..MAX_DIAGNOSTICS + 10 {
        all.push(Diagnostic::warning(TOOL_NAME, "w").at(&source, span, ""));
    }
    assert!(!all.has_errors());
    all.push(Diagnostic::error(UNKNOWN_KEY, "e"));
    assert_eq!((all.len(), all.left_out()), (MAX_DIAGNOSTICS, 11));
    assert!(all.has_errors(), "an error is never lost");
    assert_eq!(all.summary(), "1 error, 999 warnings, 11 more");
    assert_eq!(Diagnostics::new().summary(), "no problems");
}
