//! Sessions in a shell: each file in `sessions/` is typed line by line into a folder that holds
//! the files of `files/`, and everything that comes out is compared with a snapshot.

use std::{fs, path::Path, sync::LazyLock};

use regex::Regex;

use crate::product::{beside, typed};

/// A test for each session, and one that none is forgotten.
macro_rules! sessions {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                insta::with_settings!({
                    omit_expression => true,
                    prepend_module_to_snapshot => false,
                    snapshot_path => "snapshots",
                }, {
                    insta::assert_snapshot!(stringify!($name), transcript(stringify!($name)));
                });
            }
        )*

        #[test]
        fn every_session_is_run() {
            for file in fs::read_dir(beside("sessions")).unwrap() {
                let path = file.unwrap().path();
                let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
                assert!([$(stringify!($name)),*].contains(&&*name), "{name} is not run");
            }
        }
    };
}

sessions! {
    check
    completions
    draw
    eval
    help
    init
    mistakes
    run
    run_failures
    test
}

/// What a session looks like on the screen; stdout, stderr and the exit code are told apart.
fn transcript(name: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    for file in fs::read_dir(beside("files")).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    let session = fs::read_to_string(beside("sessions").join(name).with_extension("txt")).unwrap();
    let lines = session.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| exchange(line, folder.path())).collect::<Vec<_>>().join("\n")
}

/// A line that was typed, and what came of it.
fn exchange(line: &str, folder: &Path) -> String {
    let output = typed(line, folder);
    let mut lines = vec![format!("$ {line}")];
    for (mark, bytes) in [("", output.stdout), ("! ", output.stderr)] {
        let text = String::from_utf8(bytes).unwrap();
        lines.extend(text.lines().map(|line| format!("{mark}{}", steady(line))));
    }
    if !output.status.success() {
        lines.push(format!("[exit {}]", output.status.code().unwrap()));
    }
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// A line without what differs from run to run: run ids, times and durations.
fn steady(line: &str) -> String {
    static RUN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap());
    static TIME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r" +\d+\.\d{3} ms").unwrap());
    static DURATION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""durationMs": [\d.e-]+"#).unwrap());
    static CLOCK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^\d{4}-\d\d-\d\dT[\d:.]+Z").unwrap());
    let line = CLOCK.replace(line, "CLOCK");
    let line = RUN.replace_all(&line, "RUN");
    let line = TIME.replace_all(&line, " TIME");
    DURATION.replace_all(&line, r#""durationMs": TIME"#).into_owned()
}
