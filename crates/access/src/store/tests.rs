use std::fs;

use super::file::FILE;
use super::*;

fn new(name: &str) -> NewToken {
    NewToken { name: name.to_owned(), ..NewToken::default() }
}

#[test]
fn a_token_is_found_by_itself_until_it_is_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = Tokens::in_folder(&folder.path().join("new"));
    assert!(tokens.list().expect("none").is_empty());
    let (token, secret) = tokens.add(new("ci")).expect("a token");
    let now = SystemTime::now();
    assert_eq!(tokens.find(&secret, now).expect("found"), Some(token.clone()));
    assert_eq!(tokens.with_id(&token.id, now).expect("found"), Some(token.clone()));
    assert_eq!(tokens.find("mcpg_00", now).expect("not found"), None);
    assert_eq!(tokens.find(&token.id, now).expect("an id is no token"), None);
    assert!(matches!(tokens.add(new("ci")), Err(StoreError::NameTaken(_))));
    // Another process revokes it.
    let other = Tokens::in_folder(&folder.path().join("new"));
    other.remove("ci").expect("removed");
    assert_eq!(tokens.find(&secret, now).expect("gone"), None);
    assert!(matches!(tokens.remove("ci"), Err(StoreError::Unknown(_))));
}

#[test]
fn what_is_kept_is_no_token_and_nobody_elses_business() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = Tokens::in_folder(folder.path());
    let (_, secret) = tokens.add(new("ci")).expect("a token");
    let text = fs::read_to_string(folder.path().join(FILE)).expect("the file");
    assert!(!text.contains(&secret) && !text.contains(&secret[PREFIX.len()..]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(folder.path().join(FILE)).expect("the file").permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
}

#[test]
fn a_token_ends() {
    let folder = tempfile::tempdir().expect("a folder");
    let tokens = Tokens::in_folder(folder.path());
    let lifetime = Some(Duration::from_mins(1));
    let (_, secret) = tokens.add(NewToken { lifetime, ..new("short") }).expect("a token");
    let now = SystemTime::now();
    assert!(tokens.find(&secret, now).expect("found").is_some());
    assert!(tokens.find(&secret, now + Duration::from_secs(61)).expect("read").is_none());
}

#[test]
fn a_damaged_file_lets_nobody_in() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join(FILE), "{ \"tokens\": [").expect("a file");
    let tokens = Tokens::in_folder(folder.path());
    assert!(matches!(tokens.list(), Err(StoreError::Damaged { .. })));
    assert!(tokens.find("mcpg_00", SystemTime::now()).is_err());
    assert!(tokens.add(new("ci")).is_err());
}
