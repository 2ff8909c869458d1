//! Hosts that are named and public, over TLS. The network of the tests leads names to a server on
//! this machine and calls its address public, or leads them to places that are not.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcpgraph_outbound::{
    Client, Hosts, Limits, LookUp, Network, OutboundError, Request, Resolver, is_public,
};
use mcpgraph_testkit::HttpsServer;

/// Names and their addresses, and how often they were looked up.
#[derive(Default)]
struct Book {
    addresses: HashMap<&'static str, Vec<IpAddr>>,
    lookups: AtomicUsize,
}

impl Resolver for Book {
    fn look_up(&self, host: String) -> LookUp {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        let found = self.addresses.get(host.as_str()).cloned().unwrap_or_default();
        Box::pin(async move { Ok(found) })
    }
}

/// The one address of this machine at which the test's server stands for a public one.
fn is_public_or_the_server(address: IpAddr) -> bool {
    address == IpAddr::from(Ipv4Addr::LOCALHOST) || is_public(address)
}

fn book(entries: &[(&'static str, &[&str])]) -> Arc<Book> {
    let addresses = entries.iter().map(|(name, addresses)| {
        (*name, addresses.iter().map(|address| address.parse().unwrap()).collect())
    });
    Arc::new(Book { addresses: addresses.collect(), ..Book::default() })
}

fn client(network: Network, names: &[&str]) -> Client {
    Client::on(network, Hosts::only_public(names).unwrap(), Limits::default()).unwrap().encrypted()
}

async fn get(client: &Client, url: &str) -> Result<String, OutboundError> {
    let answer = client.send(Request::get(url).unwrap()).await?;
    Ok(String::from_utf8_lossy(&answer.body).into_owned())
}

fn response(head: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
        .into_bytes()
}

#[tokio::test]
async fn a_named_host_with_a_public_address_is_reached_over_tls() {
    let server = HttpsServer::start(&["docs.test"], |_| response("200 OK", "hello"));
    let names = book(&[("docs.test", &["10.0.0.1", "127.0.0.1"]), ("other.test", &["127.0.0.1"])]);
    let network = Network {
        resolver: Arc::clone(&names) as _,
        is_public: is_public_or_the_server,
        authorities: vec![server.authority.clone()],
    };
    let port = server.address.port();
    let client = client(network.clone(), &["docs.test"]);
    // Of two addresses only the public one is tried, and it is the one that was judged.
    assert_eq!(get(&client, &format!("https://docs.test:{port}/a.md")).await.unwrap(), "hello");
    assert_eq!(server.asked(), ["/a.md"]);
    assert_eq!(names.lookups.load(Ordering::Relaxed), 1);
    for url in [
        format!("https://other.test:{port}/"),
        format!("https://docs.test.evil.test:{port}/"),
        format!("https://127.0.0.1:{port}/"),
    ] {
        let refused = get(&client, &url).await.unwrap_err();
        assert!(matches!(refused, OutboundError::NotAllowed { .. }), "{url}: {refused}");
    }
    let plain = get(&client, &format!("http://docs.test:{port}/")).await.unwrap_err();
    assert!(matches!(plain, OutboundError::Url { .. }), "{plain}");
    // A certificate that nobody vouches for is no certificate.
    let untrusted = Network { authorities: Vec::new(), ..network };
    let client = self::client(untrusted, &["docs.test"]);
    let failed = get(&client, &format!("https://docs.test:{port}/")).await.unwrap_err();
    assert!(matches!(failed, OutboundError::Unreachable { .. }), "{failed}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_named_host_is_not_reached_at_an_address_inside() {
    let inside = [
        ("loopback", "127.0.0.1"),
        ("loopback, version 6", "::1"),
        ("unspecified", "0.0.0.0"),
        ("link-local, where clouds have their metadata", "169.254.169.254"),
        ("link-local, version 6", "fe80::1"),
        ("private", "10.1.2.3"),
        ("private", "172.16.0.1"),
        ("private", "192.168.0.1"),
        ("unique local, with metadata of a cloud", "fd00:ec2::254"),
        ("between providers, with metadata of a cloud", "100.100.100.200"),
        ("metadata of a cloud at a public address", "168.63.129.16"),
        ("mapped", "::ffff:127.0.0.1"),
        ("translated", "64:ff9b::a9fe:a9fe"),
        ("tunnelled", "2002:7f00:1::1"),
        ("multicast", "224.0.0.1"),
    ];
    for (class, address) in inside {
        let names = book(&[("docs.test", &[address])]);
        let network = Network { resolver: names, ..Network::default() };
        let refused =
            get(&client(network, &["docs.test"]), "https://docs.test/").await.unwrap_err();
        let expected = OutboundError::Refused {
            host: String::from("docs.test"),
            address: address.parse::<IpAddr>().unwrap().to_string(),
        };
        assert_eq!(refused, expected, "{class}");
        // Naming the address itself does not help either.
        let host = if address.contains(':') { format!("[{address}]") } else { address.to_owned() };
        let client = client(Network::default(), &[&host]);
        let refused = get(&client, &format!("https://{host}/")).await.unwrap_err();
        assert!(matches!(refused, OutboundError::Refused { .. }), "{class}: {refused}");
    }
}

#[tokio::test]
async fn redirects_lead_only_where_the_first_request_could_have_gone() {
    let server = HttpsServer::start(&["docs.test", "more.test"], |path| match path {
        "/moved" => response("302 Found\r\nlocation: /here", ""),
        "/here" => response("200 OK", "here"),
        target => response(&format!("302 Found\r\nlocation: {}", &target[1..]), ""),
    });
    let names = book(&[
        ("docs.test", &["127.0.0.1"]),
        ("more.test", &["127.0.0.1"]),
        ("inside.test", &["10.0.0.1"]),
    ]);
    let network = Network {
        resolver: names,
        is_public: is_public_or_the_server,
        authorities: vec![server.authority.clone()],
    };
    let client = client(network, &["docs.test", "more.test", "inside.test"]);
    let start = format!("https://docs.test:{}", server.address.port());
    let more = format!("https://more.test:{}", server.address.port());
    assert_eq!(get(&client, &format!("{start}/moved")).await.unwrap(), "here");
    assert_eq!(get(&client, &format!("{start}/{more}/moved")).await.unwrap(), "here");
    for (target, is_expected) in [
        (start.replace("https", "http"), OutboundError::is_refusal as fn(&OutboundError) -> bool),
        ("https://strange.test/".to_owned(), |e| matches!(e, OutboundError::NotAllowed { .. })),
        ("https://inside.test/".to_owned(), |e| matches!(e, OutboundError::Refused { .. })),
        ("https://169.254.169.254/".to_owned(), |e| matches!(e, OutboundError::NotAllowed { .. })),
        ("file:///etc/passwd".to_owned(), OutboundError::is_refusal),
    ] {
        let refused = get(&client, &format!("{start}/{target}")).await.unwrap_err();
        assert!(is_expected(&refused), "{target}: {refused}");
    }
}
