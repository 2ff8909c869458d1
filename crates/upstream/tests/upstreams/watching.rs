//! Resources that a server shall tell of.

use std::collections::BTreeSet;

use mcpgraph_testkit::observe::{Log, eventually};
use mcpgraph_upstream::UpstreamError;

use crate::support::{call, misbehaving, upstreams};

fn set<const N: usize>(uris: [&str; N]) -> BTreeSet<String> {
    uris.into_iter().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_server_is_started_to_watch_and_told_again_after_every_start() {
    for era in ["legacy", "modern"] {
        let (starts, record) = (Log::new(), Log::new());
        let options =
            ["--era", era, "--starts", &starts.argument(), "--record", &record.argument()];
        let Some(spec) = misbehaving(&options) else { return };
        let told = || match era {
            "legacy" => record.messages("resources/subscribe").len(),
            _ => record.messages("subscriptions/listen").len(),
        };
        let upstreams = upstreams([("s", spec)]);
        upstreams.watch_resources("s", set([])).unwrap();
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        assert!(starts.lines().is_empty());
        upstreams.watch_resources("s", set(["a:1"])).unwrap();
        upstreams.watch_resources("s", set(["a:1"])).unwrap();
        eventually(|| told() == 1).await;
        assert!(record.last().contains("a:1"), "{era}");
        // A death does not end the watching.
        call(&upstreams, "s", "echo", "{}").await.unwrap();
        call(&upstreams, "s", "die", "{}").await.unwrap_err();
        eventually(|| told() == 2).await;
        assert_eq!(starts.lines().len(), 2, "{era}");
    }
}

#[tokio::test]
async fn only_known_servers_watch() {
    let upstreams = upstreams([]);
    let error = upstreams.watch_resources("s", set(["a:1"])).unwrap_err();
    assert!(matches!(error, UpstreamError::UnknownServer { .. }), "{error:?}");
}
