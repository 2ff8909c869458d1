//! Three processes with one database behind a load balancer without stickiness: nobody can tell
//! them from one.

use std::net::SocketAddr;

use mcpgraph_testkit::{Environment, HttpServer, PostgresServer, RoundRobin};
use serde_json::json;

use crate::clients::check_every_client;
use crate::conformance;
use crate::product::Product;

/// Processes behind a load balancer.
struct Replicas {
    proxy: RoundRobin,
    _processes: Vec<HttpServer>,
    _database: PostgresServer,
}

impl Replicas {
    /// Three of a product; none, with the reason on stderr, where PostgreSQL is not installed.
    fn start(product: &Product) -> Option<Self> {
        let database = PostgresServer::start()?;
        let processes: Vec<HttpServer> =
            (0..3).map(|_| product.with_store(&database.url())).collect();
        let proxy = RoundRobin::start(processes.iter().map(address));
        Some(Self { proxy, _processes: processes, _database: database })
    }

    fn url(&self) -> String {
        format!("http://{}/mcp", self.proxy.address())
    }
}

/// Where a process listens.
fn address(process: &HttpServer) -> SocketAddr {
    process.url("").trim_start_matches("http://").parse().unwrap()
}

#[test]
fn every_client_calls_graph_tools_of_any_replica() {
    let Some(environment) = Environment::find() else { return };
    let Some(replicas) = Replicas::start(&Product::new("graph.yaml")) else { return };
    check_every_client(&environment, &json!({ "type": "http", "url": replicas.url() }));
}

/// Each round of a question and each request of a session reaches another replica.
#[test]
fn replicas_pass_the_suite() {
    let Some(environment) = Environment::find() else { return };
    let Some(fixture) = conformance::fixture() else { return };
    let fixture = HttpServer::start(|port| fixture.arg("--http").arg(format!("127.0.0.1:{port}")));
    let mut upstream = fixture.to_json();
    upstream["expose"] = json!({ "prefix": "none" });
    let product = Product::with_server("conformance.yaml", "fixture", &upstream);
    let Some(replicas) = Replicas::start(&product) else { return };
    conformance::passes(&environment, &replicas.url());
}
