//! The official Rust SDK as the client, in both eras and over both transports.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_mcp::server::{Change, HttpConfig, serve_stdio};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientCapabilities, ClientConfig, ClientRequest,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorData, Implementation, JsonObject,
    ProgressNotificationParam, ProtocolVersion, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestContext,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, RoleClient, ServiceError};
use serde_json::json;
use tokio::sync::mpsc;

use super::service::Fixture;

/// A client that tells its test what it was told.
struct Told {
    what: mpsc::Sender<String>,
    version: ProtocolVersion,
}

type Client = RunningService<RoleClient, Told>;

impl ClientHandler for Told {
    fn get_info(&self) -> ClientConfig {
        ClientConfig::new(
            ClientCapabilities::builder().enable_elicitation().build(),
            Implementation::new("rmcp", "3.8.0"),
        )
        .with_protocol_version(self.version.clone())
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        assert!(serde_json::to_string(&request).unwrap().contains("Sure?"));
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(json!({"sure": true})))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.what.send(format!("progress {}", params.progress)).await.ok();
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.what.send("tools changed".to_owned()).await.ok();
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Over {
    Pipe,
    Http,
}

/// The four ways a client connects: its transport, its era.
fn ways() -> [(Over, ProtocolVersion); 4] {
    let modern = ProtocolVersion::V_2026_07_28;
    let legacy = ProtocolVersion::V_2025_11_25;
    [
        (Over::Pipe, legacy.clone()),
        (Over::Pipe, modern.clone()),
        (Over::Http, legacy),
        (Over::Http, modern),
    ]
}

async fn connect(
    fixture: &Fixture,
    over: Over,
    version: &ProtocolVersion,
) -> (Client, mpsc::Receiver<String>) {
    let (what, told) = mpsc::channel(1000);
    let handler = Told { what, version: version.clone() };
    let mode = if *version == ProtocolVersion::V_2026_07_28 {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![version.clone()],
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = match over {
        Over::Pipe => {
            let (near, far) = tokio::io::duplex(1 << 16);
            let (reader, writer) = tokio::io::split(far);
            let server = fixture.server.clone();
            tokio::spawn(async move { serve_stdio(&server, reader, writer).await });
            handler.serve_with_lifecycle(tokio::io::split(near), mode).await.unwrap()
        }
        Over::Http => {
            let address = fixture.listen(HttpConfig::default()).await;
            let transport =
                StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
            handler.serve_with_lifecycle(transport, mode).await.unwrap()
        }
    };
    (client, told)
}

fn params(tool: &'static str, arguments: serde_json::Value) -> CallToolRequestParams {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

/// The text that a call of a tool gives.
async fn call(
    client: &Client,
    tool: &'static str,
    arguments: serde_json::Value,
) -> Result<String, ServiceError> {
    let result = client.call_tool(params(tool, arguments)).await?;
    Ok(serde_json::to_value(&result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned())
}

async fn next(told: &mut mpsc::Receiver<String>) -> String {
    tokio::time::timeout(Duration::from_secs(10), told.recv()).await.unwrap().unwrap()
}

#[tokio::test]
async fn lists_and_calls() {
    for (over, version) in ways() {
        let fixture = Fixture::new();
        let (client, _told) = connect(&fixture, over, &version).await;
        let info = client.peer_info().unwrap();
        assert_eq!(info.protocol_version, version, "{over:?}");
        let tools = client.list_all_tools().await.unwrap();
        assert_eq!(tools[0].name, "echo", "{over:?} {version}");
        let calls = (0..50).map(|number| {
            let client = &client;
            async move {
                let text = format!("{number}");
                assert_eq!(call(client, "echo", json!({ "text": text })).await.unwrap(), text);
            }
        });
        futures_util::future::join_all(calls).await;
        let Err(ServiceError::McpError(error)) = call(&client, "none", json!({})).await else {
            panic!("an unknown tool is an error");
        };
        assert!(error.message.contains("unknown tool: none"), "{error}");
        assert!(client.list_all_prompts().await.unwrap().is_empty());
        client.cancel().await.unwrap();
    }
}

#[tokio::test]
async fn progress_reaches_the_client() {
    for (over, version) in ways() {
        let fixture = Fixture::new();
        let (client, mut told) = connect(&fixture, over, &version).await;
        // The SDK gives each request a progress token by itself.
        assert_eq!(call(&client, "progress", json!({"times": 20})).await.unwrap(), "done");
        let mut seen = Vec::new();
        for _ in 0..20 {
            seen.push(next(&mut told).await);
        }
        // It hands them over in no order; the tests by raw bytes check that.
        seen.sort_by_key(|text| text["progress ".len()..].parse::<u32>().unwrap());
        let wanted: Vec<_> = (1..=20).map(|done| format!("progress {done}")).collect();
        assert_eq!(seen, wanted, "{over:?} {version}");
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_in_the_service() {
    for (over, version) in ways() {
        let mut fixture = Fixture::new();
        let (client, _told) = connect(&fixture, over, &version).await;
        let request = CallToolRequest::new(params("wait", json!({})));
        let handle = client
            .send_cancellable_request(
                ClientRequest::CallToolRequest(request),
                PeerRequestOptions::no_options(),
            )
            .await
            .unwrap();
        assert_eq!(fixture.next_happening().await, "waiting", "{over:?} {version}");
        handle.cancel(Some("enough".to_owned())).await.unwrap();
        assert_eq!(fixture.next_happening().await, "cancelled", "{over:?} {version}");
        assert_eq!(call(&client, "echo", json!({"text": "on"})).await.unwrap(), "on");
    }
}

#[tokio::test]
async fn changes_reach_the_client() {
    for (over, version) in ways() {
        let fixture = Fixture::new();
        let (client, mut told) = connect(&fixture, over, &version).await;
        if version == ProtocolVersion::V_2025_11_25 {
            assert_eq!(call(&client, "change", json!({})).await.unwrap(), "changed");
            assert_eq!(next(&mut told).await, "tools changed", "{over:?}");
            continue;
        }
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let mut subscription = client.listen(filter.clone()).await.unwrap();
        assert_eq!(subscription.acknowledged(), &filter);
        fixture.broadcaster.send(&Change::Prompts);
        fixture.broadcaster.send(&Change::Tools);
        let change = subscription.next().await.unwrap().unwrap();
        assert!(matches!(change, ServerNotification::ToolListChangedNotification(_)), "{over:?}");
        fixture.server.shutdown().cancel();
        assert!(subscription.next().await.unwrap().is_none(), "{over:?}");
    }
}

#[tokio::test]
async fn a_legacy_client_is_asked() {
    for (over, version) in ways() {
        let fixture = Fixture::new();
        let (client, _told) = connect(&fixture, over, &version).await;
        let answer = call(&client, "elicit", json!({})).await;
        if version == ProtocolVersion::V_2025_11_25 {
            let answer: serde_json::Value = serde_json::from_str(&answer.unwrap()).unwrap();
            assert_eq!(answer, json!({"action": "accept", "content": {"sure": true}}), "{over:?}");
        } else {
            assert!(answer.unwrap_err().to_string().contains("input_required"), "{over:?}");
        }
    }
}

#[tokio::test]
async fn many_clients_at_once() {
    let fixture = Arc::new(Fixture::new());
    let clients = (0..20).map(|number| {
        let fixture = fixture.clone();
        tokio::spawn(async move {
            let (over, version) = ways()[number % 4].clone();
            let (client, _told) = connect(&fixture, over, &version).await;
            for _ in 0..20 {
                let text = number.to_string();
                assert_eq!(call(&client, "echo", json!({ "text": text })).await.unwrap(), text);
            }
        })
    });
    for client in futures_util::future::join_all(clients).await {
        client.unwrap();
    }
}
