//! Our ids in what a server sends.

use serde::Deserialize;
use serde_json::value::RawValue;

/// The request a progress notification is about; our tokens are our ids.
pub(super) fn progress_of(params: &RawValue) -> Option<u64> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
    }
    serde_json::from_str::<Params<'_>>(params.get())
        .ok()
        .and_then(|params| number_of(params.progress_token.get()))
}

/// One of our ids; some servers give it back as a string.
pub(super) fn number_of(json: &str) -> Option<u64> {
    json.trim_matches('"').parse().ok()
}
