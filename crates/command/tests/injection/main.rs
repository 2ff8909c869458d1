//! Hostile arguments: none changes the structure of a command.
//!
//! `corpus.json` holds the arguments in groups, each with the places that must refuse all of them.
//! `commands.yaml` has a command for every place a value can stand in. `expected.txt` says what
//! becomes of each value in each place: refused, by which rule, or carried as data.
//!
//! A request that carries a value is taken apart by means that have nothing to do with how it was
//! made: with the value taken out it is what a harmless value gives, and the value is the one that
//! was put in.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod apart;
mod rules;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use mcpgraph_command::{Command, compile};
use mcpgraph_config::model::{BackendRef, NodeKind};
use mcpgraph_diagnostics::Source;
use mcpgraph_value::{Map, Value};

use self::apart::{Apart, take_apart};
use self::rules::rule;

/// How many arguments the corpus holds at least.
const MIN_VALUES: usize = 500;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/injection")
}

fn read(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap()
}

/// The commands by the names of their places.
fn commands() -> BTreeMap<String, Command> {
    let source = Source::new("commands.yaml", read("commands.yaml"));
    let (file, diagnostics) = mcpgraph_config::read_graph(&source, &|_| None);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let file = file.unwrap();
    let compiled = file.tools.iter().map(|tool| {
        let NodeKind::Command(call) = &tool.nodes[1].kind else { panic!("no command") };
        let Some(BackendRef::Name(name)) = call.command.backend.as_ref().map(|of| &of.value) else {
            panic!("no backend")
        };
        let backend = file.backends.iter().find(|backend| backend.name == *name).unwrap();
        let mut found = Vec::new();
        let command = compile(&call.command, backend, None, &source, &mut found);
        (tool.name.to_string(), command.unwrap_or_else(|| panic!("{}: {found:?}", tool.name)))
    });
    compiled.collect()
}

/// A group of the corpus: what it is about, who refuses it, and its values.
struct Group {
    about: String,
    refused_by: Vec<String>,
    values: Vec<Value>,
}

fn corpus() -> Vec<Group> {
    let groups = Value::from_json(&read("corpus.json")).unwrap();
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
    };
    let group = |group: &Value| {
        let times =
            group.get("times").map_or(1, |times| times.as_number().unwrap().as_i64().unwrap());
        let repeated = |value: &Value| match value {
            Value::String(text) if times > 1 => {
                Value::from(text.repeat(usize::try_from(times).unwrap()).as_str())
            }
            other => other.clone(),
        };
        Group {
            about: group.get("about").unwrap().as_str().unwrap().to_owned(),
            refused_by: texts(group.get("refusedBy").unwrap()),
            values: group.get("values").unwrap().as_array().unwrap().iter().map(repeated).collect(),
        }
    };
    groups.as_array().unwrap().iter().map(group).collect()
}

/// The arguments of a call in which a value stands in its place.
fn arguments(place: &str, value: &Value) -> Value {
    let mut map: Map = Map::from_iter([("table", "t")]);
    if place.starts_with("edgelake") {
        map.insert("database", "d");
    }
    let key = place.split_once("_build_").map_or("x", |(_, key)| key);
    map.insert(key, value.clone());
    map.into()
}

/// A value that does no harm in its place.
fn harmless(place: &str) -> Value {
    match place {
        "number" | "sqlite_build_limit" => Value::from(7),
        "raw_statement" => Value::from("SELECT 1"),
        _ => Value::from("plain"),
    }
}

#[test]
fn no_argument_changes_the_structure_of_a_command() {
    let commands = commands();
    let plain: BTreeMap<&str, Apart> = commands
        .iter()
        .map(|(place, command)| {
            let request = command.request(&arguments(place, &harmless(place)));
            (&**place, take_apart(place, &request.unwrap_or_else(|why| panic!("{place}: {why}"))))
        })
        .collect();
    let mut told = String::new();
    let mut taken = Vec::new();
    let mut values = 0;
    for group in corpus() {
        writeln!(told, "# {}", group.about).unwrap();
        for place in &group.refused_by {
            assert!(commands.contains_key(place), "{}: no place `{place}`", group.about);
        }
        for value in &group.values {
            values += 1;
            let shown: String = value.to_json().chars().take(100).collect();
            let mut refused: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
            let mut carried = Vec::new();
            for (place, command) in &commands {
                match command.request(&arguments(place, value)) {
                    Err(refusal) => {
                        refused.entry(rule(&refusal.to_string())).or_default().push(place);
                    }
                    Ok(request) => {
                        let apart = take_apart(place, &request);
                        let same = &plain[&**place];
                        assert_eq!(apart.structure, same.structure, "{place}: {shown}");
                        if let Some(found) = apart.value {
                            assert_eq!(found, as_text(value), "{place}");
                        }
                        if group.refused_by.contains(place) {
                            taken.push(format!("{place} takes {shown}: {request:?}"));
                        }
                        carried.push(&**place);
                    }
                }
            }
            writeln!(told, "{}", shown.escape_debug()).unwrap();
            for (rule, places) in refused {
                writeln!(told, "  {rule}: {}", places.join(" ")).unwrap();
            }
            writeln!(told, "  carried: {}", carried.join(" ")).unwrap();
        }
    }
    assert!(taken.is_empty(), "what must be refused is taken:\n{}", taken.join("\n"));
    assert!(values >= MIN_VALUES, "{values}");
    compare(&told);
}

/// A value as the text in which it stands in commands.
fn as_text(value: &Value) -> String {
    let single = |value: &Value| match value {
        Value::String(text) => text.to_string(),
        other => other.to_json(),
    };
    match value {
        // A list is what is in it, where several are taken.
        Value::Array(items) => items.iter().map(single).collect::<Vec<_>>().join(", "),
        other => single(other),
    }
}

/// Holds what happened against what is written; `MCPGRAPH_ACCEPT=1` writes it anew, to be read.
fn compare(told: &str) {
    let path = folder().join("expected.txt");
    if std::env::var_os("MCPGRAPH_ACCEPT").is_some() {
        std::fs::write(&path, told).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    for (line, (expected, told)) in expected.lines().zip(told.lines()).enumerate() {
        assert_eq!(told, expected, "line {} of expected.txt", line + 1);
    }
    assert_eq!(told.lines().count(), expected.lines().count());
}
