//! What workflows do to the list of tools.

use serde_json::{Value, json};

use super::{serve, text};
use crate::product::Era;

fn around_list(after: &str) -> Value {
    json!({
        "name": "list",
        "workflowType": "tools/list",
        "nodes": [
            { "id": "start", "type": "start", "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "after" },
            { "id": "after", "type": "hook", "hook": { "script": after }, "next": "end" },
            { "id": "end", "type": "end" }
        ]
    })
}

#[test]
fn tools_are_filtered_renamed_described_and_added() {
    let after = "
        const tools = context.response.tools
            .filter((tool) => !tool.name.endsWith('fail'))
            .map((tool) => tool.name === 'demo__echo'
                ? { ...tool, name: 'say', description: 'Says it again' } : tool);
        tools.push({ name: 'about', inputSchema: { type: 'object' } });
        return { response: { ...context.response, tools } };
    ";
    let answers = json!({
        "name": "about",
        "workflowType": "tools/call",
        "match": { "tool": "about" },
        "nodes": [
            { "id": "start", "type": "start", "next": "answer" },
            { "id": "answer", "type": "hook", "hook": { "script":
                "return { response: { content: [{ type: 'text', text: 'all about it' }] } }" },
              "next": "call" },
            { "id": "call", "type": "mcp-call", "next": "end" },
            { "id": "end", "type": "end" }
        ]
    });
    for era in Era::BOTH {
        let mut served = serve(&json!([around_list(after), answers]), era);
        // A name is understood before it was ever listed.
        let answer = served.call("say", json!({"value": "first"}));
        assert_eq!(text(&answer), "first");
        let names = served.tool_names();
        assert!(names.contains(&"say".to_owned()) && names.contains(&"about".to_owned()));
        assert!(names.contains(&"double".to_owned()));
        assert!(
            !names.iter().any(|name| name == "demo__echo" || name == "demo__fail"),
            "{names:?}"
        );
        let listed = served.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let say = tools.iter().find(|tool| tool["name"] == "say").unwrap();
        assert_eq!(say["description"], "Says it again");
        assert!(tools.iter().all(|tool| tool.get("_meta").is_none()), "{listed}");
        assert_eq!(text(&served.call("about", json!({}))), "all about it");
    }
}

#[test]
fn a_list_is_not_changed_by_looking_at_it() {
    let mut plain = serve(&json!([]), Era::Legacy);
    let mut looked = serve(&json!([around_list("return {}")]), Era::Legacy);
    let lists = [&mut plain, &mut looked].map(|served| served.request("tools/list", json!({})));
    assert_eq!(lists[0]["result"].to_string(), lists[1]["result"].to_string());
}

#[test]
fn a_broken_list_is_an_error() {
    for (script, expected) in [
        ("throw new Error('no list')", "no list"),
        ("return { continue: false, error: { message: 'closed' } }", "closed"),
        ("return { response: { nothing: 1 } }", "without the list"),
    ] {
        let mut served = serve(&json!([around_list(script)]), Era::Legacy);
        let answer = served.request("tools/list", json!({}));
        let message = answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(message.contains(expected), "{answer}");
    }
}
