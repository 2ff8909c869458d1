//! The tables, the decoder and the JSON Schema know the same keys.

use std::collections::BTreeSet;

use mcpgraph_diagnostics::{Diagnostics, Source, Span};
use mcpgraph_value::Value;

use super::{
    ANSWER, ANY_NODE, BACKEND, COMMAND, COMMAND_TOOL, CONDITION, EDGELAKE_COMMAND, EXPECT,
    EXPECTED_ERROR, EXPOSE, EXPOSED_ARGUMENT, EXPOSED_TOOL, EXPRESSION, FILE, FILTER, HOOK, Key,
    MOCK_ERROR, Need, RESPONSE, RETRY, SERVER, Shape, TEST, TEST_FILE, TOOL, Table, WORKFLOW,
    node_kinds,
};
use crate::{json_schema, read_graph, read_tests, test_schema};

/// A table and a file with `@` at the place of a further key.
struct Place {
    table: &'static Table,
    file: String,
    kind: FileKind,
}

#[derive(Clone, Copy, PartialEq)]
enum FileKind {
    Graph,
    Tests,
}

fn places() -> Vec<Place> {
    let record = |key: &Key| match key.shape {
        Shape::Record(table) => table,
        _ => panic!("`{}` is no record", key.name),
    };
    let server_info = record(FILE.key("server").expect("the key"));
    let limits = record(FILE.key("executionLimits").expect("the key"));
    let place = |table, file: &str| Place { table, file: file.to_owned(), kind: FileKind::Graph };
    let node = |node: &str| format!("tools: [{{name: t, nodes: [{{id: n, {node}}}]}}]");
    let mut places = vec![
        place(&FILE, "{@}"),
        place(server_info, "server: {@}"),
        place(limits, "executionLimits: {@}"),
        place(limits, "tools: [{executionLimits: {@}}]"),
        place(&SERVER, "mcpServers: {s: {command: c, @}}"),
        place(&SERVER, "mcpServers: {s: {url: 'http://x', @}}"),
        place(&EXPOSE, "mcpServers: {s: {command: c, expose: {@}}}"),
        place(&EXPOSED_TOOL, "mcpServers: {s: {command: c, expose: {tools: {t: {@}}}}}"),
        place(
            &EXPOSED_ARGUMENT,
            "mcpServers: {s: {command: c, expose: {tools: {t: {arguments: {a: {@}}}}}}}",
        ),
        place(&TOOL, "tools: [{@}]"),
        place(&WORKFLOW, "workflows: [{@}]"),
        place(&HOOK, "workflows: [{nodes: [{id: n, type: hook, hook: {@}}]}]"),
        place(&RETRY, &node("type: entry, retry: {@}")),
        place(&CONDITION, &node("type: switch, conditions: [{rule: 1, @}]")),
        place(&EXPRESSION, &node("type: transform, transform: {@}")),
        place(&EXPRESSION, &node("type: foreach, items: {@}")),
    ];
    for key in BACKEND.keys() {
        places.push(place(record(key), &format!("backend: {{{}: {{@}}}}", key.name)));
    }
    places.extend([
        place(&BACKEND, "backend: {@}"),
        place(&BACKEND, "backends: {b: {@}}"),
        place(&COMMAND_TOOL, "tools: [{command: {}, @}]"),
        place(&COMMAND_TOOL, "tools: [{edgelake_command: {}, @}]"),
        place(&COMMAND, "tools: [{command: {@}}]"),
        place(&EDGELAKE_COMMAND, "tools: [{edgelake_command: {@}}]"),
        place(&RESPONSE, "tools: [{command: {response_parser: {@}}}]"),
        place(&FILTER, "tools: [{command: {response_parser: {filter: {@}}}}]"),
    ]);
    for (kind, table) in node_kinds() {
        places.push(place(table, &node(&format!("type: {kind}, @"))));
    }
    let tests = [
        (&TEST_FILE, "{@}"),
        (&TEST, "tests: [{@}]"),
        (&ANSWER, "tests: [{mocks: {m: {@}}}]"),
        (&ANSWER, "tests: [{mocks: {m: [{@}]}}]"),
        (&MOCK_ERROR, "tests: [{mocks: {m: {error: {@}}}}]"),
        (&EXPECT, "tests: [{expect: {@}}]"),
        (&EXPECTED_ERROR, "tests: [{expect: {error: {@}}}]"),
    ];
    let kind = FileKind::Tests;
    places.extend(tests.map(|(table, file)| Place { table, file: file.to_owned(), kind }));
    places
}

/// A key of the table that the decoder did not read would be one that silently does nothing.
#[test]
fn the_decoder_reads_every_key() {
    let mut unread = BTreeSet::new();
    let mut read = BTreeSet::new();
    for Place { table, file, kind } in places() {
        for key in table.keys() {
            // A value of the wrong type is reported by whoever reads it.
            let wrong = match key.shape {
                Shape::Any => continue,
                Shape::AnyArray | Shape::List(_) => "{wrong: 1}",
                _ => "[[wrong]]",
            };
            let text = file.replace('@', &format!("{}: {wrong}", key.name));
            let found = problems(&text, kind);
            let start = text.find(wrong).expect("the value");
            let span = Span::new(start.saturating_sub(key.name.len() + 2), start + wrong.len());
            let name = (table.name, key.name);
            let duplicate = text.matches(&format!("{}: ", key.name)).count() > 1;
            let is_read = duplicate
                || found.iter().any(|diagnostic| {
                    diagnostic.primary.as_ref().is_some_and(|label| span.contains(label.span))
                });
            if is_read {
                read.insert(name);
            } else {
                unread.insert(name);
            }
        }
    }
    let never: Vec<_> = unread.difference(&read).collect();
    assert!(never.is_empty(), "the decoder does not read {never:?}");
    assert!(read.len() > 60, "only {} keys were looked at", read.len());
}

fn problems(text: &str, kind: FileKind) -> Diagnostics {
    let source = Source::new("test.yaml", text);
    match kind {
        FileKind::Graph => read_graph(&source, &|_| None).1,
        FileKind::Tests => read_tests(&source).1,
    }
}

fn schema(kind: FileKind) -> Value {
    match kind {
        FileKind::Graph => json_schema(),
        FileKind::Tests => test_schema(),
    }
}

#[test]
fn the_schema_has_every_key_with_its_description() {
    for Place { table, kind, .. } in places() {
        let schema = schema(kind);
        let definition = if [FILE.name, TEST_FILE.name].contains(&table.name) {
            &schema
        } else {
            schema.pointer(&format!("/$defs/{}", table.name)).expect("the definition")
        };
        let properties = definition.get("properties").and_then(Value::as_object).expect("them");
        let written: BTreeSet<&str> = properties.keys().map(|key| &**key).collect();
        let known: BTreeSet<&str> =
            table.keys().filter(|key| key.need != Need::Retired).map(|key| key.name).collect();
        assert_eq!(written, known, "{}", table.name);
        for (key, property) in properties.iter() {
            assert!(property.get("description").is_some(), "{}.{key}", table.name);
        }
    }
}

#[test]
fn every_reference_of_the_schema_leads_somewhere() {
    let schemas = [json_schema(), test_schema()];
    let mut pending: Vec<(&Value, &Value)> = schemas.iter().map(|all| (all, all)).collect();
    let mut references = 0;
    while let Some((schema, value)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (schema, item))),
            Value::Object(members) => {
                pending.extend(members.values().map(|member| (schema, member)));
                if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
                    let pointer = reference.strip_prefix('#').expect("a local reference");
                    assert!(schema.pointer(pointer).is_some_and(|part| !part.is_null()));
                    references += 1;
                }
            }
            _ => {}
        }
    }
    assert!(references > 10);
}

#[test]
fn any_node_has_the_keys_of_all_kinds() {
    for (kind, table) in node_kinds() {
        assert_eq!(table.name, format!("{kind}Node"), "words and tables are in one order");
        for key in table.keys() {
            assert!(ANY_NODE.key(key.name).is_some(), "`{}` of `{kind}`", key.name);
        }
    }
}
