use std::time::Duration;

use similar::TextDiff;

/// How long the search for the shortest difference may take; a longer one is given after that.
const MAX_TIME: Duration = Duration::from_millis(500);

/// How many unchanged lines are shown around changed ones.
const CONTEXT: usize = 3;

/// The lines in which two versions of a file differ, as a unified diff; empty if there are none.
pub fn unified_diff(old: &str, new: &str, name: &str) -> String {
    if old == new {
        return String::new();
    }
    TextDiff::configure()
        .timeout(MAX_TIME)
        .diff_lines(old, new)
        .unified_diff()
        .context_radius(CONTEXT)
        .header(&format!("a/{name}"), &format!("b/{name}"))
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_lines_and_their_neighbours_are_shown() {
        let old = "a\nb\nc\nd\ne\nf\ng\n";
        let new = "a\nb\nc\nd\ne\nF\ng\n";
        assert_eq!(
            unified_diff(old, new, "x.yaml"),
            "--- a/x.yaml\n+++ b/x.yaml\n@@ -3,5 +3,5 @@\n c\n d\n e\n-f\n+F\n g\n"
        );
        assert_eq!(unified_diff(old, old, "x.yaml"), "");
        assert!(unified_diff("a", "a\n", "x").contains("No newline at end of file"));
    }
}
