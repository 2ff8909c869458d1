//! How a client and the server learn of each other, in each era.

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::client::{Client, Meta, SessionKey};
use super::service::Description;
use crate::message::{Raw, Request, RpcError, code, raw};
use crate::meta_key;
use crate::version::{Era, Version};

/// Reads who sends `initialize`, and settles the version.
pub(crate) fn legacy_client(
    params: Option<&RawValue>,
    session: SessionKey,
) -> Result<Client, RpcError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        protocol_version: String,
        capabilities: Option<Raw>,
        client_info: Option<Raw>,
    }
    let params = params.map_or("{}", RawValue::get);
    let params: Params = serde_json::from_str(params)
        .map_err(|error| RpcError::invalid_params(format!("`initialize`: {error}")))?;
    Ok(Client {
        version: negotiate(&params.protocol_version),
        info: params.client_info,
        capabilities: params.capabilities.unwrap_or_else(|| raw(&serde_json::json!({}))),
        session: Some(session),
        principal: None,
    })
}

/// The version a legacy session speaks when the client asks for `wanted`.
///
/// The handshake exists in the legacy era only, so a client that names a version without it, or
/// one we do not know, is offered the newest that has it.
fn negotiate(wanted: &str) -> Version {
    Version::parse(wanted)
        .filter(|version| version.era() == Era::Legacy)
        .unwrap_or(Version::LATEST_LEGACY)
}

/// The result of `initialize`.
pub(crate) fn initialize_result(
    client: &Client,
    description: &Description,
    server_info: &RawValue,
) -> Raw {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct InitializeResult<'a> {
        protocol_version: &'a str,
        capabilities: &'a RawValue,
        server_info: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    }
    raw(&InitializeResult {
        protocol_version: client.version.as_str(),
        capabilities: &description.capabilities,
        server_info,
        instructions: description.instructions.as_deref(),
    })
}

/// The result of `server/discover`.
pub(crate) fn discover_result(description: &Description) -> Raw {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct DiscoverResult<'a> {
        supported_versions: Vec<&'a str>,
        capabilities: &'a RawValue,
        #[serde(skip_serializing_if = "Option::is_none")]
        instructions: Option<&'a str>,
    }
    raw(&DiscoverResult {
        supported_versions: modern_versions(),
        capabilities: &description.capabilities,
        instructions: description.instructions.as_deref(),
    })
}

/// Whether a request belongs to the modern era: it says so, or only that era has it.
pub(crate) fn is_modern(request: &Request, meta: &Meta) -> bool {
    match request.method.as_str() {
        "server/discover" => true,
        "initialize" if opens_session(request) => false,
        _ => meta.get(meta_key::PROTOCOL_VERSION).is_some(),
    }
}

/// Whether this is `initialize` as the legacy era has it, whatever else it may say.
pub(crate) fn opens_session(request: &Request) -> bool {
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "protocolVersion")]
        _protocol_version: IgnoredAny,
    }
    let params = request.params.as_deref().map_or("{}", RawValue::get);
    request.method == "initialize" && serde_json::from_str::<Params>(params).is_ok()
}

/// Reads who sends a modern request.
pub(crate) fn modern_client(meta: &Meta) -> Result<Client, RpcError> {
    let is_object = |value: &&RawValue| value.get().starts_with('{');
    let wanted = meta.get_str(meta_key::PROTOCOL_VERSION);
    let capabilities = meta.get(meta_key::CLIENT_CAPABILITIES).filter(is_object);
    let version = match &wanted {
        Some(wanted) => Some(
            Version::parse(wanted)
                .filter(|version| version.era() == Era::Modern)
                .ok_or_else(|| unsupported(wanted))?,
        ),
        None => None,
    };
    let (Some(version), Some(capabilities)) = (version, capabilities) else {
        let missing: Vec<_> = [
            (version.is_none(), meta_key::PROTOCOL_VERSION),
            (capabilities.is_none(), meta_key::CLIENT_CAPABILITIES),
        ]
        .into_iter()
        .filter(|(is_missing, _)| *is_missing)
        .map(|(_, key)| format!("`{key}`"))
        .collect();
        return Err(RpcError::invalid_params(format!(
            "the request's `_meta` lacks {} (or send `initialize` first)",
            missing.join(" and ")
        )));
    };
    Ok(Client {
        version,
        info: meta.get(meta_key::CLIENT_INFO).filter(is_object).map(ToOwned::to_owned),
        capabilities: capabilities.to_owned(),
        session: None,
        principal: None,
    })
}

fn unsupported(wanted: &str) -> RpcError {
    RpcError::new(code::UNSUPPORTED_VERSION, format!("Unsupported protocol version: {wanted}"))
        .with_data(&serde_json::json!({ "supported": modern_versions(), "requested": wanted }))
}

/// The versions a request may name. Those that need `initialize` are not among them.
fn modern_versions() -> Vec<&'static str> {
    Version::ALL
        .into_iter()
        .filter(|version| version.era() == Era::Modern)
        .map(Version::as_str)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn legacy(params: &str) -> Result<Client, RpcError> {
        let params: Raw = serde_json::from_str(params).unwrap();
        legacy_client(Some(&params), SessionKey::random().unwrap())
    }

    #[test]
    fn the_handshake_settles_a_legacy_version() {
        for (wanted, got) in [
            ("2024-11-05", Version::V2024_11_05),
            ("2025-03-26", Version::V2025_03_26),
            ("2025-06-18", Version::V2025_06_18),
            ("2025-11-25", Version::V2025_11_25),
            ("2026-07-28", Version::V2025_11_25),
            ("2099-01-01", Version::V2025_11_25),
            ("", Version::V2025_11_25),
        ] {
            let client = legacy(&format!(r#"{{"protocolVersion":"{wanted}"}}"#)).unwrap();
            assert_eq!(client.version, got, "{wanted}");
            assert_eq!(client.capabilities.get(), "{}");
        }
        assert_eq!(legacy("{}").unwrap_err().code, code::INVALID_PARAMS);
        assert_eq!(legacy("[]").unwrap_err().code, code::INVALID_PARAMS);
    }

    #[test]
    fn a_modern_request_says_who_sends_it() {
        let read = |meta: serde_json::Value| {
            modern_client(&Meta::of(Some(&raw(&serde_json::json!({ "_meta": meta })))))
        };
        let version = meta_key::PROTOCOL_VERSION;
        let capabilities = meta_key::CLIENT_CAPABILITIES;
        let client = read(serde_json::json!({version: "2026-07-28", capabilities: {"roots": {}}}));
        assert!(client.unwrap().supports("roots"));
        for (meta, wanted) in [
            (serde_json::json!({}), code::INVALID_PARAMS),
            (serde_json::json!({version: "2026-07-28"}), code::INVALID_PARAMS),
            (serde_json::json!({version: "2026-07-28", capabilities: []}), code::INVALID_PARAMS),
            (serde_json::json!({version: 7, capabilities: {}}), code::INVALID_PARAMS),
            (serde_json::json!({capabilities: {}}), code::INVALID_PARAMS),
            (serde_json::json!({version: "2099-01-01"}), code::UNSUPPORTED_VERSION),
            (
                serde_json::json!({version: "2025-11-25", capabilities: {}}),
                code::UNSUPPORTED_VERSION,
            ),
        ] {
            assert_eq!(read(meta.clone()).unwrap_err().code, wanted, "{meta}");
        }
    }
}
