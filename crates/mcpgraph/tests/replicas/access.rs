//! Tokens and rates that hold on all replicas.

use serde_json::{Value, json};

use crate::cluster::{Client, Cluster, database, done, graph, soon};

fn token(store: &str, arguments: &[&str]) -> String {
    let added = done(store, &[&["tokens", "add"], arguments].concat());
    String::from_utf8(added.stdout).unwrap().trim().to_owned()
}

/// The same client at each replica.
fn everywhere(cluster: &Cluster, token: &str) -> Vec<Client> {
    let client = cluster.client().with_token(token);
    cluster.replicas.iter().map(|replica| client.at(replica.address)).collect()
}

#[test]
fn a_token_counts_on_all_replicas_within_a_second() {
    let Some(store) = database() else { return };
    let first = token(&store, &["--name", "first"]);
    let cluster = Cluster::of_graph(store, &graph());
    let status = |client: &Client| client.ask("tools/list", json!({})).status;
    for client in everywhere(&cluster, &first) {
        assert_eq!(status(&client), 200);
        assert_eq!(status(&Client { token: None, ..client }), 401);
    }
    let second = token(&cluster.store, &["--name", "second", "--tools", "count"]);
    let clients = everywhere(&cluster, &second);
    soon("it is known", || clients.iter().all(|client| status(client) == 200));
    assert_eq!(clients[1].tools(), ["count"]);
    done(&cluster.store, &["tokens", "rm", "second"]);
    soon("it is refused", || clients.iter().all(|client| status(client) == 401));
    let listed = done(&cluster.store, &["tokens", "ls", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    assert_eq!(listed["tokens"].as_array().unwrap().len(), 1, "{listed}");
}

/// Replicas that were started without any token ask for one as soon as the first is made.
#[test]
fn the_first_token_closes_all_replicas_within_a_second() {
    let Some(store) = database() else { return };
    let cluster = Cluster::of_graph(store, &graph());
    let anonymous: Vec<Client> =
        cluster.replicas.iter().map(|replica| cluster.client().at(replica.address)).collect();
    let status = |client: &Client| client.ask("tools/list", json!({})).status;
    assert!(anonymous.iter().all(|client| status(client) == 200));
    let session = cluster.client().initialized();
    let first = token(&cluster.store, &["--name", "first"]);
    soon("nobody else is let in", || anonymous.iter().all(|client| status(client) == 401));
    for client in everywhere(&cluster, &first) {
        assert_eq!(status(&client), 200);
    }
    // A session that nobody owned is not whoever comes later.
    assert_eq!(session.with_token(&first).ask("ping", json!({})).status, 404);
    // Taking the last one away opens nothing.
    done(&cluster.store, &["tokens", "rm", "first"]);
    let clients = everywhere(&cluster, &first);
    soon("it is refused", || clients.iter().all(|client| status(client) == 401));
    assert!(anonymous.iter().all(|client| status(client) == 401));
}

#[test]
fn a_session_is_that_of_its_token_everywhere() {
    let Some(store) = database() else { return };
    let (mine, other) = (token(&store, &["--name", "mine"]), token(&store, &["--name", "other"]));
    let cluster = Cluster::of_graph(store, &graph());
    let client = cluster.client().with_token(&mine).initialized();
    for _ in 0..2 {
        assert_eq!(client.ask("ping", json!({})).status, 200);
        assert_eq!(client.clone().with_token(&other).ask("ping", json!({})).status, 404);
    }
}

#[test]
fn a_rate_is_counted_together() {
    let Some(store) = database() else { return };
    let token = token(&store, &["--name", "slow", "--rate", "6/h"]);
    let cluster = Cluster::of_graph(store, &graph());
    let client = cluster.client().with_token(&token);
    let made = (0..12).filter(|_| client.call("count", json!({ "n": 1 }))["result"].is_object());
    assert_eq!(made.count(), 6);
    let refused = client.call("count", json!({ "n": 1 }));
    assert_eq!(refused["error"]["data"]["code"], "MG0611", "{refused}");
    assert!(refused["error"]["data"]["retryAfterMs"].as_u64().unwrap() > 60_000, "{refused}");
}

/// What those who run replicas are told of the database that these share.
#[test]
fn the_doctor_looks_at_the_database() {
    let Some(store) = database() else { return };
    let said = done(&store, &["doctor", "-g", graph().to_str().unwrap(), "--json"]);
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let found = |name: &str| {
        let checks = said["checks"].as_array().unwrap().iter();
        let check = checks.clone().find(|check| check["check"] == name);
        check.unwrap_or_else(|| panic!("{said}"))["found"].as_str().unwrap().to_owned()
    };
    assert!(found("store").starts_with("PostgreSQL "), "{said}");
    assert!(found("clock").contains("ms from the database's"), "{said}");
    assert!(found("connections").contains("enough for "), "{said}");
}
