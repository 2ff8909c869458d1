use crate::suggest::{did_you_mean, nearest};

const KEYS: [&str; 5] = ["next", "maxParallel", "timeoutMs", "onError", "id"];

#[test]
fn typos_find_their_word() {
    assert_eq!(nearest("nxt", KEYS), Some("next"));
    assert_eq!(nearest("max_parallel", KEYS), Some("maxParallel"));
    assert_eq!(nearest("ON-ERROR", KEYS), Some("onError"));
    assert_eq!(nearest("timoutMs", KEYS), Some("timeoutMs"));
    assert_eq!(nearest("entx", KEYS), None);
    assert_eq!(nearest("=<", ["==", "<="]), Some("<="), "swapped is likelier than mistyped");
    assert_eq!(did_you_mean("lst_dir", ["list_dir"]).as_deref(), Some("did you mean `list_dir`?"));
}

#[test]
fn other_words_find_nothing() {
    assert_eq!(nearest("description", KEYS), None);
    assert_eq!(nearest("x", ["y"]), None, "one letter for another is not a typo");
    assert_eq!(nearest("", KEYS), None);
    assert_eq!(nearest("next", ["next"]), None, "the word itself is no suggestion");
    assert_eq!(nearest(&"a".repeat(100_000), KEYS), None);
}
