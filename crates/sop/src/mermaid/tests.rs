use mcpgraph_diagnostics::{Diagnostics, Source, Span};

use super::prepare::prepare;
use super::read;
use crate::Chart;

fn chart(text: &str) -> Chart {
    let source = Source::new("chart", text);
    let mut diagnostics = Diagnostics::new();
    let chart = read(&source, Span::new(0, text.len()), &mut diagnostics);
    chart.unwrap_or_else(|| panic!("{diagnostics:?}"))
}

#[test]
fn labels_are_what_was_written() {
    let chart = chart(
        "flowchart TD\n  A[\"Collect <order_id> & <b>a</b> #35; &lt;x&gt; {y} | z: ü\"] -->|x < 3 <= 4| B\n  \
         B -- no <x> --> C[<br/>é]\n  A <--> C\n",
    );
    let described: Vec<&str> = chart.nodes.iter().map(|node| &*node.description).collect();
    assert_eq!(described, ["Collect <order_id> & <b>a</b> # <x> {y} | z: ü", "B", "<br/>é"]);
    let edges: Vec<(&str, usize, Option<&str>)> = chart
        .nodes
        .iter()
        .flat_map(|node| node.edges.iter().map(|e| (&*node.id, e.to, e.condition.as_deref())))
        .collect();
    assert_eq!(
        edges,
        [("A", 1, Some("x < 3 <= 4")), ("A", 2, None), ("B", 2, Some("no <x>")), ("C", 0, None)]
    );
}

#[test]
fn places_are_those_of_the_file() {
    let text =
        "---\ntitle: x\n---\n%%{init: {\"theme\": \"dark\"}}%%\nflowchart TD\n\n\n  É --> B\n";
    let chart = chart(text);
    let places: Vec<&str> =
        chart.nodes.iter().map(|node| &text[node.span.start..node.span.end]).collect();
    assert_eq!(places, ["É", "B"]);
}

#[test]
fn what_is_prepared_has_the_length_of_what_was_written() {
    for text in [
        "",
        "---",
        "---\nä: 1\n---\nflowchart TD",
        "%%{ ü }%% x %%{ open\nflowchart %%{a}%%",
        "flowchart TD\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nA",
        "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        "A[\"<x> &lt; & b <-- <= é\"]",
    ] {
        let prepared = prepare(text).unwrap_or_default();
        assert_eq!(prepared.len(), text.len(), "{text:?} {prepared:?}");
    }
}

#[test]
fn empty_lines_are_few() {
    let text = format!("flowchart TD{}A --> B{}", "\n".repeat(100_000), " \n".repeat(100_000));
    let prepared = prepare(&text).unwrap_or_default();
    assert!(prepared.lines().count() <= 6, "{}", prepared.lines().count());
    assert_eq!(chart(&text).nodes.len(), 2);
}

#[test]
fn what_grows_faster_than_the_text_is_refused() {
    let joined = |count: usize| vec!["A"; count].join(" & ");
    let text = format!("flowchart TD\n{} --> {}", joined(1_000), joined(1_000));
    let beyond = prepare(&text).expect_err("too many edges");
    assert_eq!(
        (&*beyond.message, beyond.at.start),
        ("the flowchart may have more than 100000 edges", 13)
    );
    let beyond = prepare(&"subgraph x\n".repeat(1_001)).expect_err("too many subgraphs");
    assert_eq!(beyond.message, "the flowchart has more than 1000 subgraphs");
}

#[test]
fn styles_make_no_nodes() {
    let text = "flowchart TD\n  style EARLY fill:#0f0\n  A --> EARLY\n  subgraph S\n    B@{ shape: diam }\n  \
                end\n  C\n  style NOPE fill:#0f0\n  style S fill:#0f0\n  style A fill:#0f0\n  \
                click NOWHERE \"https://example.com\"\n  class NOBODY x\n";
    let chart = chart(text);
    let mut ids: Vec<&str> = chart.nodes.iter().map(|node| &*node.id).collect();
    ids.sort_unstable();
    assert_eq!(ids, ["A", "B", "C", "EARLY"]);
}
