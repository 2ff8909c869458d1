use std::collections::HashMap;
use std::sync::Arc;

use mcpgraph_diagnostics::{Span, codes};

use super::problems::{Problems, quoted};
use super::record::{Record, Strangers, text_of, wrong_type};
use crate::keys::{ANSWER, Shape, TEST, TEST_FILE};
use crate::model::{
    Answer, Expect, ExpectedError, ExpectedOutcome, Mock, MockError, PathItem, Recorded, Reply,
    TestDef, TestFile,
};
use crate::{Json, Kind, Member, Tree};

/// The ways to write a gap in a path.
const GAPS: [&str; 2] = ["...", "…"];

/// Reads a file of tests; none, with a diagnostic, if it is not even a mapping.
pub(crate) fn test_file(tree: &Arc<Tree>, problems: &mut Problems) -> Option<TestFile> {
    let record = Record::open(tree, &TEST_FILE, Strangers::Report, problems)?;
    let graph = record.text("graph", problems);
    let items = record.list("tests", problems).unwrap_or_default();
    let tests: Vec<TestDef> = items.iter().filter_map(|item| test(item, problems)).collect();
    report_duplicates(&tests, problems);
    Some(TestFile { source: Arc::clone(problems.source()), tree: Arc::clone(tree), graph, tests })
}

/// Reads a test; none if a part without which it means nothing could not be read.
fn test(tree: &Arc<Tree>, problems: &mut Problems) -> Option<TestDef> {
    let record = Record::open(tree, &TEST, Strangers::Report, problems)?;
    let name = record.text("name", problems);
    let tool = record.text("tool", problems);
    let input = record.json("input", problems);
    let members = record.map("mocks", problems).unwrap_or_default();
    let mocks = members.iter().filter_map(|member| mock(member, problems)).collect();
    let recorded = recorded(&record, problems);
    let live = record.flag("live", problems).unwrap_or(false);
    let expect = record.record("expect", problems).map(|record| expect(&record, problems));
    Some(TestDef { name: name?, tool: tool?, input, mocks, recorded, live, expect: expect? })
}

fn report_duplicates(tests: &[TestDef], problems: &mut Problems) {
    let mut first: HashMap<&str, Span> = HashMap::new();
    for test in tests {
        let name = test.name.as_str();
        let Some(earlier) = first.get(name) else {
            first.insert(name, test.name.span());
            continue;
        };
        let message = format!("two tests have the name {}", quoted(name));
        let diagnostic = problems
            .error(codes::DUPLICATE_TEST, test.name.span(), message)
            .also(problems.source(), *earlier, "the first one")
            .hint("reports name a test by this: give each its own");
        problems.push(diagnostic);
    }
}

fn recorded(record: &Record<'_>, problems: &mut Problems) -> Option<Recorded> {
    let run = record.text("run", problems);
    let document = record.text("record", problems);
    if let Some(second) = record.member("record").filter(|_| record.member("run").is_some()) {
        let message = "a test has both `run` and `record`";
        problems.push(
            problems
                .error(codes::TEST_UNCLEAR, second.key.span(), message)
                .hint("keep one: `run` is in the record of runs, `record` is a file"),
        );
    }
    run.map(Recorded::Run).or(document.map(Recorded::Document))
}

fn mock(member: &Member, problems: &mut Problems) -> Option<Mock> {
    let answers: Vec<Answer> = match &member.value.kind {
        Kind::Map(_) => answer(&member.value, problems).into_iter().collect(),
        Kind::Seq(items) if items.is_empty() => {
            let message = format!("{} needs at least one answer", quoted(&member.key));
            problems.push(problems.error(codes::OUT_OF_RANGE, member.value.span, message));
            return None;
        }
        Kind::Seq(items) => items.iter().filter_map(|item| answer(item, problems)).collect(),
        _ => {
            let shape = Shape::Either(&Shape::AnyObject, &Shape::AnyArray);
            wrong_type(&member.key, shape, &member.value, problems);
            return None;
        }
    };
    (!answers.is_empty()).then(|| Mock { of: member.key.clone(), answers })
}

fn answer(tree: &Arc<Tree>, problems: &mut Problems) -> Option<Answer> {
    let record = Record::open(tree, &ANSWER, Strangers::Report, problems)?;
    let args = record.json("args", problems);
    let replies = [
        record.json("output", problems).map(Reply::Output),
        record.record("error", problems).and_then(|record| mock_error(&record, problems)),
        record.json("result", problems).map(Reply::Result),
        pending(&record, problems),
    ];
    let given = ["output", "error", "result", "pending"].map(|key| record.member(key));
    match given.iter().flatten().count() {
        1 => {}
        0 => {
            let message = "an answer needs one of `output`, `error`, `result` and `pending`";
            problems.push(
                problems
                    .error(codes::TEST_UNCLEAR, tree.span, message)
                    .hint("`output` is what the node gives: `{ output: { id: 7 } }`"),
            );
        }
        _ => {
            let keys: Vec<String> =
                given.iter().flatten().map(|member| quoted(&member.key)).collect();
            let message = format!("an answer has {}", keys.join(" and "));
            problems.push(
                problems
                    .error(codes::TEST_UNCLEAR, tree.span, message)
                    .hint("a call is answered in one way: keep one of them"),
            );
        }
    }
    let reply = replies.into_iter().flatten().next()?;
    Some(Answer { args, reply })
}

fn pending(record: &Record<'_>, problems: &mut Problems) -> Option<Reply> {
    if record.flag("pending", problems)? {
        return Some(Reply::Pending);
    }
    let message = "`pending` can only be `true`";
    let hint = "for a call that is answered write `output`, `error` or `result` instead";
    problems.push(problems.error(codes::TEST_UNCLEAR, record.span(), message).hint(hint));
    None
}

fn mock_error(record: &Record<'_>, problems: &mut Problems) -> Option<Reply> {
    let kind = record.word("kind", problems);
    let message = record.text("message", problems);
    let data = record.json("data", problems);
    let protocol_code = match record.member("protocolCode").map(|member| &member.value) {
        None => MockError::PROTOCOL_CODE,
        Some(tree) => tree.to_value().as_i64().unwrap_or_else(|| {
            let message = "`protocolCode` needs to be a whole number";
            problems.push(problems.error(codes::WRONG_TYPE, tree.span, message));
            MockError::PROTOCOL_CODE
        }),
    };
    Some(Reply::Error(MockError { kind: kind?, message, protocol_code, data }))
}

fn expect(record: &Record<'_>, problems: &mut Problems) -> Expect {
    let result = record.json("result", problems);
    let error = record.record("error", problems).map(|record| expected_error(&record, problems));
    if let Some(second) = record.member("error").filter(|_| record.member("result").is_some()) {
        let message = "`expect` has both `result` and `error`";
        problems.push(
            problems
                .error(codes::TEST_UNCLEAR, second.key.span(), message)
                .hint("a call has a result or fails: keep one of them"),
        );
    }
    let path = record.list("path", problems).map(|items| path(items, problems));
    let calls = record.map("calls", problems).unwrap_or_default();
    let calls = calls.iter().filter_map(|member| calls_of(member, problems)).collect();
    let outcome = match (result, error) {
        (Some(result), _) => ExpectedOutcome::Result(result),
        (None, Some(error)) => ExpectedOutcome::Error(error),
        (None, None) => ExpectedOutcome::Success,
    };
    Expect { outcome, path, calls }
}

fn expected_error(record: &Record<'_>, problems: &mut Problems) -> ExpectedError {
    ExpectedError {
        kind: record.word("kind", problems),
        node: record.text("node", problems),
        message_contains: record.text("messageContains", problems),
    }
}

fn path(items: &[Arc<Tree>], problems: &mut Problems) -> Vec<PathItem> {
    items
        .iter()
        .filter_map(|item| text_of(Shape::Name, item, "path", problems))
        .map(
            |text| {
                if GAPS.contains(&text.as_str()) { PathItem::Gap } else { PathItem::Node(text) }
            },
        )
        .collect()
}

fn calls_of(member: &Member, problems: &mut Problems) -> Option<(crate::Text, Vec<Json>)> {
    let Kind::Seq(items) = &member.value.kind else {
        wrong_type(&member.key, Shape::AnyArray, &member.value, problems);
        return None;
    };
    let arguments = items.iter().filter_map(|item| {
        if matches!(item.kind, Kind::Map(_)) {
            return Some(Json::new(item));
        }
        wrong_type(&member.key, Shape::AnyObject, item, problems);
        None
    });
    Some((member.key.clone(), arguments.collect()))
}
