//! Command lines that cannot be meant, and what is said about them.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Output, Stdio},
};

use crate::product::{BINARY, beside, command, repository};

/// What came of a command: its exit code and what it wrote to stderr.
fn told(output: &Output) -> (i32, String) {
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Types a command in a folder, with variables.
fn typed_with(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> Output {
    command()
        .args(arguments)
        .envs(variables.iter().copied())
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn typed(arguments: &[&str], folder: &Path) -> Output {
    typed_with(arguments, folder, &[])
}

/// A graph file that others of these tests use, too.
fn graph() -> String {
    beside("graphs/runs.yaml").to_str().unwrap().to_owned()
}

#[test]
fn a_level_of_logs_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let eval = ["eval", "jsonata", "1 + 1"];
    let of_option = typed(&[&eval[..], &["--log-level", "verbose"]].concat(), folder.path());
    let of_variable = typed_with(&eval, folder.path(), &[("MCPGRAPH_LOG", "verbose")]);
    for output in [of_option, of_variable] {
        let (exit, said) = told(&output);
        assert_eq!(exit, 2, "{said}");
        assert!(said.contains("`verbose`") && said.contains("error, warn, info"), "{said}");
    }
    for filter in ["debug", "mcpgraph_upstream=debug", "warn,mcpgraph_upstream=debug"] {
        let output = typed(&[&eval[..], &["--log-level", filter]].concat(), folder.path());
        assert_eq!(told(&output), (0, String::new()), "{filter}");
    }
}

/// A person who starts a server by hand sees that it waits. `script` makes the terminal.
#[test]
fn a_server_over_stdio_tells_a_person_that_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let line = format!("{BINARY} serve -g {} --no-history", graph());
    for (line, has_http) in [(format!("{BINARY} -g {} --no-history", graph()), false), (line, true)]
    {
        let mut terminal = Command::new("script")
            .args(["--quiet", "--return", "--command", &line, "typescript"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(terminal.stdout.as_mut().unwrap()).read_line(&mut said).unwrap();
        // End of input, as Ctrl-D gives it.
        terminal.stdin.take().unwrap().write_all(&[4]).unwrap();
        assert!(terminal.wait().unwrap().success());
        assert!(said.contains("waiting for a client (Ctrl-C ends it"), "{said}");
        assert_eq!(said.contains("--http ADDRESS"), has_http, "{said}");
    }
}

/// A default would be taken in the place of what was meant, and nothing said about it.
#[test]
fn an_argument_that_a_tool_does_not_know_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let call = |arguments: &[&str]| {
        let run = ["run", "double", "-g", &graph(), "--no-history"];
        told(&typed(&[&run, arguments].concat(), folder.path()))
    };
    assert_eq!(call(&["n=2"]), (0, String::new()));
    for arguments in [&["n=2", "nn=1"][..], &["--args", r#"{"n": 2, "nn": 1}"#]] {
        let (exit, said) = call(arguments);
        assert_eq!(exit, 0, "{said}");
        let told = "warning: `nn` is not in the inputSchema of `double`; did you mean `n`?";
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn tools_of_servers_cannot_be_run_and_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let example = repository().join("examples/workflows.yaml");
    let run = ["run", "get_order", "--no-history"];
    let (exit, said) =
        told(&typed(&[&run[..], &["-g", example.to_str().unwrap()]].concat(), folder.path()));
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("the file has no tools of its own"), "{said}");

    fs::write(folder.path().join("mcp.json"), r#"{"mcpServers": {}}"#).unwrap();
    let (exit, said) = told(&typed(&[&run[..], &["-m", "mcp.json"]].concat(), folder.path()));
    assert_eq!(exit, 2, "{said}");
    assert!(said.contains("mcp.json has servers but no tools of its own"), "{said}");
    assert!(said.contains("`mcpgraph serve -m`"), "{said}");
}

#[test]
fn who_names_no_graph_file_is_told_which_are_looked_for() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, also) in [
        (&["run", "t"][..], "give one with -g, or write"),
        (&["graph"], "give one with -g, or write"),
        (&["serve"], "or servers alone with -m"),
    ] {
        let (exit, said) = told(&typed(arguments, folder.path()));
        assert_eq!(exit, 2, "{said}");
        assert!(said.contains("no graph.yaml, mcpgraph.yaml or config.yaml here"), "{said}");
        assert!(said.contains(also), "{arguments:?}: {said}");
    }
}

/// Who reads that spans are missing has to know where they should have gone, and why they did not.
#[test]
fn a_collector_that_is_away_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let endpoint = format!("http://user:hidden@{nobody}");
    for (timeout, lost) in [("300", "spans were lost"), ("60000", "not exported within 5000 ms")] {
        let variables = [
            ("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.as_str()),
            ("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf"),
            ("OTEL_EXPORTER_OTLP_TIMEOUT", timeout),
        ];
        let run = ["run", "double", "n=1", "-g", &graph(), "--no-history"];
        let (exit, said) = told(&typed_with(&run, folder.path(), &variables));
        assert_eq!(exit, 0, "{said}");
        let why = format!("the collector at http://{nobody}: Connection refused");
        assert!(said.contains(lost) && said.contains(&why), "{said}");
        assert!(!said.contains("hidden"), "{said}");
    }
}

/// Runs that nobody finds later are no success. What is only away at the moment is warned of.
#[test]
fn a_place_for_runs_that_cannot_be_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let (graph, run) = (graph(), ["run", "double", "n=1", "-g"]);
    let run = [&run[..], &[&graph]].concat();
    for (place, why) in [
        (&["--store", "foo"][..], "the URL of a PostgreSQL database"),
        (&["--data", "file"], "`file` is a file"),
        (&["--data", "file/below"], "`file/below` is a file or below one"),
    ] {
        // Options of all commands may stand before the command, too.
        for arguments in [[&run[..], place].concat(), [place, &run[..]].concat()] {
            let output = typed(&arguments, folder.path());
            let (exit, said) = told(&output);
            assert_eq!((exit, &*output.stdout), (2, &b""[..]), "{arguments:?}: {said}");
            assert!(said.contains(why), "{said}");
        }
    }
    for variable in [("MCPGRAPH_STORE", "foo"), ("MCPGRAPH_DATA", "file")] {
        let (exit, said) = told(&typed_with(&run, folder.path(), &[variable]));
        assert_eq!(exit, 0, "{said}");
        assert!(said.contains("runs are not recorded"), "{said}");
    }
    let away = [&run[..], &["--store", "postgres://nobody@127.0.0.1:1/none"]].concat();
    let (exit, said) = told(&typed(&away, folder.path()));
    assert_eq!(exit, 0, "{said}");
    assert!(said.contains("runs are not recorded"), "{said}");
}

/// The starter file works from wherever a client starts its servers.
#[test]
fn the_starter_file_works_from_anywhere() {
    let (here, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert_eq!(told(&typed(&["init"], here.path())).0, 0);
    fs::create_dir(here.path().join("few")).unwrap();
    fs::write(here.path().join("few/one"), "").unwrap();
    let graph = here.path().join("graph.yaml");
    let run = ["run", "count_files", "directory=few", "--no-history", "-g"];
    let run = [&run[..], &[graph.to_str().unwrap()]].concat();
    let output = typed(&run, elsewhere.path());
    assert_eq!(told(&output), (0, String::new()));
    let counted: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(counted, serde_json::json!({ "count": 1 }));
}

/// Options that do nothing for a command are not in its help, and are taken all the same; what a
/// variable says does not look as if it had to be typed.
#[test]
fn help_and_usage_speak_of_what_a_command_needs() {
    let folder = tempfile::tempdir().unwrap();
    for line in
        [&["init"][..], &["schema"], &["eval"], &["completions"], &["demo-server"], &["run"]]
    {
        let output = typed(&[line, &["--help"]].concat(), folder.path());
        let help = String::from_utf8(output.stdout).unwrap();
        assert_eq!(help.contains("--data"), line == ["run"], "{line:?}: {help}");
        assert!(help.contains("--log-level"), "{help}");
    }
    let (exit, said) = told(&typed(&["schema", "--data", "x"], folder.path()));
    assert_eq!((exit, &*said), (0, ""));
    let variables = [("MCPGRAPH_DATA", "x"), ("MCPGRAPH_NO_HISTORY", "1")];
    let (exit, said) = told(&typed_with(&["sop"], folder.path(), &variables));
    assert_eq!(exit, 2);
    assert!(said.contains("Usage: mcpgraph sop <FILE>..."), "{said}");
    let (exit, said) =
        told(&typed_with(&["sop"], folder.path(), &[("MCPGRAPH_NO_HISTORY", "perhaps")]));
    assert!(exit == 2 && said.contains("perhaps"), "{said}");
}
