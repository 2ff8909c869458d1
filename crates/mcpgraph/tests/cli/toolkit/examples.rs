//! The examples that agents are given: those of the specification, and those of the skill.
//!
//! A call is an object with `tool` and `arguments`; what is wanted of its answer follows it.

use std::fs;

use serde_json::{Value, json};

use super::{Agent, has};
use crate::product::{beside, repository};

/// Makes a call, and compares its answer with what is said of it.
#[track_caller]
fn play(agent: &mut Agent, what: &str, call: &Value, wanted: Option<&Value>) {
    let tool = call["tool"].as_str().unwrap();
    let wants_error = wanted.is_some_and(|wanted| wanted["error"].is_object());
    let answer = agent.ask(tool, &call["arguments"]);
    assert_eq!(answer["error"].is_object(), wants_error, "{what}: {answer:#}");
    if let Some(wanted) = wanted {
        assert!(has(&answer, wanted), "{what}: {answer:#}\nhas not all of\n{wanted:#}");
    }
}

#[test]
fn every_example_of_the_specification_holds() {
    let cases = fs::read_to_string(beside("cases/toolkit.json")).unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    let mut agent = Agent::new();
    for case in &cases {
        let what = case["what"].as_str().unwrap();
        play(&mut agent, what, case, Some(&case["answer"]));
    }
    assert!(cases.len() >= 20, "{}", cases.len());
}

/// A block of a Markdown file: what stands behind its fence, and its text.
fn blocks(text: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(kind) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((kind, body.join("\n")));
        }
    }
    blocks
}

#[test]
fn every_example_of_the_skill_holds() {
    let text = fs::read_to_string(repository().join("skills/mcpgraph/SKILL.md")).unwrap();
    assert!(text.starts_with("---\nname: mcpgraph\ndescription: "), "the front matter");
    let mut agent = Agent::new();
    let tools: Vec<String> = agent.schemas.keys().cloned().collect();
    for tool in &tools {
        assert!(text.contains(&format!("`{tool}`")), "the skill does not tell of {tool}");
    }
    let blocks = blocks(&text);
    let mut played = 0;
    for (index, (kind, body)) in blocks.iter().enumerate() {
        let parsed = || -> Value {
            serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
        };
        match *kind {
            "json call" => {
                let wanted = blocks.get(index + 1).filter(|(kind, _)| *kind == "json answer");
                let wanted = wanted.map(|(_, body)| serde_json::from_str(body).unwrap());
                play(&mut agent, body, &parsed(), wanted.as_ref());
                played += 1;
            }
            "json answer" => assert_eq!(blocks[index - 1].0, "json call", "{body}"),
            // A node, as it stands in a definition.
            "json node" => {
                let node = parsed();
                let schema = agent.get("getGraphSchema", &json!({ "nodeType": node["type"] }));
                let schema = jsonschema::validator_for(&schema["schema"]).unwrap();
                let wrong: Vec<String> =
                    schema.iter_errors(&node).map(|error| error.to_string()).collect();
                assert!(wrong.is_empty(), "{wrong:?}: {body}");
            }
            // How a client is told of the toolkit.
            "json client" => {
                let server = &parsed()["mcpServers"]["mcpgraph-toolkit"];
                assert_eq!(server["command"], "mcpgraph", "{server}");
                assert_eq!(server["args"][0], "toolkit", "{server}");
            }
            "text" => {}
            other => panic!("a block of an unknown kind: {other}"),
        }
    }
    assert!(played >= 10, "{played}");
}
