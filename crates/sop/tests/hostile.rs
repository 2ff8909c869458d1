//! Large files of the worst kinds: each is read to its end. What takes more than linear time would
//! not get there: at these sizes it would take hours.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::fmt::Write as _;

use mcpgraph_diagnostics::{Colour, Source, to_json, to_terminal};
use mcpgraph_sop::{MAX_FILE_BYTES, Procedure, read};

const HEAD: &str = "---\nagent: x\nentry_node: A\n";

/// A file with this front matter, chart and rest.
fn file(front: &str, chart: &str, rest: &str) -> String {
    format!("{HEAD}{front}---\n\n```mermaid\nflowchart TD\nA --> B\n{chart}\n```\n\n{rest}")
}

/// As many copies of a text, each with its number in the place of `#`, as a large file has.
fn many(text: &str) -> String {
    const BYTES: usize = MAX_FILE_BYTES / 2;
    let mut all = String::new();
    for number in 0.. {
        if all.len() + text.len() + 20 > BYTES {
            break;
        }
        write!(all, "{}", text.replace('#', &number.to_string())).unwrap();
    }
    all
}

fn check(text: &str) -> (Option<Procedure>, usize) {
    assert!(text.len() <= MAX_FILE_BYTES, "{}", text.len());
    let (procedure, diagnostics) = read(&Source::new("x.md", text));
    drop((to_terminal(&diagnostics, Colour::Plain), to_json(&diagnostics)));
    (procedure, diagnostics.len() + diagnostics.left_out())
}

#[test]
fn charts() {
    let (procedure, _) = check(&file("", &many("N# -->|go #| A\n"), ""));
    let chart = procedure.unwrap().chart;
    assert!(chart.nodes.len() > 20_000);
    // In the order of the file, always.
    for (number, node) in chart.nodes.iter().skip(2).enumerate() {
        assert_eq!(*node.id, format!("N{number}"));
    }
    for chart in
        ["\n", " \n", "%%{init: x\n", "%% x\n", "A & ", "subgraph s#\n", "A[\"", "A --> B;"]
    {
        check(&file("", &many(chart), ""));
    }
}

/// What the parser has no place for is looked for, with few readings more.
#[test]
fn a_wrong_line_at_the_end() {
    let lines = many("N# --> A\n");
    let lines = lines[..lines.len() / 4].rsplit_once('\n').unwrap().0;
    let text = file("", &format!("{lines}\nB{{x (y) z}}"), "");
    let (procedure, diagnostics) = read(&Source::new("x.md", text.as_str()));
    let wrong = diagnostics.iter().next().unwrap().primary.as_ref().unwrap().start();
    let line = text.lines().position(|line| line.starts_with("B{")).unwrap() + 1;
    assert_eq!((procedure.is_none(), wrong.line, wrong.column), (true, line, 1));
}

#[test]
fn directives_without_an_end() {
    let chart = many("%%{");
    let (procedure, _) = check(&file("", &chart, ""));
    assert_eq!(procedure.unwrap().chart.nodes.len(), 2);
}

#[test]
fn prose() {
    for rest in [
        "# x\n",
        "### A#\n",
        "```yaml\na: #\n```\n",
        "* ",
        "> ",
        "[",
        "<a ",
        "`",
        "## Node Prompts\n",
    ] {
        check(&file("", "", &format!("## Node Prompts\n\n{}", many(rest))));
    }
}

#[test]
fn prompts_of_nodes_that_do_not_exist() {
    let nodes = many("NODE# --> A\n");
    let nodes = nodes[..nodes.len() / 2].rsplit_once('\n').unwrap().0;
    let (_, found) =
        check(&file("", nodes, &format!("## Node Prompts\n\n{}", many("### NODO#\n\nx\n"))));
    assert!(found > 10_000, "{found}");
}

#[test]
fn guards_of_one_node() {
    let guards = many("    g#: true\n");
    let edges = many("A -->|g#| B\n");
    let (half, third) = (guards.len() / 2, edges.len() / 2);
    let guards = guards[..half].rsplit_once('\n').unwrap().0;
    let edges = edges[..third].rsplit_once('\n').unwrap().0;
    check(&file(&format!("guards:\n  A:\n{guards}\n"), edges, ""));
}

#[test]
fn aliases_in_the_front_matter() {
    let mut front = String::from("x-a: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        writeln!(front, "x-{level}: &a{level} [{}]", vec![below; 10].join(", ")).unwrap();
    }
    let (procedure, found) = check(&file(&front, "", ""));
    assert!(procedure.is_none() && found > 0);
}
