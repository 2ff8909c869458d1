//! Edits of generated files: nothing but the tool that is changed moves.

use std::sync::Arc;

use mcpgraph_config::edit::{EditError, add_tool, delete_tool, update_tool};
use mcpgraph_diagnostics::Source;
use mcpgraph_value::{Map, Value};
use proptest::prelude::*;

/// How a generated file is written.
#[derive(Clone, Debug)]
struct Look {
    /// How far in the dashes of tools and nodes are.
    dash: usize,
    crlf: bool,
    final_break: bool,
    mark: bool,
    markers: bool,
    /// All tools on lines of a flow list.
    flow: bool,
    blank: usize,
}

/// A tool as text: its lines without the dash, and whether comments stand around it.
#[derive(Clone, Debug)]
struct Tool {
    description: String,
    /// Lines of the middle, which only the generator knows the meaning of.
    extras: Vec<&'static str>,
    nodes: Vec<&'static str>,
    comment_above: bool,
    comment_behind: bool,
    detached: bool,
}

fn looks() -> impl Strategy<Value = Look> {
    (
        prop::sample::select(vec![0_usize, 2, 4]),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        prop::bool::weighted(0.25),
        0..3_usize,
    )
        .prop_map(|(dash, crlf, final_break, mark, markers, flow, blank)| Look {
            dash,
            crlf,
            final_break,
            mark,
            markers,
            flow,
            blank,
        })
}

fn tools() -> impl Strategy<Value = Vec<Tool>> {
    let description = prop::sample::select(vec![
        "plain text",
        "'single ''quoted'''",
        "\"double \\\" # quoted\"",
        "a # not text",
        "|-\n  two\n\n  lines",
        "|+\n  kept\n\n",
        ">\n  folded\n  text",
        "",
        "~",
        "*shared",
        "!!str 12",
        "two\n  lines",
    ])
    .prop_map(str::to_owned);
    let extras = prop::collection::vec(
        prop::sample::select(vec![
            "x-unknown: [1, {a: b}, \"c\"] # odd",
            "\"quoted key\": 'v'",
            "# a comment inside",
            "",
            "<<: *base",
            "inputSchema: &schema@\n  type: object\n  # about properties\n  properties:\n    x: { type: string }",
            "outputSchema: {\"type\": \"object\", \"required\": []}",
            "? explicit\n: value",
            "empty:",
            "maps: {}",
        ]),
        0..5,
    );
    let nodes = prop::collection::vec(
        prop::sample::select(vec![
            "{ id: n@, type: exit }",
            "{id: n@, type: entry, next: 'x'} # flow",
            "id: n@\n  type: transform\n  transform:\n    expr: |\n      $x +\n        1\n  next: out # then",
            "# below the dash\n  id: n@\n  type: mcp\n  args: { path: $.entry.dir }",
            "id: n@\n  transform: { expr: '{\"a\": 1}' }\n\n  # late\n  next: z",
        ]),
        0..4,
    );
    let tool = (description, extras, nodes, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(description, extras, nodes, comment_above, comment_behind, detached)| Tool {
            description,
            extras,
            nodes,
            comment_above,
            comment_behind,
            detached,
        },
    );
    prop::collection::vec(tool, 0..4)
}

fn write(look: &Look, tools: &[Tool]) -> String {
    let mut lines: Vec<String> = Vec::new();
    if look.markers {
        lines.extend(["%YAML 1.2", "---"].map(str::to_owned));
    }
    lines.extend(
        ["# A graph.", "base: &base { title: T, hint: 'h' }", "text: &shared shared text", ""]
            .map(str::to_owned),
    );
    if tools.is_empty() {
        lines.push("tools: [] # none".to_owned());
    } else if look.flow {
        lines.push("tools: [".to_owned());
        for index in 0..tools.len() {
            let comma = if index + 1 < tools.len() { "," } else { "" };
            let comment = if tools[index].comment_behind { " # behind" } else { "" };
            lines.push(format!("  {{ name: tool{index}, nodes: [{{id: a}}] }}{comma}{comment}"));
        }
        lines.push("]".to_owned());
    } else {
        lines.push("tools: # all of them".to_owned());
        for (index, tool) in tools.iter().enumerate() {
            write_tool(look, tool, index, &mut lines);
        }
    }
    lines.extend(["# Behind the tools.", "", "x-more: [a]"].map(str::to_owned));
    if look.markers {
        lines.push("...".to_owned());
    }
    let line_break = if look.crlf { "\r\n" } else { "\n" };
    let mut text = lines.join(line_break);
    if look.final_break {
        text.push_str(line_break);
    }
    if look.mark { format!("\u{feff}{text}") } else { text }
}

fn write_tool(look: &Look, tool: &Tool, index: usize, lines: &mut Vec<String>) {
    let dash = " ".repeat(look.dash);
    let inner = " ".repeat(look.dash + 2);
    if index > 0 {
        lines.extend(std::iter::repeat_n(String::new(), look.blank));
    }
    if tool.detached {
        lines.extend([format!("{dash}# Detached."), String::new()]);
    }
    if tool.comment_above {
        lines.push(format!("{dash}# About tool {index}."));
    }
    let behind = if tool.comment_behind { " # its name" } else { "" };
    lines.push(format!("{dash}- name: tool{index}{behind}"));
    let mut seen = Vec::new();
    for extra in &tool.extras {
        let key = extra.split(':').next().unwrap_or_default();
        if !key.is_empty() && !key.starts_with('#') && seen.contains(&key) {
            continue;
        }
        seen.push(key);
        lines.extend(extra.replace('@', &index.to_string()).lines().map(|l| format!("{inner}{l}")));
        if extra.is_empty() {
            lines.push(String::new());
        }
    }
    if !tool.nodes.is_empty() {
        lines.push(format!("{inner}nodes:"));
        for (at, node) in tool.nodes.iter().enumerate() {
            let node = node.replace('@', &at.to_string());
            let mut node = node.lines();
            let first = node.next().unwrap_or_default();
            lines.push(format!("{inner}{}- {first}", " ".repeat(look.dash.min(2))));
            lines.extend(node.map(|line| format!("{inner}{}{line}", " ".repeat(look.dash.min(2)))));
        }
    }
    lines.extend(
        format!("description: {}", tool.description).split('\n').map(|l| format!("{inner}{l}")),
    );
}

/// What an agent might add or write over another.
fn definitions() -> impl Strategy<Value = Value> {
    let text = prop::sample::select(vec![
        "plain",
        "with: colon",
        "# no comment",
        "",
        "null",
        "12",
        "it's",
        "say \"hi\"",
        "a\nb",
        "a\nb\n",
        "  indented\nlines",
        "trailing \nspace",
        "tab\there",
        "日本 😀",
        "- dash",
        "{ braces }",
        "$.x[0]",
    ]);
    let node = (0..5_u8, text.clone(), any::<bool>()).prop_map(|(id, text, small)| {
        let mut node = Map::from_iter([("id", format!("n{id}")), ("type", "exit".to_owned())]);
        if !small {
            node.insert("transform", Map::from_iter([("expr", text)]));
            node.insert("next", "out");
        }
        Value::from(node)
    });
    let nodes = prop::collection::vec(node, 0..4).prop_map(Value::array);
    (text.clone(), prop::option::of(text), nodes, any::<bool>()).prop_map(
        |(description, title, nodes, schema)| {
            let mut tool = Map::from_iter([("name", "added")]);
            tool.insert("description", description);
            if let Some(title) = title {
                tool.insert("title", title);
            }
            if schema {
                let text = r#"{"type":"object","properties":{"a b":{"type":["string","null"],"default":1.50}},"required":[]}"#;
                tool.insert("inputSchema", Value::from_json(text).expect("JSON"));
            }
            tool.insert("nodes", nodes);
            Value::from(tool)
        },
    )
}

fn source(text: &str) -> Arc<Source> {
    Source::new("graph.yaml", text)
}

/// What stays the same at the start and at the end of two texts.
fn common(before: &str, after: &str) -> (usize, usize) {
    let start = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    let limit = before.len().min(after.len()) - start;
    let ends = before.bytes().rev().zip(after.bytes().rev());
    (start, ends.take(limit).take_while(|(a, b)| a == b).count())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn what_is_added_and_deleted_leaves_nothing(
        look in looks(), tools in tools(), tool in definitions(),
    ) {
        let before = write(&look, &tools);
        let added = add_tool(&source(&before), &tool);
        prop_assert!(added.is_ok(), "{:?}\n{before}", added);
        let added = added.unwrap_or_default();
        let deleted = delete_tool(&source(&added), "added");
        prop_assert!(deleted.is_ok(), "{:?}\n{added}", deleted);
        prop_assert_eq!(deleted.unwrap_or_default(), before, "through\n{}", added);
    }

    #[test]
    fn an_update_changes_only_the_lines_of_its_tool(
        look in looks(), tools in tools(), tool in definitions(), which in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!tools.is_empty());
        let before = write(&look, &tools);
        let index = which.index(tools.len());
        let after = match update_tool(&source(&before), &format!("tool{index}"), &tool) {
            Ok(after) => after,
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}\n{before}"))),
        };
        let line = |index: usize| before.find(&format!("name: tool{index}"));
        let (start, end) = common(&before, &after);
        let own = line(index).unwrap_or_default();
        prop_assert!(start >= own, "something before the tool changed:\n{before}\n---\n{after}");
        let next = line(index + 1).or_else(|| before.find("# Behind the tools.")).unwrap_or_default();
        prop_assert!(before.len() - end <= next, "something behind it changed:\n{before}\n---\n{after}");
        // The same again changes nothing.
        let again = update_tool(&source(&after), "added", &tool);
        prop_assert_eq!(again.unwrap_or_default(), after);
    }

    #[test]
    fn a_deleted_tool_takes_nothing_else_with_it(
        look in looks(), tools in tools(), which in any::<prop::sample::Index>(),
    ) {
        prop_assume!(!tools.is_empty());
        let before = write(&look, &tools);
        let index = which.index(tools.len());
        let after = match delete_tool(&source(&before), &format!("tool{index}")) {
            Ok(after) => after,
            Err(EditError::Unfaithful(_)) if before.contains("|+") => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error:?}\n{before}"))),
        };
        // Every line that is gone was the tool's own or empty.
        let about = format!("# About tool {index}.");
        for other in (0..tools.len()).filter(|other| *other != index) {
            let name = format!("name: tool{other}");
            prop_assert!(after.contains(&name));
            let about = format!("# About tool {other}.");
            prop_assert_eq!(after.contains(&about), before.contains(&about));
        }
        prop_assert!(!after.contains(&about), "{before}\n---\n{after}");
        let detached = |text: &str| text.matches("# Detached.").count();
        prop_assert_eq!(detached(&after), detached(&before), "{}\n---\n{}", before, after);
        prop_assert!(after.contains("# Behind the tools."));
        prop_assert_eq!(after.contains("\r\n"), before.contains("\r\n"));
    }
}
