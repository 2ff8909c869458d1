//! Pages in browsers that call the server.

use mcpgraph_mcp::server::HttpConfig;
use serde_json::json;

use super::service::Fixture;
use super::wire::{HttpRequest, HttpResponse, LEGACY, initialize, modern_call, open_session};

const PAGE: &str = "https://app.example";

fn config() -> HttpConfig {
    let mut config = HttpConfig::default();
    config.allowed_origins.push(PAGE.to_owned());
    config
}

fn preflight(origin: &str) -> HttpRequest {
    HttpRequest::new("OPTIONS")
        .header("Origin", origin)
        .header("Access-Control-Request-Method", "POST")
}

/// The origin that may read a response, if any, and that the answer differs by origin.
fn reader(response: &HttpResponse) -> Option<&str> {
    let vary = response.headers.iter().filter(|(name, _)| name == "vary");
    assert!(vary.clone().any(|(_, value)| value.eq_ignore_ascii_case("origin")));
    assert_eq!(response.header("access-control-allow-credentials"), None);
    let origin = response.header("access-control-allow-origin");
    let readable = response.header("access-control-expose-headers");
    assert_eq!(readable, origin.map(|_| "Mcp-Session-Id, WWW-Authenticate"));
    origin
}

#[tokio::test]
async fn a_browser_is_told_what_pages_of_allowed_origins_may_send() {
    let fixture = Fixture::new();
    let address = fixture.listen(config()).await;
    for origin in [PAGE, "http://localhost:5173"] {
        let wanted = "content-type, mcp-param-tenant,Mcp-Param-B, x-other, mcp param";
        let asked = preflight(origin).header("Access-Control-Request-Headers", wanted);
        let response = asked.send(address).await;
        assert_eq!((response.status, reader(&response)), (204, Some(origin)));
        assert_eq!(response.header("access-control-allow-methods"), Some("POST, GET, DELETE"));
        assert_eq!(response.header("access-control-max-age"), Some("3600"));
        assert_eq!(
            response.header("access-control-allow-headers"),
            Some(
                "accept, authorization, content-type, last-event-id, mcp-protocol-version, \
                 mcp-session-id, mcp-method, mcp-name, traceparent, tracestate, mcp-param-tenant, \
                 mcp-param-b"
            )
        );
    }
    let elsewhere = preflight(PAGE).header("Host", "evil.example");
    for asked in [preflight("https://evil.example"), preflight("null"), elsewhere] {
        let response = asked.send(address).await;
        assert_eq!((response.status, reader(&response)), (403, None));
        assert_eq!(response.header("access-control-allow-methods"), None);
    }
    let plain = HttpRequest::new("OPTIONS").send(address).await;
    assert_eq!((plain.status, reader(&plain)), (405, None));
}

#[tokio::test]
async fn pages_of_allowed_origins_read_every_kind_of_answer() {
    let fixture = Fixture::new();
    let address = fixture.listen(config()).await;
    let key = open_session(address, LEGACY, json!({})).await;
    let mut progress = modern_call(1, "progress", json!({"times": 3}));
    progress["params"]["_meta"]["progressToken"] = json!(1);
    for (status, request) in [
        (200, HttpRequest::post(initialize(LEGACY, json!({})).to_string())),
        (200, HttpRequest::modern(&modern_call(1, "echo", json!({"text": "x"})))),
        (200, HttpRequest::modern(&progress)),
        (400, HttpRequest::post("{nonsense")),
        (404, HttpRequest::new("DELETE").session("none")),
        (200, HttpRequest::new("GET").header("Accept", "text/event-stream").session(&key)),
        (204, HttpRequest::new("DELETE").session(&key)),
    ] {
        let response = request.header("Origin", PAGE).send(address).await;
        assert_eq!((response.status, reader(&response)), (status, Some(PAGE)));
    }
    let other = HttpRequest::post("{}").header("Origin", "https://evil.example");
    let response = other.send(address).await;
    assert_eq!((response.status, reader(&response)), (403, None));
    let no_page = HttpRequest::post("{}").send(address).await;
    assert_eq!((no_page.status, reader(&no_page)), (400, None));
}
