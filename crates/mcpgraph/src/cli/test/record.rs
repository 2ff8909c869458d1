//! Tests made of recorded runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_config::Tree;
use mcpgraph_config::model::TestFile;
use mcpgraph_diagnostics::Source;
use mcpgraph_engine::{ErrorKind, RunError};
use mcpgraph_journal::compare;
use mcpgraph_upstream::{NodeOutput, output_of};
use mcpgraph_value::{Map, Value};

use super::super::args::HistoryArgs;
use super::super::args::test::TestArgs;
use super::super::runs::nature::Nature;
use super::execute::{self, CaseOutcome, SuiteOutcome};
use super::mocks::{Answer, Reply};
use super::recording::Recording;
use super::report::report;
use super::suite::Loader;
use super::trail::Part;
use super::{Exit, TestFormat, Threads, block_on, output, usage, write, yaml};
use crate::load;

/// The name under which a test that goes to stdout is spoken of.
const NO_FILE: &str = "recorded.test.yaml";

/// Writes a test from a recorded run. It is run first, and written only if it passes.
pub(super) fn record(id: &str, args: &TestArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let journal = history.open()?;
    let id = journal.resolve(id).map_err(|error| usage(error.to_string()))?;
    if let Some(run) = journal.run(id)?
        && let Some(why) = Nature::of(&journal, &run)?.objection(&run)
    {
        output::error(&format!("run {id} cannot become a test: {why}"));
        return Ok(Exit::Failure);
    }
    let path = args.output.as_deref().unwrap_or(Path::new(NO_FILE));
    let existing = args.output.as_deref().filter(|path| path.exists()).map(load::read);
    let draft = match existing {
        Some(Ok(source)) if !source.text().trim().is_empty() => Draft::Existing(source),
        Some(Err(diagnostics)) => {
            output::diagnostics(&diagnostics);
            return Ok(Exit::of(&diagnostics));
        }
        // A file with nothing in it is as good as none.
        _ => Draft::New { graph: relative(path, &args.files.files()?.graph) },
    };
    let recording = match Recording::of_run(&journal, &id.to_string()) {
        Ok(recording) => recording,
        Err(why) => {
            output::error(&format!("run {id} cannot become a test: {why}"));
            return Ok(Exit::Failure);
        }
    };
    let name = args.name.clone().unwrap_or_else(|| format!("run {id}"));
    let case = case(&name, &recording);
    let text = match draft.with(&case, path) {
        Ok(text) => text,
        Err(why) => {
            output::error(&why);
            return Ok(Exit::Failure);
        }
    };
    let source = Source::new(path.display().to_string(), text.as_str());
    let loader = Loader::new(&args.files, history);
    let (suite, diagnostics) = loader.read(&source, path);
    output::diagnostics(&diagnostics);
    let suite = suite.filter(|_| !diagnostics.has_errors());
    let Some(mut suite) = suite else { return Ok(Exit::Failure) };
    // The last one is the one that was added.
    suite.cases.drain(..suite.cases.len().saturating_sub(1));
    suite.live = None;
    let outcomes = block_on(Threads::One, execute::execute(vec![suite], 1))?;
    let passes = outcomes.iter().flat_map(|suite| &suite.cases).all(CaseOutcome::passed);
    if !passes && !args.force {
        refuse(&outcomes);
        return Ok(Exit::Failure);
    }
    if compare::is_masked(&case) {
        output::say(
            "the record has masked values: the test says [redacted] in their place, in what it \
             answers and in what it expects\n",
        );
    }
    match &args.output {
        None => output::data(&text)?,
        Some(path) => {
            write(path, &text)?;
            output::say(&format!("wrote the test `{name}` to {}\n", path.display()));
        }
    }
    Ok(Exit::Success)
}

fn refuse(outcomes: &[SuiteOutcome]) {
    output::say(&report(outcomes, TestFormat::Human));
    output::error(
        "the test does not pass and was not written: the graph has changed since the run, gives \
         another result each time, or calls something several times with equal arguments inside a \
         `foreach` or `parallel`, whose answers a file cannot tell apart (a test with `run:` can); \
         --force writes it anyway",
    );
}

/// The file the test goes to.
enum Draft {
    New { graph: String },
    Existing(Arc<Source>),
}

impl Draft {
    /// The whole text with the test added; why it cannot be, if it cannot.
    fn with(&self, case: &Value, path: &Path) -> Result<String, String> {
        let name = path.display();
        let (text, before) = match self {
            Self::New { graph } => {
                let graph = yaml::text(graph);
                (format!("graph: {graph}\ntests:\n{}", yaml::list_item(case, 2)), Vec::new())
            }
            Self::Existing(source) => {
                let (file, diagnostics) = mcpgraph_config::read_tests(source);
                let file = file.filter(|_| !diagnostics.has_errors()).ok_or_else(|| {
                    format!("`{name}` has errors, which `mcpgraph test {name}` shows")
                })?;
                let text = insert(&file, case).ok_or_else(|| {
                    format!(
                        "nothing can be added to `{name}`: its `tests` are not a list with dashes"
                    )
                })?;
                (text, tests(&file))
            }
        };
        let (file, _) = mcpgraph_config::read_tests(&Source::new(name.to_string(), text.as_str()));
        let mut wanted = before;
        wanted.push(case.clone());
        if file.is_none_or(|file| tests(&file) != wanted) {
            return Err(format!("the run holds something that `{name}` cannot hold"));
        }
        Ok(text)
    }
}

/// The tests as they stand in a file.
fn tests(file: &TestFile) -> Vec<Value> {
    let list = file.tree.get("tests").map(|member| &member.value);
    list.map(|list| list.items().iter().map(|item| item.to_value()).collect()).unwrap_or_default()
}

/// The text of a file with a test behind its last one; everything else stays as it is.
fn insert(file: &TestFile, case: &Value) -> Option<String> {
    let text = file.source.text();
    let list: &Tree = &file.tree.get("tests")?.value;
    let Some(first) = list.items().first() else {
        let brackets = text.get(list.span.start..list.span.end)?;
        let is_empty = brackets.strip_prefix('[')?.strip_suffix(']')?.trim().is_empty();
        let (before, after) = (&text[..list.span.start], &text[list.span.end..]);
        // The list takes the lines behind that of its key; what followed on it stays there.
        let (rest, after) = after.split_once('\n').unwrap_or((after, ""));
        let key = before.trim_end_matches(' ');
        return is_empty.then(|| format!("{key}{rest}\n{}{after}", yaml::list_item(case, 2)));
    };
    let first = first.span.start;
    let line_start = text[..first].rfind(['\n', '\r']).map_or(0, |at| at + 1);
    let lead = &text[line_start..first];
    // The dash stands alone before the first test.
    let indent = lead.find('-').filter(|_| lead.trim() == "-")?;
    let end = text[..list.span.end].trim_end().len();
    let end = text[end..].find('\n').map_or(text.len(), |at| end + at + 1);
    let (before, after) = text.split_at(end);
    let line_break = if before.ends_with('\n') { "" } else { "\n" };
    Some(format!("{before}{line_break}{}{after}", yaml::list_item(case, indent)))
}

/// The way from the folder of one file to another.
fn relative(from: &Path, to: &Path) -> String {
    let folder = from.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let (Ok(folder), Ok(to)) = (folder, to.canonicalize()) else { return to.display().to_string() };
    let shared = folder.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| "..");
    let down: PathBuf = to.components().skip(shared).collect();
    let way: PathBuf = up.collect::<PathBuf>().join(down);
    if way.starts_with("..") { way.display().to_string() } else { format!("./{}", way.display()) }
}

/// The test as it stands in a file.
fn case(name: &str, recording: &Recording) -> Value {
    let mut case = Map::new();
    case.insert("name", name);
    case.insert("tool", recording.tool.clone());
    case.insert("input", recording.input.clone());
    if !recording.answers.is_empty() {
        let mocks = recording.answers.iter().map(|(node, answers)| {
            let mut answers: Vec<Value> = answers.iter().map(answer).collect();
            let single = if answers.len() == 1 { answers.pop() } else { None };
            (Arc::clone(node), single.unwrap_or_else(|| answers.into()))
        });
        case.insert("mocks", mocks.collect::<Map>());
    }
    let mut expect = Map::new();
    match &recording.outcome {
        Ok(result) => expect.insert("result", result.clone()),
        Err(error) => expect.insert("error", expected_error(error)),
    };
    let path = recording.path.iter().map(|part| match part {
        Part::Node(node) => Value::from(Arc::clone(node)),
        Part::Unsteady => Value::from("..."),
    });
    expect.insert("path", path.collect::<Vec<Value>>());
    case.insert("expect", expect);
    case.into()
}

fn answer(answer: &Answer) -> Value {
    let mut map = Map::new();
    if let Some(args) = &answer.args {
        map.insert("args", args.clone());
    }
    match &answer.reply {
        Reply::Given(Ok(output)) => map.insert("output", output.clone()),
        Reply::Given(Err(error)) => match tool_result(error) {
            Some(result) => map.insert("result", result),
            None => map.insert("error", mock_error(error)),
        },
        Reply::Pending => map.insert("pending", true),
    };
    map.into()
}

/// The result with which a tool said that it failed, if it says just what the error does.
fn tool_result(error: &RunError) -> Option<Value> {
    let data = error.data.as_ref().filter(|_| error.kind == ErrorKind::ToolError)?;
    match output_of(data) {
        NodeOutput::Error { text, result } if text == error.message => Some(result),
        _ => None,
    }
}

fn mock_error(error: &RunError) -> Value {
    let mut map = Map::from_iter([("kind", error.kind.name())]);
    map.insert("message", error.message.as_str());
    if let ErrorKind::ProtocolError { code } = error.kind {
        map.insert("protocolCode", code);
    }
    if let Some(data) = &error.data {
        map.insert("data", data.clone());
    }
    map.into()
}

fn expected_error(error: &RunError) -> Value {
    let mut map = Map::from_iter([("kind", error.kind.name())]);
    if let Some(node) = &error.node {
        map.insert("node", node.clone());
    }
    map.insert("messageContains", error.message.as_str());
    map.into()
}
