//! The code map in ARCHITECTURE.md is true: it names every crate, and a crate depends only on
//! crates above it.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The crates of the code map, from the top of the table to its end.
fn code_map() -> Vec<String> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let rows = text.lines().skip_while(|line| !line.starts_with("| layer | crate |"));
    rows.skip(2)
        .take_while(|line| line.starts_with('|'))
        .flat_map(|row| {
            let cell = row.split('|').nth(2).unwrap();
            let names = cell.split(',').map(|name| name.trim().trim_matches('`').to_owned());
            names.collect::<Vec<_>>()
        })
        .collect()
}

/// Where a crate of the map is.
fn folder(name: &str) -> PathBuf {
    let inside = root().join("crates").join(name);
    if inside.is_dir() { inside } else { root().join(name) }
}

/// The crates of this workspace that a crate needs when it is used, not only when it is tested.
fn dependencies(name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder(name).join("Cargo.toml")).unwrap();
    let mut is_dependency = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if let Some(section) = line.strip_prefix('[') {
            is_dependency = section.contains("dependencies") && !section.contains("dev-");
        } else if is_dependency && line.starts_with("mcpgraph") {
            let package = line.split(['.', ' ', '=']).next().unwrap();
            found.push(package.strip_prefix("mcpgraph-").unwrap_or(package).to_owned());
        }
    }
    found
}

#[test]
fn every_crate_is_on_the_map() {
    let map = code_map();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(map.contains(&name), "{name} is not in ARCHITECTURE.md");
    }
    for name in &map {
        assert!(folder(name).is_dir(), "ARCHITECTURE.md names {name}, which is not there");
    }
}

#[test]
fn crates_depend_only_on_those_above_them() {
    let map = code_map();
    let mut found = 0;
    for (index, name) in map.iter().enumerate() {
        for dependency in dependencies(name) {
            assert!(
                map[..index].contains(&dependency),
                "{name} depends on {dependency}, which is not above it in ARCHITECTURE.md"
            );
            found += 1;
        }
    }
    assert!(found > 20, "too few dependencies were found: {found}");
}
