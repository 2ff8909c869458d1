//! Expressions written to do harm. Each runs in a process of its own with little memory; none may
//! end that process, and all must end within their limits.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mcpgraph_jsonata::{Environment, Limits, parse};
use mcpgraph_value::Value;

/// Set in the process that runs one expression, which it then reads from its standard input.
const CHILD: &str = "MCPGRAPH_HOSTILE_CHILD";

/// The address space of that process.
const MEMORY: &str = "524288";

/// What the evaluation may take.
const TIME: Duration = Duration::from_millis(500);

/// How long the process may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// Deeply nested, endless, exploding.
fn corpus() -> Vec<String> {
    let mut corpus: Vec<String> = include_str!("hostile/expressions.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with("//"))
        .map(str::to_owned)
        .collect();
    for (open, inside, close) in [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("{\"a\":", "1", "}"),
        ("-", "1", ""),
        ("$f(", "1", ")"),
        ("a[", "0", "]"),
        ("function(){", "1", "}"),
        ("a.(", "b", ")"),
        ("a ? ", "1", ""),
        ("a^(", "b", ")"),
        ("|a|", "{}", "|"),
        ("a{b:", "c", "}"),
        ("$string(", "$", ")"),
        ("%.", "a", ""),
        ("$eval(\"", "1", "\")"),
    ] {
        for depth in [500, 1900, 100_000] {
            corpus.push(format!("{}{inside}{}", open.repeat(depth), close.repeat(depth)));
        }
    }
    for (first, more) in [
        ("a", "+a"),
        ("a", "&a"),
        ("a", ".a"),
        ("a", "[0]"),
        ("1", ",1"),
        ("a", " and a"),
        ("$x", ":=$x"),
        ("a", "[]"),
        ("a", "~>$f"),
        ("a", " ?? a"),
        ("a", "#$i"),
        ("a", "@$i"),
        ("a", ".%"),
        ("(", ""),
        ("a", "("),
    ] {
        corpus.push(format!("{first}{}", more.repeat(200_000)));
    }
    corpus.push(format!("/{}/", "(".repeat(10_000)));
    corpus.push(format!("$match('a', /{}a{}/)", "(".repeat(5_000), ")".repeat(5_000)));
    corpus.push(format!("'{}' ~> $length()", "x".repeat(3_000_000)));
    corpus.push(format!("`{}`", "x".repeat(3_000_000)));
    corpus.push("\u{0}\u{1}\u{FEFF}\u{202E}".to_owned());
    corpus
}

#[test]
fn none_harms_its_process() {
    if std::env::var_os(CHILD).is_some() {
        run_one();
        return;
    }
    let corpus = corpus();
    let mut failures = Vec::new();
    let queue = std::sync::Mutex::new(corpus.iter());
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(expression) = queue.lock().unwrap().next() else { break };
                    let outcome = in_own_process(expression);
                    results.lock().unwrap().push((expression, outcome));
                }
            });
        }
    });
    for (expression, outcome) in results.into_inner().unwrap() {
        if let Err(reason) = outcome {
            let shown: String = expression.chars().take(120).collect();
            failures.push(format!("{reason}: {shown}"));
        }
    }
    println!("{} hostile expressions, {} did harm", corpus.len(), failures.len());
    assert!(corpus.len() >= 100);
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn in_own_process(expression: &str) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // `ulimit` is the portable way to limit memory without code that is not safe.
    let mut child = Command::new("sh")
        .args(["-c", "ulimit -v \"$1\" 2>/dev/null; exec \"$0\" --exact none_harms_its_process"])
        .arg(program)
        .arg(MEMORY)
        .env(CHILD, "1")
        .env("RUST_BACKTRACE", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|error| error.to_string())?;
    let started = Instant::now();
    if let Some(mut input) = child.stdin.take() {
        input.write_all(expression.as_bytes()).map_err(|error| error.to_string())?;
    }
    loop {
        match child.try_wait().map_err(|error| error.to_string())? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(status.to_string()),
            None if started.elapsed() > PATIENCE => {
                child.kill().map_err(|error| error.to_string())?;
                child.wait().map_err(|error| error.to_string())?;
                return Err(format!("no end after {:?}", started.elapsed()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

fn run_one() {
    let expression = std::io::read_to_string(std::io::stdin()).expect("an expression");
    let Ok(program) = parse(&expression) else { return };
    program.reads();
    let input =
        Value::from_json(r#"{"a":[{"a":1,"b":"x"},{"a":2}],"b":"text","n":3}"#).expect("JSON");
    let environment = Environment {
        limits: Limits { time: TIME, ..Limits::default() },
        ..Environment::default()
    };
    // Either is fine; what counts is that there is an answer, and when.
    let before = worked();
    drop(program.evaluate(Some(&input), &environment));
    if let (Some(before), Some(after)) = (before, worked()) {
        assert!(after.saturating_sub(before) < TIME * 10, "the evaluation ends within its budget");
    }
}

/// How long this thread has had a processor, where the system tells: the machine may be busy with
/// something else for as long as it likes.
fn worked() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
