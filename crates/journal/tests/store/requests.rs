use std::time::{Duration, Instant, SystemTime};

use mcpgraph_journal::{
    Journal, JournalOptions, Redaction, Request, RequestFilter, RequestStatus, RequestToken,
    Retention, RunId,
};
use mcpgraph_value::Value;

use crate::support::{contains, keep, new_run, open, raw_bytes, short_run};

fn request(method: &str, name: Option<&str>) -> Request {
    Request {
        at: SystemTime::now(),
        duration: Duration::from_millis(3),
        method: method.into(),
        name: name.map(Into::into),
        server: None,
        status: RequestStatus::Ok,
        code: None,
        token: None,
        client: None,
        run: None,
    }
}

pub(crate) fn named(name: &str) -> Request {
    request("tools/call", Some(name))
}

/// The names of the requests a filter wants, once there are `count` of them.
fn names(journal: &Journal, filter: &RequestFilter, count: usize) -> Vec<String> {
    let patience = Instant::now() + Duration::from_secs(20);
    loop {
        let found = journal.requests(filter).unwrap().requests;
        assert!(Instant::now() < patience, "{found:?} {:?}", journal.status());
        if found.len() == count {
            let names = found.iter().map(|kept| kept.request.name.as_deref().unwrap_or_default());
            return names.map(str::to_owned).collect();
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn any() -> RequestFilter {
    RequestFilter::default()
}

#[test]
fn a_request_is_read_as_it_was_noted() {
    let (dir, journal) = open(JournalOptions::default());
    let run = RunId::new();
    let full = Request {
        at: SystemTime::UNIX_EPOCH + Duration::from_micros(1_795_000_000_123_456),
        duration: Duration::from_micros(1234),
        server: Some("files".into()),
        status: RequestStatus::Error,
        code: Some(-32602),
        token: Some(RequestToken { id: "abc".into(), name: Some("ci".into()) }),
        client: Some("an agent".into()),
        run: Some(run),
        ..named("files__read")
    };
    journal.note(&full);
    journal.note(&request("tools/list", None));
    journal.close();
    let journal = dir.open_read();
    let all = journal.requests(&any()).unwrap();
    assert_eq!(all.requests[1].request, full);
    assert_eq!(all.next, None);
    let shown = all.to_value();
    let first = shown.pointer("/requests/1").unwrap().to_json();
    assert_eq!(
        first,
        format!(
            r#"{{"id":1,"time":"2026-11-18T11:06:40.123Z","method":"tools/call","name":"files__read","server":"files","status":"error","code":-32602,"durationMs":1.234,"token":{{"id":"abc","name":"ci"}},"client":"an agent","run":"{run}"}}"#
        )
    );
    assert_eq!(shown.pointer("/requests/0/name"), None);
    assert_eq!(shown.get("next"), Some(&Value::Null));
}

#[test]
fn every_filter_leaves_what_fits() {
    let (_dir, journal) = open(JournalOptions::default());
    let now = SystemTime::now();
    let token =
        |id: &str, name: &str| Some(RequestToken { id: id.into(), name: Some(name.into()) });
    journal.note(&Request { at: now - Duration::from_hours(2), ..named("old") });
    journal.note(&Request { token: token("1", "ci"), ..named("files__read") });
    journal.note(&Request {
        token: token("2", "me"),
        status: RequestStatus::ToolError,
        ..named("a[b]")
    });
    journal.note(&Request {
        duration: Duration::from_secs(3),
        server: Some("s".into()),
        ..named("slow")
    });
    journal.note(&request("prompts/get", Some("greet")));
    names(&journal, &any(), 5);
    let hour = Some(now - Duration::from_hours(1));
    let text = |text: &str| Some(text.to_owned());
    for (filter, wanted) in [
        (RequestFilter { token: text("ci"), ..any() }, vec!["files__read"]),
        (RequestFilter { token: text("2"), ..any() }, vec!["a[b]"]),
        (RequestFilter { method: text("prompts/get"), ..any() }, vec!["greet"]),
        (RequestFilter { name: text("files__*"), ..any() }, vec!["files__read"]),
        (RequestFilter { name: text("sl?w"), ..any() }, vec!["slow"]),
        (RequestFilter { name: text("a[b]"), ..any() }, vec!["a[b]"]),
        (RequestFilter { server: text("s"), ..any() }, vec!["slow"]),
        (RequestFilter { status: Some(RequestStatus::ToolError), ..any() }, vec!["a[b]"]),
        (RequestFilter { until: hour, ..any() }, vec!["old"]),
        (RequestFilter { since: hour, limit: 2, ..any() }, vec!["greet", "slow"]),
        (RequestFilter { slower_than: Some(Duration::from_secs(1)), ..any() }, vec!["slow"]),
        (RequestFilter { name: text("nothing"), ..any() }, vec![]),
    ] {
        assert_eq!(names(&journal, &filter, wanted.len()), wanted, "{filter:?}");
    }
    let page = journal.requests(&RequestFilter { limit: 3, ..any() }).unwrap();
    assert_eq!((page.requests.len(), page.next), (3, Some(3)));
    let rest = RequestFilter { limit: 3, before: page.next, ..any() };
    assert_eq!(names(&journal, &rest, 2), ["files__read", "old"]);
    assert_eq!(journal.requests(&rest).unwrap().next, None);
}

#[test]
fn secrets_are_masked_and_texts_are_cut() {
    let redaction = Redaction { secrets: vec!["hunter2hunter2".to_owned()], fields: vec![] };
    let (dir, journal) = open(JournalOptions { redaction, ..JournalOptions::default() });
    let long = format!("file:///{}hunter2hunter2", "é".repeat(250));
    journal.note(&named("file:///hunter2hunter2/x"));
    journal.note(&named(&long));
    let kept = names(&journal, &any(), 2);
    assert_eq!(kept[1], "file:///[redacted]/x");
    assert!(kept[0].len() <= 512 && kept[0].starts_with("file:///éé"), "{}", kept[0]);
    journal.close();
    assert!(!contains(&raw_bytes(&dir), "hunter2"));
}

#[tokio::test]
async fn the_oldest_requests_are_forgotten() {
    let nothing = Retention { max_age: None, max_runs: None, max_requests: None, max_bytes: None };
    for (retention, left) in [
        (Retention { max_requests: Some(7), ..nothing }, 7),
        (Retention { max_age: Some(Duration::from_mins(30)), ..nothing }, 3),
    ] {
        let options = JournalOptions { retention, ..JournalOptions::default() };
        let (_dir, journal) = open(options);
        for number in 0..20_u32 {
            let age = Duration::from_mins(u64::from(10 * (19 - number) + 1));
            let name = number.to_string();
            journal.note(&Request { at: SystemTime::now() - age, ..named(&name) });
        }
        keep(&journal, new_run("t"), &short_run("t", &Value::Null)).await;
        let kept = names(&journal, &any(), left);
        assert_eq!(kept[0], "19");
    }
}

#[test]
fn many_share_a_row_and_are_read_one_by_one() {
    let (home, journal) = open(JournalOptions::default());
    for number in 0..500 {
        let server = (number % 100 == 7).then(|| "rare".into());
        journal.note(&Request { server, ..named(&number.to_string()) });
    }
    journal.close();
    assert!(home.count("request_log") < 100, "{}", home.count("request_log"));
    let journal = home.open_read();
    let (mut before, mut seen) = (None, Vec::new());
    loop {
        let page = journal.requests(&RequestFilter { limit: 37, before, ..any() }).unwrap();
        seen.extend(page.requests);
        before = page.next;
        if before.is_none() {
            break;
        }
    }
    let numbers: Vec<u64> = seen.iter().map(|kept| kept.no).collect();
    assert_eq!(numbers, (1..=500).rev().collect::<Vec<_>>());
    let names = seen.iter().rev().map(|kept| kept.request.name.as_deref().unwrap().to_owned());
    assert_eq!(names.collect::<Vec<_>>(), (0..500).map(|n| n.to_string()).collect::<Vec<_>>());
    let rare = RequestFilter { server: Some("rare".into()), limit: 2, ..any() };
    let found = journal.requests(&rare).unwrap();
    assert_eq!((found.requests.len(), found.requests[0].no, found.next), (2, 408, Some(308)));
}
