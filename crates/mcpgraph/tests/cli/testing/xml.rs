//! `JUnit` reports are XML, whatever stands in names and values.

use std::fs;

use crate::product::{command, repository};

/// Goes through an XML document; gives its texts and attributes. Panics where it is not well-formed.
fn texts(xml: &str) -> Vec<String> {
    let mut rest =
        xml.strip_prefix("<?xml version=\"1.0\" encoding=\"UTF-8\"?>").expect("a prolog");
    let mut open: Vec<String> = Vec::new();
    let mut found = Vec::new();
    while let Some(start) = rest.find('<') {
        found.push(unescaped(&rest[..start]));
        let (tag, after) = rest[start + 1..].split_once('>').expect("a tag ends");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
            continue;
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(name.chars().all(char::is_alphabetic) && !name.is_empty(), "{tag}");
        while let Some((key, value)) = attributes.trim_start().split_once("=\"") {
            assert!(key.chars().all(char::is_alphabetic), "{key}");
            let (value, after) = value.split_once('"').expect("a value ends");
            assert!(!value.contains('<') && !value.contains('\n'));
            found.push(unescaped(value));
            attributes = after;
        }
        assert!(attributes.trim().is_empty(), "{attributes}");
        if !is_closed {
            open.push(name.to_owned());
        }
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
    found
}

/// The text that an escaped one stands for.
fn unescaped(text: &str) -> String {
    let is_allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(is_allowed), "{text:?} has a character that XML has not");
    let mut parts = text.split('&');
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        let (entity, after) = part.split_once(';').expect("a reference ends");
        out.push(match entity {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            number => {
                let number = number.strip_prefix('#').expect("a number");
                char::from_u32(number.parse().unwrap()).expect("a character")
            }
        });
        out.push_str(after);
    }
    out
}

#[test]
fn a_report_is_well_formed_whatever_it_tells() {
    let folder = tempfile::tempdir().unwrap();
    let name = "</testcase> & \"quotes\" 'too' <![CDATA[ ]]> 日本";
    let odd = "\\0\\u0001\\u001b[31m\\uFFFE\\n";
    let text = format!(
        "graph: {}/examples/orders.yaml\ntests:\n  - name: {}\n    tool: order_status\n    \
         input: {{ id: \"{odd}\" }}\n    \
         mocks: {{ look: {{ output: {{ id: \"{odd}<&>\", status: x }} }} }}\n    \
         expect: {{ result: \"]]>\" }}\n  - {{ name: fine, tool: order_status, expect: {{ error: {{}} }} }}\n",
        repository().display(),
        serde_json::json!(name)
    );
    let path = folder.path().join("odd.test.yaml");
    fs::write(&path, text).unwrap();
    let output = command().args(["test", "--format", "junit"]).arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let found = texts(&String::from_utf8(output.stdout).unwrap());
    assert!(found.iter().any(|text| text == name), "{found:?}");
    assert!(found.iter().any(|text| text.contains("the result differs")), "{found:?}");
    assert!(found.iter().any(|text| text.contains("\\u0001") && text.contains("<&>")), "{found:?}");
}

/// What a terminal would obey is not passed on to it.
#[test]
fn people_see_no_control_characters() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "graph: {}/examples/orders.yaml\ntests:\n  - name: \"\\e[2Jgone\\u202e\"\n    \
         tool: order_status\n    input: {{ id: x }}\n    \
         mocks: {{ look: {{ error: {{ kind: cancelled, message: \"\\e[31m\" }} }} }}\n    \
         expect: {{}}\n",
        repository().display()
    );
    let path = folder.path().join("odd.test.yaml");
    fs::write(&path, text).unwrap();
    let output = command().arg("test").arg(&path).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("gone") && said.contains("␛[31m"), "{said}");
    assert!(said.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'), "{said:?}");
}

/// A build server gets a report of files that cannot be used, too.
#[test]
fn files_with_errors_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bad.test.yaml");
    fs::write(&file, "graph: ./missing.yaml\ntests:\n  - { name: a <b>, tool: t }\n").unwrap();
    let report = |format: &str| {
        let output = command().arg("test").arg(&file).args(["--format", format]).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    let junit = report("junit");
    assert!(junit.contains("errors=\"2\"") && junit.contains("<error message="), "{junit}");
    assert!(junit.contains("missing.yaml") && junit.contains("`expect`"), "{junit}");
    let json: serde_json::Value = serde_json::from_str(&report("json")).unwrap();
    assert_eq!(json["failed"], 0, "{json}");
    assert!(json["problems"].to_string().contains("missing.yaml"), "{json}");
    assert!(report("human").is_empty());
}
