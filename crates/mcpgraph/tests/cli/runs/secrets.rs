use serde_json::json;

use super::{Store, graph};

const TOKEN: &str = "tok-5f1e2d3c4b5a";
const PASSWORD: &str = "correct horse";

/// A run that was given a secret of the environment, and a field that is to be masked.
fn login(store: &Store) -> String {
    let arguments = json!({"token": TOKEN, "password": PASSWORD});
    store.record_with(&graph(), "login", &arguments, &[], &[("RUNS_TEST_TOKEN", TOKEN)])
}

#[test]
fn no_secret_is_shown_or_written() {
    let store = Store::new();
    let id = login(&store);
    let mut shown: Vec<String> = vec![
        store.runs(&["ls"]),
        store.runs(&["ls", "--json"]),
        store.runs(&["show", &id]),
        store.runs(&["show", &id, "--json"]),
        store.runs(&["export", &id]),
    ];
    for step in ["0", "1", "2", "3"] {
        shown.push(store.runs(&["show", &id, "--step", step, "--context"]));
    }
    for text in &shown {
        assert!(!text.contains(TOKEN) && !text.contains(PASSWORD), "{text}");
    }
    let step = store.json(&["show", &id, "--step", "1", "--context"]);
    assert_eq!(step["step"]["output"], json!({"header": "Bearer [redacted]"}));
    let entry = json!({"token": "[redacted]", "password": "[redacted]"});
    assert_eq!(step["context"]["entry"], entry);
    assert_eq!(store.listed(&["--text", TOKEN]), [""; 0]);
    for file in std::fs::read_dir(store.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        for secret in [TOKEN, PASSWORD] {
            assert!(!bytes.windows(secret.len()).any(|part| part == secret.as_bytes()));
        }
    }
}

#[test]
fn a_masked_run_happens_again() {
    let store = Store::new();
    let id = login(&store);
    let replayed = store.json(&["replay", &id]);
    assert_eq!((&replayed["same"], &replayed["masked"]), (&json!(true), &json!(true)));
    // With another literal where the record has a mask it may be the same too.
    let file = store.graph("graph.yaml", &super::changed("& $.entry.token", "& \"something\""));
    assert!(store.runs(&["replay", &id, "-g", file.to_str().unwrap()]).starts_with("same"));
    let file = store.graph("graph.yaml", &super::changed("\"Bearer \"", "\"Basic \""));
    let (code, said) = store.failing(&["replay", &id, "-g", file.to_str().unwrap()]);
    assert!(code == 1 && said.contains("/output/header"), "{said}");
    assert!(said.contains("masked values"), "{said}");
}

#[test]
fn a_difference_may_come_from_a_mask() {
    let store = Store::new();
    let id = store.record(&graph(), "measure", &json!({"password": PASSWORD}));
    let (code, said) = store.failing(&["replay", &id]);
    assert_eq!(code, 1);
    assert!(said.contains("recorded  13") && said.contains("masked values"), "{said}");
}

#[test]
fn a_new_run_sees_the_masks_and_says_so() {
    let store = Store::new();
    let id = login(&store);
    let file = graph();
    let file = file.to_str().unwrap();
    let said = store.typed(&["runs", "rerun", &id, "-g", file, "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.contains("masked values"), "{}", said.err);
    assert!(said.out.contains("Bearer [redacted]"), "{}", said.out);
    let set = format!(r#"header={{"header": "{TOKEN}"}}"#);
    let arguments = ["runs", "rerun", &id, "--from", "2", "--set", &set, "-g", file, "--yes"];
    let said = store.typed_with(&arguments, &[("RUNS_TEST_TOKEN", TOKEN)]);
    assert!(said.out.contains(TOKEN), "{}{}", said.out, said.err);
    let second = store.listed(&[]).remove(0);
    assert!(!store.runs(&["export", &second]).contains(TOKEN));
}
