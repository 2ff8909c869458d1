use std::net::{IpAddr, Ipv4Addr};
use std::thread;

use mcpgraph_outbound::{LookUp, Resolver, is_public};
use mcpgraph_testkit::HttpsServer;

use super::*;

const TEXT: &str = "---\nagent: desk\n---\n```mermaid\nflowchart TD\nSTART --> END\n```\n";

/// A network on which every name leads to this machine.
struct Here;

impl Resolver for Here {
    fn look_up(&self, _: String) -> LookUp {
        Box::pin(async { Ok(vec![Ipv4Addr::LOCALHOST.into()]) })
    }
}

fn is_public_or_here(address: IpAddr) -> bool {
    address == IpAddr::from(Ipv4Addr::LOCALHOST) || is_public(address)
}

fn server() -> HttpsServer {
    HttpsServer::start(&["docs.test"], |path| {
        let head = |status: &str, length: usize| {
            format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n")
                .into_bytes()
        };
        match path {
            "/desk.md" => [head("200 OK", TEXT.len()), TEXT.into()].concat(),
            "/large.md" => {
                [head("200 OK", MAX_FILE_BYTES + 1), vec![b' '; MAX_FILE_BYTES + 1]].concat()
            }
            "/broken.md" => [head("200 OK", TEXT.len() + 1), TEXT.into()].concat(),
            "/bytes.md" => [head("200 OK", 1), vec![0xff]].concat(),
            "/slow.md" => {
                thread::sleep(Duration::from_millis(900));
                Vec::new()
            }
            _ => head("404 Not Found", 0),
        }
    })
}

#[tokio::test]
async fn procedures_come_from_hosts_that_are_named() {
    let server = server();
    let port = server.address.port();
    let network = Network {
        resolver: Arc::new(Here),
        is_public: is_public_or_here,
        authorities: vec![server.authority.clone()],
    };
    let mut remote = Remote::on(network, &["docs.test"]).unwrap();
    let address = format!("https://docs.test:{port}/desk.md");
    let source = remote.load(&address).await.unwrap();
    assert_eq!((source.name(), source.text()), (address.as_str(), TEXT));

    remote.0 = remote.0.within(Limits {
        time: Duration::from_millis(300),
        bytes: MAX_FILE_BYTES,
        ..Limits::default()
    });
    for (address, said) in [
        (format!("https://docs.test:{port}/nope.md"), "the server answers 404 Not Found"),
        (format!("https://docs.test:{port}/large.md"), "is larger than 1048576 bytes"),
        (format!("https://docs.test:{port}/broken.md"), "the answer breaks off"),
        (format!("https://docs.test:{port}/bytes.md"), "it is not text in UTF-8"),
        (format!("https://docs.test:{port}/slow.md"), "did not answer within 300 ms"),
        (format!("https://a:b@docs.test:{port}/desk.md"), "must not hold a name or password"),
        (format!("http://docs.test:{port}/desk.md"), "it must begin with https://"),
        (format!("https://other.test:{port}/desk.md"), "is not among the hosts that are allowed"),
        (String::from("https://:0/"), "is not a URL that can be asked"),
    ] {
        let problem = remote.load(&address).await.unwrap_err();
        assert!(problem.message.starts_with(&format!("`{address}` is not loaded: ")));
        assert!(problem.message.contains(said), "{}", problem.message);
    }
}

#[tokio::test]
async fn a_host_that_is_named_is_not_reached_on_this_machine() {
    let server = server();
    // The name is the operator's, the address is somebody else's.
    let network = Network {
        resolver: Arc::new(Here),
        authorities: vec![server.authority.clone()],
        ..Network::default()
    };
    let remote = Remote::on(network, &["docs.test", "127.0.0.1", "localhost"]).unwrap();
    for host in ["docs.test", "127.0.0.1", "localhost", "127.1", "2130706433"] {
        let address = format!("https://{host}:{}/desk.md", server.address.port());
        let problem = remote.load(&address).await.unwrap_err();
        assert!(problem.message.contains("which is not public"), "{}", problem.message);
    }
    assert_eq!(server.asked(), [""; 0]);
}
