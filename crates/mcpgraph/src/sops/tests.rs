use std::fs;

use super::*;

const PLAIN: &str = "---\nagent: desk\n---\n```mermaid\nflowchart TD\nSTART --> END\n```\n";

fn sops(folder: &Path, enforce: bool) -> Sops {
    fs::create_dir_all(folder.join("root/inner")).unwrap();
    fs::create_dir_all(folder.join("empty")).unwrap();
    fs::write(folder.join("root/a.md"), PLAIN).unwrap();
    fs::write(folder.join("root/inner/b.md"), PLAIN).unwrap();
    fs::write(folder.join("secret.md"), PLAIN).unwrap();
    fs::write(folder.join("named.md"), PLAIN.replace("desk", "other")).unwrap();
    std::os::unix::fs::symlink(folder.join("secret.md"), folder.join("root/link.md")).ok();
    let named = folder.join("named.md");
    Sops::new(read_all([named.as_path()]), [&*folder.join("empty"), &*folder.join("root")], enforce)
        .unwrap()
}

#[tokio::test]
async fn nothing_outside_the_root_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let sops = sops(folder.path(), false);
    let inside = folder.path().join("root/a.md").display().to_string();
    for name in ["a.md", "inner/b.md", "inner/../a.md", &inside, "other"] {
        let source = sops.open(name).await;
        assert_eq!(source.map(|source| source.name().to_owned()).ok().as_deref(), Some(name));
    }
    let outside = folder.path().join("secret.md").display().to_string();
    for name in ["../secret.md", "link.md", &outside, "inner/../../secret.md", "/etc/passwd"] {
        let problem = sops.open(name).await.unwrap_err();
        assert!(problem.message.contains("is not below the folder"), "{}", problem.message);
        assert_eq!(problem.code, codes::PROCEDURE_REFUSED);
    }
    for name in ["nope.md", "inner", "", "a.md\0"] {
        let problem = sops.open(name).await.unwrap_err();
        assert_eq!(problem.message, format!("SOP file not found: {name}"));
    }
    let problem = sops.open("https://example.com/a.md").await.unwrap_err();
    assert!(problem.message.contains("the operator allows no hosts"), "{}", problem.message);
}

#[tokio::test]
async fn where_a_procedure_binds_no_other_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let sops = sops(folder.path(), true);
    assert!(sops.open("other").await.is_ok());
    let problem = sops.open("a.md").await.unwrap_err();
    assert!(problem.message.contains("is not one of the procedures that bind"));
    let sops = sops.loading_from(&["example.com"]).unwrap();
    let problem = sops.open("https://example.com/a.md").await.unwrap_err();
    assert!(problem.message.contains("is not one of the procedures that bind"));
}

#[test]
fn two_procedures_with_one_agent_are_not_served() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["a.md", "b.md"].map(|name| folder.path().join(name));
    for path in &paths {
        fs::write(path, PLAIN).unwrap();
    }
    let read = read_all(paths.iter().map(PathBuf::as_path));
    let said: Vec<&str> = read.diagnostics.iter().map(|problem| problem.code.id()).collect();
    assert_eq!(said, ["MG0512"]);
    let message = &read.diagnostics.iter().next().unwrap().message;
    for path in &paths {
        assert!(message.contains(&path.display().to_string()), "{message}");
    }
    // Each alone is right.
    assert!(!read_all([paths[0].as_path()]).diagnostics.has_errors());
}

#[tokio::test]
async fn why_a_file_cannot_be_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let sops = sops(folder.path(), false);
    fs::write(folder.path().join("root/latin.md"), b"---\nagent: caf\xe9\n---\n").unwrap();
    let problem = sops.open("latin.md").await.unwrap_err();
    assert_eq!(
        problem.message,
        "SOP file cannot be read: latin.md: it is not UTF-8 text (byte 14); save it as UTF-8"
    );
}
