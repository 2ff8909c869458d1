//! What servers offer.

use mcpgraph_mcp::client::{HttpConfig, TransportConfig};
use mcpgraph_testkit::observe::Log;
use mcpgraph_testkit::{HttpServer, environment};
use mcpgraph_upstream::{Changed, ServerSpec};

use crate::support::{call, misbehaving, spec_of, upstreams};

#[tokio::test]
async fn all_pages_are_read_once_and_again_after_a_change() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--record", &log.argument()]) else { return };
    let upstreams = upstreams([("s", spec)]);
    let tools = upstreams.list_tools("s").await.unwrap();
    assert_eq!(tools.len(), 20);
    assert_eq!(&*tools[0].name, "echo");
    let text = r#"{"name":"echo","inputSchema":{"type":"object"},"vendor":{"z":1,"a":2}}"#;
    assert_eq!(tools[0].raw.get(), text);
    assert_eq!(tools[0].hint("readOnlyHint"), None);
    upstreams.list_tools("s").await.unwrap();
    assert_eq!(log.messages("tools/list").len(), 5);

    let mut changes = upstreams.changes();
    call(&upstreams, "s", "change", "{}").await.unwrap();
    assert_eq!(changes.recv().await.unwrap().what, Changed::Tools);
    upstreams.list_tools("s").await.unwrap();
    assert_eq!(log.messages("tools/list").len(), 10);
}

#[tokio::test]
async fn a_new_process_has_new_lists() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--record", &log.argument()]) else { return };
    let upstreams = upstreams([("s", spec)]);
    upstreams.list_tools("s").await.unwrap();
    call(&upstreams, "s", "die", "{}").await.unwrap_err();
    upstreams.list_tools("s").await.unwrap();
    assert_eq!(log.messages("tools/list").len(), 10);
}

#[tokio::test]
async fn what_a_server_does_not_have_is_not_asked_for() {
    let log = Log::new();
    let Some(spec) = misbehaving(&["--record", &log.argument()]) else { return };
    let upstreams = upstreams([("s", spec)]);
    // It says of itself that it has tools and resources.
    assert!(upstreams.list_prompts("s").await.unwrap().is_empty());
    assert!(log.messages("prompts/list").is_empty());
    upstreams.list_tools("s").await.unwrap();
    assert!(!log.messages("tools/list").is_empty());
}

#[tokio::test]
async fn what_is_no_tool_is_left_out() {
    let Some(spec) = misbehaving(&["--on-list", "odd"]) else { return };
    let tools = upstreams([("s", spec)]).list_tools("s").await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["fine"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_of_a_server_of_the_official_sdk_is_listed() {
    let Some(program) = environment::fixture_server() else { return };
    let http = {
        let program = program.clone();
        HttpServer::start(move |port| program.arg("--http").arg(format!("127.0.0.1:{port}")))
    };
    let config = HttpConfig { url: http.url("/mcp"), ..HttpConfig::default() };
    let upstreams = upstreams([
        ("stdio", spec_of(&program)),
        ("http", ServerSpec::new(TransportConfig::Http(config))),
    ]);
    for server in ["stdio", "http"] {
        let names = |items: &[mcpgraph_upstream::ItemInfo]| -> Vec<String> {
            items.iter().map(|item| item.name.to_string()).collect()
        };
        let tools = upstreams.list_tools(server).await.unwrap();
        assert!(names(&tools).contains(&"greet".to_owned()));
        let resources = upstreams.list_resources(server).await.unwrap();
        assert!(names(&resources).contains(&"test://static-text".to_owned()));
        let templates = upstreams.list_templates(server).await.unwrap();
        assert_eq!(names(&templates), ["test://template/{id}/data"]);
        let prompts = upstreams.list_prompts(server).await.unwrap();
        assert!(names(&prompts).contains(&"test_simple_prompt".to_owned()));
        assert!(upstreams.connection(server).await.unwrap().server_info().is_some());
    }
    // A change that a call caused is told on both, by a stream of its own over HTTP.
    let mut changes = upstreams.changes();
    for server in ["stdio", "http"] {
        call(&upstreams, server, "test_trigger_tool_change", "{}").await.unwrap();
        loop {
            let change = changes.recv().await.unwrap();
            if &*change.server == server && change.what == Changed::Tools {
                break;
            }
        }
    }
}
