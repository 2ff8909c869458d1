use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::PAGES;

fn dist() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dist")
}

#[test]
fn every_built_file_is_in_the_table() {
    let mut built: Vec<String> = fs::read_dir(dist())
        .unwrap()
        .map(|entry| format!("/{}", entry.unwrap().file_name().to_string_lossy()))
        .collect();
    let mut embedded: Vec<String> = PAGES.iter().map(|page| page.path.to_owned()).collect();
    built.sort();
    embedded.sort();
    assert_eq!(embedded, built);
    for page in &PAGES {
        assert_eq!(page.bytes, fs::read(dist().join(&page.path[1..])).unwrap(), "{}", page.path);
    }
}

/// The files that decide what is built: in the order of their names, `/` before everything else.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { sources(&path, found) } else { found.push(path) }
    }
}

#[test]
fn what_is_embedded_was_built_from_the_sources() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studio");
    let mut files: Vec<PathBuf> =
        ["index.html", "package.json", "package-lock.json", "tsconfig.json", "vite.config.ts"]
            .map(|name| root.join(name))
            .to_vec();
    sources(&root.join("src"), &mut files);
    sources(&root.join("public"), &mut files);
    let mut named: Vec<(String, PathBuf)> = files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace('\\', "/");
            (name, path)
        })
        .filter(|(name, _)| !name.contains(".test."))
        .collect();
    named.sort();
    let mut digest = Sha256::new();
    for (name, path) in named {
        let bytes = fs::read(path).unwrap();
        digest.update(format!("{name}\0{}\0", bytes.len()));
        digest.update(bytes);
    }
    let mut hex = String::new();
    for byte in digest.finalize() {
        write!(hex, "{byte:02x}").unwrap();
    }
    let manifest = fs::read_to_string(dist().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    assert_eq!(manifest["sources"], hex, "run `cargo xtask studio`");
}

/// The limits of issue and design: what a first visit loads, and everything, compressed.
#[test]
fn the_pages_stay_small() {
    let manifest = fs::read_to_string(dist().join("manifest.json")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let gzipped = |name: &str| manifest["gzipped"][name].as_u64().unwrap();
    let first: u64 = ["index.html", "app.js", "app.css", "icon.svg"].map(gzipped).iter().sum();
    assert!(first <= 200_000, "a first visit loads {first} bytes");
    let all = first + gzipped("code.js");
    assert!(all <= 450_000, "all files have {all} bytes");
    for page in &PAGES {
        let size = page.bytes.len() as u64;
        assert!(page.path == "/manifest.json" || gzipped(&page.path[1..]) < size.max(200));
    }
}
