//! The guard against real sockets.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_outbound::{Client, Hosts, Limits, OutboundError, Request};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// A server that gives the same bytes to everybody and keeps what it was asked.
struct Server {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
}

async fn serve(answer: impl Into<Vec<u8>>) -> Server {
    let answer = answer.into();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&asked);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 16 * 1024];
            let length = stream.read(&mut request).await.unwrap();
            seen.lock().await.push(String::from_utf8_lossy(&request[..length]).into_owned());
            stream.write_all(&answer).await.unwrap();
        }
    });
    Server { address, asked }
}

fn client(allowed: &[&str], limits: Limits) -> Client {
    Client::new(Hosts::public().and(allowed).unwrap(), limits).unwrap()
}

async fn get(client: &Client, url: &str) -> Result<(u16, String, bool), OutboundError> {
    let answer = client.send(Request::get(url).unwrap()).await?;
    let body = String::from_utf8_lossy(&answer.body).into_owned();
    Ok((answer.status.as_u16(), body, answer.is_complete))
}

#[tokio::test]
async fn only_named_hosts_may_be_reached_where_somebody_says_so() {
    let server = serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
    let port = server.address.port();
    let named = Hosts::only([format!("127.0.0.1:{port}")]).unwrap();
    let client = Client::new(named, Limits::default()).unwrap();
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(get(&client, &url).await.unwrap().1, "hi");
    // Public or not: nobody named it. Redirects are checked the same way.
    for url in ["https://example.com/".to_owned(), format!("http://localhost:{port}/")] {
        let refused = get(&client, &url).await.unwrap_err();
        assert!(matches!(refused, OutboundError::NotAllowed { .. }), "{url}: {refused}");
        assert!(refused.is_refusal());
    }
    let away = serve("HTTP/1.1 302 Found\r\nlocation: https://example.com/\r\n\r\n").await;
    let named = Hosts::only([away.address.to_string()]).unwrap();
    let client = Client::new(named, Limits::default()).unwrap();
    let refused = get(&client, &format!("http://{}/", away.address)).await.unwrap_err();
    assert!(matches!(refused, OutboundError::NotAllowed { .. }), "{refused}");
}

#[tokio::test]
async fn a_host_inside_is_reached_only_where_it_is_named() {
    let server = serve("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
    let port = server.address.port();
    let unnamed = client(&[], Limits::default());
    for url in [
        format!("http://127.0.0.1:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://2130706433:{port}/"),
        format!("http://0x7f.1:{port}/"),
        format!("http://0:{port}/"),
    ] {
        let refused = get(&unnamed, &url).await.unwrap_err();
        assert!(matches!(refused, OutboundError::Refused { .. }), "{url}: {refused}");
    }
    assert_eq!(server.asked.lock().await.len(), 0);
    let named = client(&[&format!("127.0.0.1:{port}")], Limits::default());
    let url = format!("http://127.0.0.1:{port}/");
    assert_eq!(get(&named, &url).await.unwrap(), (200, "hi".to_owned(), true));
}

#[tokio::test]
async fn a_redirect_is_checked_like_the_first_request() {
    let inner = serve("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nsecret").await;
    let target = format!("http://127.0.0.1:{}/", inner.address.port());
    let outer =
        serve(format!("HTTP/1.1 302 Found\r\nlocation: {target}\r\ncontent-length: 0\r\n\r\n"))
            .await;
    let named = format!("127.0.0.1:{}", outer.address.port());
    let start = format!("http://{named}/");
    let refused = get(&client(&[&named], Limits::default()), &start).await.unwrap_err();
    assert!(refused.is_refusal(), "{refused}");
    assert_eq!(inner.asked.lock().await.len(), 0);

    let both = client(&["127.0.0.1"], Limits::default());
    let mut request = Request::get(&start).unwrap();
    request.header("authorization", "Bearer t").unwrap();
    request.header("x-other", "kept").unwrap();
    assert_eq!(&*both.send(request).await.unwrap().body, b"secret");
    let asked = inner.asked.lock().await;
    assert!(!asked[0].contains("Bearer"), "{}", asked[0]);
    assert!(asked[0].contains("kept"), "{}", asked[0]);
}

#[tokio::test]
async fn redirects_end_and_lead_nowhere_strange() {
    let round = serve("HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n").await;
    let named = client(&["127.0.0.1"], Limits::default());
    let url = format!("http://{}/", round.address);
    let ended = get(&named, &url).await.unwrap_err();
    assert!(matches!(ended, OutboundError::Redirects { limit: 5, .. }), "{ended}");
    let strange =
        serve("HTTP/1.1 302 Found\r\nlocation: file:///etc/passwd\r\ncontent-length: 0\r\n\r\n")
            .await;
    let refused = get(&named, &format!("http://{}/", strange.address)).await.unwrap_err();
    assert!(refused.is_refusal(), "{refused}");
}

#[tokio::test]
async fn answers_are_bounded_in_size_and_time() {
    let limits = Limits { bytes: 8, time: Duration::from_millis(300), ..Limits::default() };
    let named = client(&["127.0.0.1"], limits);
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\n123456789\r\n0\r\n\r\n",
    ] {
        let server = serve(answer).await;
        let large = get(&named, &format!("http://{}/", server.address)).await.unwrap_err();
        assert!(matches!(large, OutboundError::TooLarge { limit: 8, .. }), "{large}");
    }
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    let slow = get(&named, &url).await.unwrap_err();
    assert!(matches!(slow, OutboundError::Timeout { millis: 300, .. }), "{slow}");
}

#[tokio::test]
async fn what_a_broken_answer_said_is_kept() {
    let named = client(&["127.0.0.1"], Limits::default());
    let server =
        serve("HTTP/1.1 400 {\"err_code\": 5}\r\ntransfer-encoding: chunked\r\n\r\nnot a chunk")
            .await;
    let url = format!("http://{}/", server.address);
    let answer = named.send(Request::get(&url).unwrap()).await.unwrap();
    assert_eq!(answer.status, 400);
    assert_eq!(answer.reason.as_deref(), Some("{\"err_code\": 5}"));
    assert!(!answer.is_complete);
    let server = serve("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf").await;
    let url = format!("http://{}/", server.address);
    assert_eq!(get(&named, &url).await.unwrap(), (200, "half".to_owned(), false));
}
