//! `mcpgraph studio`, as far as no browser is needed.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;

use crate::product::command;

#[test]
fn it_is_for_this_machine_alone() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    std::fs::write(&file, "server: { name: a, version: '1' }\ntools: []\n").unwrap();
    let serve: &[&str] = &["serve", "--studio", "--insecure", "--http", "0.0.0.0:0", "-g"];
    for words in [&["studio", "--http", "0.0.0.0:0", "-g"], serve] {
        let output = command().args(words).arg(&file).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("use a loopback address"), "{said}");
    }
}

#[test]
fn a_file_with_errors_can_be_mended_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    std::fs::write(&file, "tools: [").unwrap();
    let mut child = command()
        .args(["studio", "--http", "127.0.0.1:0", "-g"])
        .arg(&file)
        .arg("--data")
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut addresses = lines.map_while(Result::ok).filter_map(|line| {
        let address = line.strip_prefix("the studio is at http://")?.strip_suffix('/')?;
        Some(address.to_owned())
    });
    let address = addresses.next().expect("the address");
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")
            .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(get("/").contains("<title>mcpgraph studio</title>"));
    let document = get("/api/graphs");
    assert!(document.contains(r#""readable":false"#) && document.contains("MG0101"), "{document}");
    child.kill().unwrap();
    child.wait().unwrap();
    let missing = command().args(["studio", "-g", "absent.yaml"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(3));
}
