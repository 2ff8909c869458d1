//! The shape of results in each era.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::edit::Members;
use crate::message::{Raw, RpcError, code, raw};
use crate::meta_key;
use crate::version::{Era, Version};

/// Whether a result of this method says how long it may be cached.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// Gives an outcome the shape the client's version has. What is in it already stays as it is.
pub(crate) fn for_client(
    version: Version,
    method: &str,
    outcome: Result<Raw, RpcError>,
    server_info: &RawValue,
) -> Result<Raw, RpcError> {
    match (version.era(), outcome) {
        (Era::Modern, Ok(result)) => Ok(to_modern(method, result, server_info)),
        (Era::Legacy, Ok(result)) => to_legacy(method, result),
        (Era::Modern, Err(mut error)) => {
            if error.code == code::RESOURCE_NOT_FOUND && method == "resources/read" {
                error.code = code::INVALID_PARAMS;
            }
            Err(error)
        }
        (Era::Legacy, Err(error)) => Err(error),
    }
}

fn to_modern(method: &str, result: Raw, server_info: &RawValue) -> Raw {
    let Some(mut members) = Members::of(&result) else { return result };
    let complete = raw("complete");
    let is_complete = match members.get("resultType") {
        Some(kind) => kind.get() == complete.get(),
        None => {
            members.set("resultType", Cow::Borrowed(&complete));
            true
        }
    };
    if is_complete && is_cacheable(method) {
        // Without the service's word nothing may be kept, and nothing shared.
        for (key, least) in [("ttlMs", raw(&0)), ("cacheScope", raw("private"))] {
            if members.get(key).is_none() {
                members.set(key, Cow::Owned(least));
            }
        }
    }
    match members.get("_meta").map(Members::of) {
        None => {
            let meta =
                raw(&std::collections::BTreeMap::from([(meta_key::SERVER_INFO, server_info)]));
            members.set("_meta", Cow::Owned(meta));
        }
        Some(Some(mut meta)) if meta.get(meta_key::SERVER_INFO).is_none() => {
            meta.set(meta_key::SERVER_INFO, Cow::Borrowed(server_info));
            let meta = meta.to_raw();
            members.set("_meta", Cow::Owned(meta));
        }
        Some(_) => {}
    }
    members.to_raw()
}

fn to_legacy(method: &str, result: Raw) -> Result<Raw, RpcError> {
    let modern: &[&str] =
        if is_cacheable(method) { &["resultType", "ttlMs", "cacheScope"] } else { &["resultType"] };
    // Most results have none of them, and a search is cheaper than taking the object apart.
    if !modern.iter().any(|key| result.get().contains(key)) {
        return Ok(result);
    }
    let Some(mut members) = Members::of(&result) else { return Ok(result) };
    if let Some(kind) = members.get("resultType")
        && kind.get() != raw("complete").get()
    {
        return Err(RpcError::internal(format!(
            "the result is of type {}, which this protocol version does not have",
            kind.get()
        )));
    }
    if !members.remove(modern) {
        return Ok(result);
    }
    Ok(members.to_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shaped(version: Version, method: &str, result: &str) -> String {
        let result: Raw = serde_json::from_str(result).unwrap();
        let info = raw(&serde_json::json!({"name": "s"}));
        match for_client(version, method, Ok(result), &info) {
            Ok(result) => result.get().to_owned(),
            Err(error) => error.to_string(),
        }
    }

    const STAMP: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"s"}"#;

    #[test]
    fn modern_results_get_what_they_lack() {
        let modern = |method, result| shaped(Version::LATEST, method, result);
        assert_eq!(
            modern("tools/call", r#"{"content":[ 1.0 ]}"#),
            format!(r#"{{"content":[ 1.0 ],"resultType":"complete","_meta":{{{STAMP}}}}}"#)
        );
        assert_eq!(
            modern("tools/list", r#"{"tools":[],"ttlMs":5,"_meta":{"a":1}}"#),
            format!(
                r#"{{"tools":[],"ttlMs":5,"_meta":{{"a":1,{STAMP}}},"resultType":"complete","cacheScope":"private"}}"#
            )
        );
        assert_eq!(
            modern("resources/read", r#"{"resultType":"input_required","_meta":{}}"#),
            format!(r#"{{"resultType":"input_required","_meta":{{{STAMP}}}}}"#)
        );
        let own = r#"{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{}}}"#;
        assert_eq!(modern("tools/call", own), own);
        assert_eq!(modern("tools/call", "[1]"), "[1]");
    }

    #[test]
    fn legacy_results_lose_what_they_never_had() {
        let legacy = |method, result| shaped(Version::LATEST_LEGACY, method, result);
        assert_eq!(
            legacy(
                "tools/list",
                r#"{"resultType":"complete","tools":[],"ttlMs":1,"x":{"ttlMs":2}}"#
            ),
            r#"{"tools":[],"x":{"ttlMs":2}}"#
        );
        let untouched = "{\"content\": [\"resultType\"],\t\"ttlMs\": 1}";
        assert_eq!(legacy("tools/call", untouched), untouched);
        assert!(
            legacy("tools/call", r#"{"resultType":"input_required"}"#).contains("input_required")
        );
    }

    #[test]
    fn a_missing_resource_has_each_eras_code() {
        let missing = || Err(RpcError::new(code::RESOURCE_NOT_FOUND, "x"));
        let of = |version| {
            for_client(version, "resources/read", missing(), RawValue::NULL).unwrap_err().code
        };
        assert_eq!(of(Version::LATEST), code::INVALID_PARAMS);
        assert_eq!(of(Version::LATEST_LEGACY), code::RESOURCE_NOT_FOUND);
    }
}
