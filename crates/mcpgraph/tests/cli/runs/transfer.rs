use std::fs;

use serde_json::{Value, json};

use super::{Store, empty, graph};
use crate::product::typed;

#[test]
fn an_exported_run_is_the_same_elsewhere() {
    let (here, there) = (Store::new(), Store::new());
    let id = here.record(&graph(), "everything", &empty());
    let file = there.folder.path().join("run.json");
    let file = file.to_str().unwrap();
    let said = here.typed(&["runs", "export", &id, "-o", file]);
    assert_eq!((said.code, &*said.out), (0, ""));
    assert!(said.err.contains(file), "{}", said.err);
    let document: Value = serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let printed = here.runs(&["export", &id]);
    assert_eq!(document, serde_json::from_str::<Value>(&printed).unwrap());
    assert_eq!(here.runs(&["export", &id, "-o", "-"]), printed);
    assert!(!here.folder.path().join("-").exists());

    assert_eq!(there.runs(&["import", file]), format!("{id}\n"));
    assert_eq!(there.json(&["import", file]), json!({"run": id}), "once more");
    assert_eq!(there.listed(&[]), [&*id]);
    let shown = here.json(&["show", &id]);
    assert_eq!(there.json(&["show", &id]), shown);
    for step in shown["steps"].as_array().unwrap() {
        let step = step["step"].to_string();
        let arguments = ["show", &id, "--step", &step, "--context"];
        assert_eq!(there.json(&arguments), here.json(&arguments), "step {step}");
    }
    assert!(there.runs(&["replay", &id]).starts_with("same"));
}

#[test]
fn a_run_may_come_through_a_pipe() {
    let (here, there) = (Store::new(), Store::new());
    let id = here.record(&graph(), "double", &json!({"n": 1}));
    let (from, to) = (here.path(), there.path());
    let line = format!(
        "mcpgraph runs export {id} --data '{}' | mcpgraph runs import - --data '{}'",
        from.display(),
        to.display()
    );
    let output = typed(&line, here.folder.path());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(there.listed(&[]), [id]);
}

#[test]
fn only_exported_runs_are_taken_in_and_none_is_overwritten() {
    let store = Store::new();
    let id = store.record(&graph(), "double", &json!({"n": 1}));
    let exported = store.runs(&["export", &id]);
    let forged = exported.replacen("\"out\": 2", "\"out\": 3", 1);
    assert_ne!(exported, forged);
    for (text, why) in [
        ("hello", "is not JSON"),
        ("{}", "format"),
        (&exported.replacen("\"seq\": 3", "\"seq\": 4", 1), "not an exported run"),
        (&forged, "never rewritten"),
    ] {
        let file = store.graph("run.json", text);
        let (code, said) = store.failing(&["import", file.to_str().unwrap()]);
        assert_eq!(code, 1, "{said}");
        assert!(said.contains(why) && said.contains("run.json"), "{why}: {said}");
    }
    let (code, said) = store.failing(&["import", "missing.json"]);
    assert_eq!(code, 3, "{said}");
    assert_eq!(store.runs(&["export", &id]), exported);
}

#[test]
fn runs_are_forgotten_by_name_or_age() {
    let store = Store::new();
    let ids: Vec<String> =
        (0..4).map(|n| store.record(&graph(), "double", &json!({"n": n}))).collect();
    let said = store.typed(&["runs", "rm", &ids[0], &ids[2]]);
    assert_eq!((said.code, &*said.err), (0, "removed 2 runs\n"));
    assert_eq!(store.listed(&[]), [ids[3].clone(), ids[1].clone()]);
    let (code, said) = store.failing(&["rm", &ids[1], &ids[0]]);
    assert!(code == 1 && said.contains(&ids[0]), "{said}");
    assert_eq!(store.listed(&[]).len(), 2, "all or none");
    assert_eq!(store.json(&["rm", "--older-than", "1h"]), json!({"removed": 0}));
    let (code, _) = store.failing(&["rm"]);
    assert_eq!(code, 2);
    let (code, _) = store.failing(&["rm", &ids[1], "--older-than", "1h"]);
    assert_eq!(code, 2);
    assert_eq!(store.json(&["rm", "--older-than", "0s"]), json!({"removed": 2}));
    assert_eq!(store.listed(&[]), [""; 0]);
}
