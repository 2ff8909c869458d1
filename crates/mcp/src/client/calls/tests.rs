use super::*;

#[test]
fn ids_are_recognised_in_both_forms() {
    assert_eq!(number_of("7"), Some(7));
    assert_eq!(number_of("\"7\""), Some(7));
    for other in ["\"x\"", "-1", "1.5", "", "99999999999999999999999"] {
        assert_eq!(number_of(other), None, "{other}");
    }
}
