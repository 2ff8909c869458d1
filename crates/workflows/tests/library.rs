//! Workflows in a store, as every face of the product keeps to them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::sync::Arc;

use mcpgraph_diagnostics::Source;
use mcpgraph_journal::{Journal, JournalOptions};
use mcpgraph_value::Value;
use mcpgraph_workflows::{Library, LibraryError, TEMPLATES, Workflow};
use tempfile::TempDir;

/// As the editor of other programs writes it, with keys nobody here knows.
const DEFINITION: &str = r#"{"id":"wf-1","name":"Guard","workflowType":"tools/call","nodes":[
{"id":"start","type":"start","position":{"x":100.50,"y":200},"data":{"label":"Start"},"deletable":false,"measured":{"width":1}},
{"id":"hook-1","type":"hook","position":{"x":1,"y":2},"data":{"label":"H","hook":{"id":"h","script":"","hookModuleId":"m-1","blocking":true}}},
{"id":"mcp-call","type":"mcp-call","position":{"x":350,"y":200},"data":{"label":"MCP"}},
{"id":"end","type":"end","position":{"x":600,"y":200},"data":{"label":"End"}}],
"edges":[{"id":"a","source":"start","target":"hook-1","animated":true},{"id":"b","source":"hook-1","target":"mcp-call"},{"id":"c","source":"mcp-call","target":"end"}],
"enabled":false,"createdAt":1700000000000,"updatedAt":123456789012345678901234567890,"zoom":{"z":1e2}}"#;

fn library() -> (Library, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path(), JournalOptions::default()).unwrap();
    (Library::new(Arc::new(journal)), folder)
}

fn guard() -> Value {
    Value::from_json(DEFINITION).unwrap()
}

#[test]
fn a_definition_is_kept_to_the_letter() {
    let (library, _folder) = library();
    library.import(guard()).unwrap();
    let kept = library.find("Guard").unwrap();
    assert_eq!(kept.definition.to_json(), guard().to_json());
    assert!(kept.definition.to_json().contains("123456789012345678901234567890"));
    assert!(
        !library.import(guard()).unwrap().diagnostics.iter().any(|found| found.message.is_empty())
    );
}

#[test]
fn a_draft_may_have_errors_and_a_workflow_in_use_may_not() {
    let (library, _folder) = library();
    // The module is not there yet.
    assert!(library.import(guard()).unwrap().diagnostics.has_errors());
    assert!(matches!(library.set_enabled("wf-1", true), Err(LibraryError::Invalid { .. })));
    assert!(library.in_use().unwrap().is_empty());
    library.put_module(Some("m-1"), "tag", "return {}").unwrap();
    let enabled = library.set_enabled("Guard", true).unwrap();
    assert!(enabled.is_enabled());
    let graphs = library.in_use().unwrap();
    assert_eq!(&*graphs[0].workflows[0].id, "wf-1");
    // What is in use does not break.
    assert!(matches!(
        library.put_module(Some("m-1"), "tag", "return {"),
        Err(LibraryError::BadModule(_))
    ));
    let broken = DEFINITION.replace("\"enabled\":false", "\"enabled\":true").replace("m-1", "m-2");
    assert!(matches!(
        library.import(Value::from_json(&broken).unwrap()),
        Err(LibraryError::Invalid { .. })
    ));
    assert!(library.set_enabled("Guard", false).is_ok());
    assert!(library.in_use().unwrap().is_empty());
}

#[test]
fn what_is_wrong_is_shown_where_it_stands_in_a_file() {
    let (library, _folder) = library();
    let wrong = DEFINITION.replace("\"target\":\"end\"", "\"target\":\"ende\"");
    // Line 1 of the definition is line 3 of this list.
    let list = format!("[\n\t{{\"name\": \"first\", \"nodes\": []}},\n\t{wrong}\n]\n");
    for (name, text, line, pointer) in
        [("one.json", &wrong, 6, "/edges/2/target"), ("all.json", &list, 8, "/1/edges/2/target")]
    {
        let workflows = Workflow::in_file(&Source::new(name, text.as_str())).unwrap();
        let found = library.check(workflows.last().unwrap()).unwrap();
        let unknown = found.iter().find(|found| found.message.contains("`ende`")).unwrap();
        let label = unknown.primary.as_ref().unwrap();
        assert_eq!((label.source.name(), label.start().line), (name, line), "{unknown:?}");
        assert_eq!(label.source.slice(label.span), "\"ende\"");
        assert_eq!(unknown.pointer.as_deref(), Some(pointer));
    }
    assert!(Workflow::in_file(&Source::new("x.json", "{\"bad")).is_err());
}

#[test]
fn a_module_in_use_stays() {
    let (library, _folder) = library();
    library.put_module(Some("m-1"), "tag", "return {}").unwrap();
    library.import(guard()).unwrap();
    match library.remove_module("tag") {
        Err(LibraryError::InUse { users, .. }) => assert_eq!(users, ["Guard"]),
        other => panic!("{other:?}"),
    }
    library.remove("wf-1").unwrap();
    library.remove_module("tag").unwrap();
    assert!(library.modules().unwrap().is_empty());
    assert!(matches!(library.remove("wf-1"), Err(LibraryError::NoWorkflow(_))));
    assert!(matches!(library.remove_module("tag"), Err(LibraryError::NoModule(_))));
}

#[test]
fn modules_have_names_of_their_own() {
    let (library, _folder) = library();
    library.put_module(Some("1"), "a", "").unwrap();
    assert!(library.put_module(Some("2"), "a", "").is_err());
    assert_eq!(library.put_module(None, "a", "return").unwrap().id, "1");
    assert!(library.put_module(None, "", "").is_err());
    assert!(library.put_module(None, &"n".repeat(101), "").is_err());
}

#[test]
fn every_change_is_noticed() {
    let (library, folder) = library();
    let other = Library::new(Arc::new(Journal::open_read(folder.path()).unwrap()));
    let mut seen = other.version().unwrap();
    let mut changed = || {
        let now = other.version().unwrap();
        std::mem::replace(&mut seen, now) != now
    };
    assert!(!changed());
    library.put_module(Some("m-1"), "tag", "return {}").unwrap();
    assert!(changed());
    library.import(guard()).unwrap();
    assert!(changed());
    library.set_enabled("wf-1", true).unwrap();
    assert!(changed());
    assert_eq!(other.in_use().unwrap().len(), 1);
    library.remove("wf-1").unwrap();
    assert!(changed());
}

#[test]
fn names_may_be_ambiguous() {
    let (library, _folder) = library();
    library.import(guard()).unwrap();
    let second = DEFINITION.replace("wf-1", "wf-2");
    library.import(Value::from_json(&second).unwrap()).unwrap();
    assert!(
        matches!(library.find("Guard"), Err(LibraryError::Ambiguous { ids, .. }) if ids.len() == 2)
    );
    assert_eq!(library.find("wf-2").unwrap().id, "wf-2");
    for bad in ["{}", r#"{"name":"x"}"#, r#"{"name":"","nodes":[]}"#, "[]"] {
        let imported = library.import(Value::from_json(bad).unwrap());
        assert!(matches!(imported, Err(LibraryError::NotAWorkflow(_))), "{bad}");
    }
}

#[test]
fn every_template_can_be_enabled() {
    let (library, _folder) = library();
    for template in TEMPLATES {
        let definition = template.definition(template.name).unwrap();
        let imported = library.import(definition).unwrap();
        assert!(imported.diagnostics.is_empty(), "{}: {:?}", template.name, imported.diagnostics);
        library.set_enabled(template.name, true).unwrap();
    }
    assert_eq!(library.in_use().unwrap().len(), TEMPLATES.len());
}
