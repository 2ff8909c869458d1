//! `cargo bench -p mcpgraph-jsonata`: this crate, the reference under Node and `jsonata-core` in
//! one run, as ratios.
//!
//! The three take turns in every round, so that a busy machine disturbs all alike; figures are
//! medians over rounds of the time that the thread which evaluates was on a processor. Programs are compiled once, and inputs are read once, into the form that
//! each works on: for this crate that is the form in which the product has its data anyway. What it
//! costs `jsonata-core` to be given such data is measured too.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a program that reports by printing and gives up by panicking"
)]

#[path = "compare/cases.rs"]
mod cases;
#[path = "../tests/common/core.rs"]
mod core_input;
#[path = "../tests/common/reference.rs"]
mod reference;

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cases::{CASES, Case};
use core_input::converted;
use jsonata_core::evaluator::Evaluator;
use jsonata_core::parser;
use mcpgraph_jsonata::{Environment, parse};
use mcpgraph_value::Value;

/// How often each takes its turn.
const ROUNDS: usize = 9;

/// How long a turn is, about.
const TURN: Duration = Duration::from_millis(100);

/// How much slower than `jsonata-core` an expression may be.
const MARGIN: f64 = 1.2;

/// What the reference must be beaten by, in the geometric mean.
const WANTED: f64 = 5.0;

fn main() {
    // `cargo test --benches` only wants to know that it runs.
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    let rounds = if is_measured { ROUNDS } else { 1 };
    let mut node = Node::start().map_err(|reason| println!("no reference: {reason}")).ok();
    println!(
        "{:<20} {:>11} {:>11} {:>11} {:>11} {:>8} {:>8}",
        "", "ours", "reference", "core", "with input", "x ref.", "x core"
    );
    let mut ratios: [Vec<f64>; 3] = Default::default();
    let mut misses = Vec::new();
    for case in &CASES {
        let figures = measure(case, rounds, is_measured, node.as_mut());
        let [ours, theirs, core, with_input] = figures;
        println!(
            "{:<20} {:>11} {:>11} {:>11} {:>11} {:>8} {:>8}",
            case.name,
            shown(ours),
            shown(theirs),
            shown(core),
            shown(with_input),
            ratio(theirs / ours),
            ratio(core / ours),
        );
        for (ratios, figure) in ratios.iter_mut().zip([theirs, core, with_input]) {
            ratios.push(figure / ours);
        }
        if theirs <= ours {
            misses.push(format!("{} is behind the reference", case.name));
        }
        if ours > core * MARGIN {
            misses.push(format!("{} is behind jsonata-core", case.name));
        }
    }
    let [theirs, core, with_input] = ratios.map(|ratios| mean(&ratios));
    println!(
        "geometric mean: {} the reference, {} jsonata-core, {} with its input",
        ratio(theirs),
        ratio(core),
        ratio(with_input)
    );
    if theirs < WANTED {
        misses.push(format!("the geometric mean is below {WANTED}"));
    }
    for miss in misses {
        println!("NOT REACHED: {miss}");
    }
}

/// Nanoseconds for one evaluation: ours, the reference's, `jsonata-core`'s without and with
/// conversion of the input.
fn measure(case: &Case, rounds: usize, is_measured: bool, mut node: Option<&mut Node>) -> [f64; 4] {
    let text = case.input.text();
    let value = Value::from_json(&text).unwrap();
    let program = parse(case.expression).unwrap();
    let environment = Environment::default();
    let core_input = converted(&value);
    let core_program = parser::parse(case.expression).unwrap();
    let expected = program.evaluate(Some(&value), &environment).unwrap().unwrap();
    let core = Evaluator::new().evaluate(&core_program, &core_input).unwrap();
    let core = Value::from_json(&core.to_json_string().unwrap()).unwrap();
    assert_eq!(expected, core, "{}: both give the same", case.name);

    let mut ours = || drop(black_box(program.evaluate(Some(black_box(&value)), &environment)));
    let mut core =
        || drop(black_box(Evaluator::new().evaluate(&core_program, black_box(&core_input))));
    let mut with_input = || {
        let input = converted(black_box(&value));
        drop(black_box(Evaluator::new().evaluate(&core_program, &input)));
    };
    let mut times: [Vec<f64>; 4] = Default::default();
    let counts = [
        count(&mut ours, is_measured),
        count(&mut core, is_measured),
        count(&mut with_input, is_measured),
    ];
    // The reference is about ten times slower.
    let node_count = (counts[0] / 10).max(1);
    if let Some(node) = &mut node {
        node.time(case.expression, &text, node_count.max(3));
    }
    for _ in 0..rounds {
        times[0].push(time(&mut ours, counts[0]));
        times[1].push(match &mut node {
            Some(node) => node.time(case.expression, &text, node_count),
            None => f64::NAN,
        });
        times[2].push(time(&mut core, counts[1]));
        times[3].push(time(&mut with_input, counts[2]));
    }
    times.map(median)
}

/// How often something is done in a turn.
fn count(work: &mut dyn FnMut(), is_measured: bool) -> usize {
    if !is_measured {
        return 1;
    }
    // The first time is slow.
    work();
    let mut count = 1;
    loop {
        let took = time(work, count) * count as f64;
        if took > TURN.as_nanos() as f64 / 4.0 {
            let one = took / count as f64;
            return ((TURN.as_nanos() as f64 / one) as usize).max(1);
        }
        count *= 2;
    }
}

fn time(work: &mut dyn FnMut(), count: usize) -> f64 {
    let began = clock();
    for _ in 0..count {
        work();
    }
    (clock() - began) / count as f64
}

/// Nanoseconds that this thread has been on a processor, so that other work on the machine does not
/// count; nanoseconds of the day where that is not told.
fn clock() -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_processor = told.as_deref().and_then(|told| told.split(' ').next()?.parse().ok());
    on_processor.unwrap_or_else(|| {
        SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as f64
    })
}

/// The reference, in a process that keeps its compiled programs.
struct Node {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Node {
    fn start() -> Result<Self, String> {
        let reference = reference::reference()?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/compare/reference.js");
        let mut child = Command::new("node")
            .arg(script)
            .arg(reference)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| format!("node: {error}"))?;
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Ok(Self { child, input, output: BufReader::new(output) })
    }

    fn time(&mut self, expression: &str, text: &str, count: usize) -> f64 {
        let line = Value::array(vec![expression.into(), text.into(), count.into()]).to_json();
        writeln!(self.input, "{line}").unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer.trim().parse().unwrap()
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn mean(ratios: &[f64]) -> f64 {
    (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp()
}

fn shown(nanos: f64) -> String {
    match nanos {
        nanos if nanos.is_nan() => String::from("-"),
        nanos if nanos < 10_000.0 => format!("{:.2} µs", nanos / 1e3),
        nanos if nanos < 1e6 => format!("{:.0} µs", nanos / 1e3),
        nanos => format!("{:.2} ms", nanos / 1e6),
    }
}

fn ratio(ratio: f64) -> String {
    if ratio.is_nan() { String::from("-") } else { format!("{ratio:.1}x") }
}
