use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::*;

fn folder(text: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.yaml");
    fs::write(&path, text).expect("a file");
    (folder, path)
}

/// Puts `to` in place of `from`, which has to be there.
fn replacing(from: &str, to: &str) -> impl Fn(&Arc<Source>) -> Result<String, String> {
    move |source| {
        let is_there = source.text().contains(from);
        let wrong = || format!("there is no {from}");
        is_there.then(|| source.text().replace(from, to)).ok_or_else(wrong)
    }
}

#[test]
fn an_edit_is_saved() {
    let (_folder, path) = folder("a b");
    let seen = read(&path).expect("the file");
    let saved = save(&path, &seen, replacing("a", "x")).expect("saved");
    assert_eq!((saved.before.text(), saved.source.text()), ("a b", "x b"));
    assert_eq!(fs::read_to_string(&path).expect("the file"), "x b");
}

#[test]
fn an_edit_is_made_on_what_is_there_now() {
    let (_folder, path) = folder("a b");
    let seen = read(&path).expect("the file");
    fs::write(&path, "a c").expect("somebody else saves");
    let saved = save(&path, &seen, replacing("a", "x")).expect("saved");
    assert_eq!(saved.before.text(), "a c");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "x c");
}

#[test]
fn an_edit_that_does_not_fit_any_more_is_refused_with_a_diff() {
    let (_folder, path) = folder("a\n");
    let seen = read(&path).expect("the file");
    assert!(matches!(save(&path, &seen, replacing("z", "x")), Err(SaveError::Edit(_))));
    fs::write(&path, "b\n").expect("somebody else saves");
    let error = save(&path, &seen, replacing("a", "x")).expect_err("refused");
    let SaveError::Changed { diff, .. } = error else { panic!("{error}") };
    assert!(diff.contains("-a\n+b\n"), "{diff}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), "b\n");
}

#[test]
fn leftovers_of_killed_writers_are_removed() {
    let (folder, path) = folder("a");
    fs::write(folder.path().join(".graph.yaml.new-x1"), "half").expect("a leftover");
    fs::write(folder.path().join(".other.yaml.new-x1"), "half").expect("another's");
    let seen = read(&path).expect("the file");
    save(&path, &seen, replacing("a", "x")).expect("saved");
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, [".graph.yaml.lock", ".other.yaml.new-x1", "graph.yaml"]);
}

#[test]
fn large_files_and_bytes_that_are_no_text_are_refused() {
    let (_folder, path) = folder("a");
    fs::write(&path, [b'a', 0xff]).expect("a file");
    assert!(matches!(read(&path), Err(ReadError::NotText { byte: 1, .. })));
    fs::write(&path, vec![b'a'; crate::MAX_FILE_BYTES + 1]).expect("a file");
    assert!(matches!(read(&path), Err(ReadError::TooLarge(_))));
    assert!(matches!(read(&path.with_file_name("none")), Err(ReadError::Io { .. })));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_mode_stays() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let (folder, path) = folder("a");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a mode");
    let link = folder.path().join("link.yaml");
    symlink("graph.yaml", &link).expect("a link");
    let seen = read(&link).expect("the file");
    save(&link, &seen, replacing("a", "x")).expect("saved");
    assert!(fs::symlink_metadata(&link).expect("the link").is_symlink());
    assert_eq!(fs::read_to_string(&path).expect("the file"), "x");
    let mode = fs::metadata(&path).expect("the file").permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}
