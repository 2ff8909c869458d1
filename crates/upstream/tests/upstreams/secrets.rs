//! What servers are given and tell in errors is not told by us.

use mcpgraph_mcp::client::TransportConfig;
use mcpgraph_upstream::{ServerSpec, UpstreamError};

use crate::support::{misbehaving, upstreams};

const SECRET: &str = "s3cret-of-the-server-41c7";

fn with_secret(options: &[&str]) -> Option<ServerSpec> {
    let mut spec = misbehaving(options)?;
    if let TransportConfig::Stdio(config) = &mut spec.target {
        config.env.insert("SECRET".to_owned(), SECRET.to_owned());
    }
    Some(spec)
}

#[tokio::test]
async fn errors_of_starts_and_lists_show_no_secrets() {
    for options in [&["--on-initialize", "blab"], &["--on-list", "blab"]] {
        let Some(spec) = with_secret(options) else { return };
        let upstreams = upstreams([("s", spec)]);
        let error = upstreams.list_tools("s").await.unwrap_err();
        if let UpstreamError::Protocol { error, .. } = &error {
            assert!(error.code == -32000 && error.data.is_none(), "{error:?}");
        }
        let status = upstreams.status().remove(0);
        let told = format!("{error:?} {error} {:?} {:?}", status.failure, status.stderr);
        assert!(told.contains("no entry with [hidden]") && !told.contains(SECRET), "{told}");
    }
}
