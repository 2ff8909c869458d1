use super::marked;
use crate::codes::DUPLICATE_KEY;
use crate::{Diagnostic, Diagnostics, Span, to_json};

#[test]
fn everything_a_tool_needs_is_there() {
    let (source, span) = marked("a: 1\nä: 2\n«a»: 3\n");
    let mut all = Diagnostics::new();
    all.push(
        Diagnostic::error(DUPLICATE_KEY, "the key `a` is written twice")
            .at(&source, span, "again")
            .also(&source, Span::new(0, 1), "first")
            .hint("keep one")
            .pointer("/a"),
    );
    all.push(Diagnostic::warning(DUPLICATE_KEY, "nowhere in particular"));
    let shown = serde_json::to_string_pretty(&to_json(&all)).expect("JSON");
    insta::assert_snapshot!(shown, @r#"
    {
      "diagnostics": [
        {
          "code": "MG0108",
          "severity": "error",
          "message": "the key `a` is written twice",
          "file": "graph.yaml",
          "line": 3,
          "column": 1,
          "endLine": 3,
          "endColumn": 2,
          "label": "again",
          "pointer": "/a",
          "hint": "keep one",
          "related": [
            {
              "file": "graph.yaml",
              "line": 1,
              "column": 1,
              "endLine": 1,
              "endColumn": 2,
              "message": "first"
            }
          ]
        },
        {
          "code": "MG0108",
          "severity": "warning",
          "message": "nowhere in particular"
        }
      ],
      "errors": 1,
      "warnings": 1
    }
    "#);
}
