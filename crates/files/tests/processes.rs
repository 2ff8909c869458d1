//! Several processes and one file. The processes are this test program itself, started with
//! variables that say what to do.

use std::collections::HashSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use mcpgraph_config::edit::add_tool;
use mcpgraph_files::{read, save};
use mcpgraph_value::{Map, Value};

const FILE: &str = "MCPGRAPH_TEST_FILE";
const NAME: &str = "MCPGRAPH_TEST_NAME";

/// How often a process is killed while it saves.
const KILLS: usize = 200;

/// How many edits each of two processes makes.
const EDITS: usize = 500;

/// A text of several pages, so that a part of it could be written without the rest.
fn version(letter: char) -> String {
    format!("{}\n", letter.to_string().repeat(20_000))
}

fn start(test: &str, file: &Path, name: &str) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args([test, "--exact", "--ignored", "--nocapture", "--test-threads=1"])
        .env(FILE, file)
        .env(NAME, name)
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

fn file() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

fn leftovers(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("the folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().contains(".new-")).count()
}

#[test]
#[ignore = "run by the test that kills it"]
fn saves_until_it_is_killed() {
    let Some(path) = file() else { return };
    let (a, b) = (version('a'), version('b'));
    let seen = read(&path).expect("the file");
    println!("\nready");
    loop {
        let other = |source: &std::sync::Arc<mcpgraph_diagnostics::Source>| {
            Ok::<_, String>(if source.text() == a { b.clone() } else { a.clone() })
        };
        save(&path, &seen, other).expect("saved");
    }
}

#[test]
fn a_file_is_the_old_or_the_new_one_whenever_its_writer_is_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.yaml");
    let (a, b) = (version('a'), version('b'));
    fs::write(&path, &a).expect("a file");
    let mut in_the_middle = 0;
    for _ in 0..KILLS {
        let mut child = start("saves_until_it_is_killed", &path, "");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        assert!(output.lines().map_while(Result::ok).any(|line| line == "ready"));
        thread::sleep(Duration::from_micros(fastrand::u64(0..10_000)));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let text = fs::read_to_string(&path).expect("the file");
        assert!(text == a || text == b, "the file is neither: {} bytes", text.len());
        let left = leftovers(folder.path());
        assert!(left <= 1, "{left} files are left");
        in_the_middle += left;
    }
    assert!(in_the_middle > 0, "no kill came in the middle of saving");
    let seen = read(&path).expect("the file");
    save(&path, &seen, |_| Ok::<_, String>("last".to_owned())).expect("saved");
    assert_eq!(leftovers(folder.path()), 0);
}

#[test]
#[ignore = "run by the test that starts two of them"]
fn adds_tools() {
    let Some(path) = file() else { return };
    let name = std::env::var(NAME).expect("a name");
    // What it has seen is old from the second edit on.
    let seen = read(&path).expect("the file");
    for index in 0..EDITS {
        let tool = Value::from(Map::from_iter([("name", format!("{name}{index}"))]));
        save(&path, &seen, |source| add_tool(source, &tool)).expect("saved");
    }
}

#[test]
fn two_processes_that_save_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("graph.yaml");
    fs::write(&path, "# Shared.\ntools: [] # here\n").expect("a file");
    let names = ["a", "b"];
    let children = names.map(|name| start("adds_tools", &path, name));
    for child in children {
        let output = child.wait_with_output().expect("its end");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let source = read(&path).expect("the file");
    let (file, _) = mcpgraph_config::read_graph(&source, &|_| None);
    let tools = file.expect("a graph file").tools;
    assert_eq!(tools.len(), names.len() * EDITS);
    let found: HashSet<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    for name in names {
        assert!((0..EDITS).all(|index| found.contains(format!("{name}{index}").as_str())));
        let own = tools.iter().filter_map(|tool| tool.name.as_str().strip_prefix(name));
        assert!(own.map(|index| index.parse::<usize>().expect("a number")).is_sorted());
    }
    assert!(source.text().starts_with("# Shared.\ntools: # here\n  - name: "));
    assert_eq!(leftovers(folder.path()), 0);
}
