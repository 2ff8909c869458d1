//! A server written with the official SDK, over every transport it has and in both eras.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mcpgraph_mcp::client::{
    CallEvent, ClientError, ClientOptions, Connection, EraChoice, HttpConfig, HttpKind,
    RequestOptions, TransportConfig,
};
use mcpgraph_mcp::message::{Raw, raw};
use mcpgraph_mcp::version::Era;
use mcpgraph_testkit::{HttpServer, environment};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::support::{PATIENCE, Recorder, call, options, patient, stdio};

const ERAS: [(EraChoice, Era); 3] = [
    (EraChoice::Legacy, Era::Legacy),
    (EraChoice::Modern, Era::Modern),
    (EraChoice::Auto, Era::Modern),
];

/// The server as a process and at a URL.
struct Fixture {
    targets: [TransportConfig; 2],
    _server: HttpServer,
}

fn fixture() -> Option<Fixture> {
    let program = environment::fixture_server()?;
    let server = {
        let program = program.clone();
        HttpServer::start(move |port| program.arg("--http").arg(format!("127.0.0.1:{port}")))
    };
    let http =
        HttpConfig { url: server.url("/mcp"), kind: HttpKind::Auto, ..HttpConfig::default() };
    let targets = [TransportConfig::Stdio(stdio(&program)), TransportConfig::Http(http)];
    Some(Fixture { targets, _server: server })
}

async fn connect(target: &TransportConfig, era: EraChoice, events: &Arc<Recorder>) -> Connection {
    let capabilities = raw(&json!({"elicitation": {}, "sampling": {}, "roots": {}}));
    let options = ClientOptions { era, capabilities, ..options() };
    Connection::connect(target.clone(), options, events.clone()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_can_be_listed_and_called() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        for (choice, era) in ERAS {
            let connection = connect(target, choice, &Arc::default()).await;
            assert_eq!(connection.era(), era, "{target:?} {choice:?}");
            let list = connection.request("tools/list", None, patient()).await.unwrap();
            assert!(list.get().contains("\"greet\""), "{}", list.get());
            for name in ["you", "é \u{1F600} \" \\ \n"] {
                let text = call(&connection, "greet", json!({ "name": name }), patient()).await;
                assert_eq!(text.unwrap(), format!("Hello, {name}!"));
            }
            let error = connection.request("no/such", None, patient()).await.unwrap_err();
            assert!(matches!(&error, ClientError::Rpc(e) if e.code == -32601), "{error:?}");
            connection.close().await;
            assert!(connection.is_closed());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn progress_and_logs_arrive_before_the_answer() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        for (choice, _) in ERAS {
            let connection = connect(target, choice, &Arc::default()).await;
            for (tool, count) in [("test_tool_with_progress", 3), ("test_tool_with_logging", 3)] {
                let (sender, mut receiver) = mpsc::channel(16);
                let options = RequestOptions {
                    events: Some(sender),
                    progress: true,
                    meta: vec![("io.modelcontextprotocol/logLevel".to_owned(), raw("debug"))],
                    ..patient()
                };
                call(&connection, tool, json!({}), options).await.unwrap();
                let seen = std::iter::from_fn(|| receiver.try_recv().ok()).count();
                assert_eq!(seen, count, "{target:?} {choice:?} {tool}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_legacy_server_can_ask_during_a_call() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        let connection = connect(target, EraChoice::Legacy, &Arc::default()).await;
        let (sender, mut receiver) = mpsc::channel(16);
        let options = RequestOptions { events: Some(sender), ..patient() };
        let calling = call(&connection, "test_elicitation", json!({"message": "who?"}), options);
        let answering = async {
            let Some(CallEvent::ServerRequest { method, params, reply }) = receiver.recv().await
            else {
                panic!("no question");
            };
            assert_eq!(method, "elicitation/create");
            assert!(params.unwrap().get().contains("who?"));
            let answer = json!({"action": "accept", "content": {"username": "u", "email": "e@x"}});
            reply.send(Ok(raw(&answer))).unwrap();
        };
        let (answer, ()) = tokio::join!(calling, answering);
        assert!(answer.unwrap().contains("accept"), "{target:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_lists_are_told() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        for (choice, era) in ERAS {
            let events = Arc::new(Recorder::default());
            let connection = connect(target, choice, &events).await;
            // The stream for changes is opened beside the first calls, so ask until it is there.
            let start = Instant::now();
            while !events.seen().iter().any(|event| event.contains("ListChanged(Tools)")) {
                assert!(start.elapsed() < PATIENCE, "{target:?} {era:?} {:?}", events.seen());
                call(&connection, "test_trigger_tool_change", json!({}), patient()).await.unwrap();
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_are_repeated_in_headers_once_the_tools_are_known() {
    let Some(fixture) = fixture() else { return };
    let connection = connect(&fixture.targets[1], EraChoice::Modern, &Arc::default()).await;
    let argument = || json!({"value": " é "});
    let unknown = call(&connection, "test_custom_header", argument(), patient()).await;
    assert!(matches!(&unknown, Err(ClientError::Rpc(e)) if e.code == -32020), "{unknown:?}");
    connection.request("tools/list", None, patient()).await.unwrap();
    call(&connection, "test_custom_header", argument(), patient()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn many_calls_at_once_share_a_connection() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        for (choice, _) in ERAS {
            let connection = connect(target, choice, &Arc::default()).await;
            let calls: Vec<_> = (0..200)
                .map(|number| {
                    let connection = connection.clone();
                    tokio::spawn(async move {
                        let name = number.to_string();
                        let text = call(&connection, "greet", json!({ "name": name }), patient());
                        assert_eq!(text.await.unwrap(), format!("Hello, {number}!"));
                    })
                })
                .collect();
            for call in calls {
                call.await.unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelled_calls_end_at_once_everywhere() {
    let Some(fixture) = fixture() else { return };
    for target in &fixture.targets {
        for (choice, _) in ERAS {
            let connection = connect(target, choice, &Arc::default()).await;
            let cancel = CancellationToken::new();
            let options = RequestOptions { cancel: cancel.clone(), ..patient() };
            let slow = call(&connection, "slow_compute", json!({"seconds": 10}), options);
            let cancelling = async {
                tokio::time::sleep(Duration::from_millis(200)).await;
                cancel.cancel();
            };
            let start = Instant::now();
            let (answer, ()) = tokio::join!(slow, cancelling);
            assert!(matches!(answer, Err(ClientError::Cancelled)), "{answer:?}");
            assert!(start.elapsed() < Duration::from_secs(3));
            call(&connection, "greet", json!({"name": "x"}), patient()).await.unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn results_are_not_changed_on_the_way() {
    let Some(fixture) = fixture() else { return };
    let mut seen: Vec<Raw> = Vec::new();
    for target in &fixture.targets {
        let connection = connect(target, EraChoice::Legacy, &Arc::default()).await;
        let params = raw(&json!({"name": "test_multiple_content_types"}));
        seen.push(connection.request("tools/call", Some(params), patient()).await.unwrap());
    }
    assert_eq!(seen[0].get(), seen[1].get());
    let value: Value = serde_json::from_str(seen[0].get()).unwrap();
    assert_eq!(value["content"].as_array().unwrap().len(), 3);
}
