//! What the headers of a request must say.

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, StatusCode};

use super::respond::{self, Refused, invalid};
use crate::header;
use crate::message::{Request, RpcError, code};
use crate::meta_key;
use crate::mirror;
use crate::server::client::{Client, Meta};
use crate::server::handshake;
use crate::server::service::Service;
use crate::version::{Era, Version};

/// The client takes responses of these types.
pub(super) fn accepts(headers: &HeaderMap, types: &[&str]) -> Result<(), Refused> {
    let accepted: Vec<&str> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|range| range.split(';').next().unwrap_or_default().trim())
        .collect();
    let takes = |wanted: &str| {
        accepted.iter().any(|range| {
            *range == "*/*"
                || range.eq_ignore_ascii_case(wanted)
                || range.strip_suffix("/*").is_some_and(|kind| {
                    wanted.split('/').next().is_some_and(|it| it.eq_ignore_ascii_case(kind))
                })
        })
    };
    if types.iter().all(|wanted| takes(wanted)) {
        return Ok(());
    }
    Err(invalid(StatusCode::NOT_ACCEPTABLE, format!("`Accept` must name {}", types.join(" and "))))
}

/// The body is said to be JSON.
pub(super) fn is_json(headers: &HeaderMap) -> Result<(), Refused> {
    let given = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media = given.and_then(|value| value.split(';').next()).unwrap_or_default().trim();
    if media.eq_ignore_ascii_case(respond::JSON) {
        return Ok(());
    }
    Err(invalid(
        StatusCode::UNSUPPORTED_MEDIA_TYPE,
        format!("`Content-Type` must be {}", respond::JSON),
    ))
}

/// Whether the headers name a modern version.
pub(super) fn names_modern(headers: &HeaderMap) -> bool {
    single(headers, header::PROTOCOL_VERSION)
        .ok()
        .flatten()
        .and_then(Version::parse)
        .is_some_and(|version| version.era() == Era::Modern)
}

/// Whether a request is of the modern era, by its headers or its body.
pub(super) fn is_modern(headers: &HeaderMap, request: &Request, meta: &Meta) -> bool {
    !handshake::opens_session(request)
        && (names_modern(headers) || handshake::is_modern(request, meta))
}

/// The version that a legacy request names in its headers is one of the legacy era.
pub(super) fn legacy_version(headers: &HeaderMap) -> Result<(), Refused> {
    match single(headers, header::PROTOCOL_VERSION) {
        Ok(None) => Ok(()),
        Ok(Some(name)) if Version::parse(name).is_some_and(|it| it.era() == Era::Legacy) => Ok(()),
        Ok(Some(name)) => Err(invalid(
            StatusCode::BAD_REQUEST,
            format!("Unsupported protocol version in `MCP-Protocol-Version`: {name}"),
        )),
        Err(why) => Err(invalid(StatusCode::BAD_REQUEST, why)),
    }
}

/// The headers of a modern request name the version that its body names.
pub(super) fn same_version(headers: &HeaderMap, meta: &Meta) -> Result<(), RpcError> {
    // A body without a version has an error of its own.
    let Some(body) = meta.get_str(meta_key::PROTOCOL_VERSION) else { return Ok(()) };
    same(headers, header::PROTOCOL_VERSION, Some(&body)).map_err(mismatch)
}

/// The headers of a modern request mirror its body.
pub(super) fn mirrors(
    headers: &HeaderMap,
    request: &Request,
    client: &Client,
    service: &dyn Service,
) -> Result<(), RpcError> {
    let params = request.params.as_deref();
    same(headers, header::METHOD, Some(&request.method)).map_err(mismatch)?;
    let name = mirror::name_of(&request.method, params);
    if let Some(name) = &name {
        same(headers, header::NAME, Some(name)).map_err(mismatch)?;
    }
    let Some(tool) = name.filter(|_| request.method == "tools/call") else { return Ok(()) };
    let Some(parameters) = service.header_parameters(client, &tool) else { return Ok(()) };
    let values = mirror::parameter_values(&parameters, params);
    for (parameter, value) in parameters.iter().zip(values) {
        let header = format!("{}{}", header::PARAMETER_PREFIX, parameter.header);
        same(headers, &header, value.as_deref()).map_err(mismatch)?;
    }
    Ok(())
}

/// A header holds what the body holds, or neither has it.
fn same(headers: &HeaderMap, name: &str, body: Option<&str>) -> Result<(), String> {
    match (single(headers, name)?, body) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(format!("the header `{name}` is missing")),
        (Some(_), None) => Err(format!("the header `{name}` is there, its value in the body not")),
        (Some(header), Some(body)) => {
            let header = mirror::decode(header)
                .ok_or_else(|| format!("the header `{name}` is not valid base64"))?;
            if header == body || is_same_number(&header, body) {
                return Ok(());
            }
            Err(format!("the header `{name}` says `{header}`, the body `{body}`"))
        }
    }
}

/// Whether two texts are ways to write one number.
fn is_same_number(one: &str, other: &str) -> bool {
    let number = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|_| text.starts_with(['-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']))
    };
    // Beyond what a double tells apart, only the same text is the same number.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    matches!((number(one), number(other)), (Some(a), Some(b)) if a == b && a.abs() < EXACT)
}

/// The only value of a header. A second one could be what somebody in between went by.
fn single<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(_), Some(_)) => Err(format!("the header `{name}` is there twice")),
        (Some(value), None) => value
            .to_str()
            .map(Some)
            .map_err(|_| format!("the header `{name}` holds more than printable characters")),
    }
}

fn mismatch(why: String) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, why)
}

/// The value of `Mcp-Session-Id`.
pub(super) fn session_key(headers: &HeaderMap) -> Result<Option<&str>, Refused> {
    single(headers, header::SESSION_ID).map_err(|why| invalid(StatusCode::BAD_REQUEST, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(
                http::HeaderName::try_from(*name).unwrap(),
                http::HeaderValue::from_str(value).unwrap(),
            );
        }
        headers
    }

    #[test]
    fn both_kinds_of_response_are_accepted() {
        let both = ["application/json", "text/event-stream"];
        for accept in [
            "application/json, text/event-stream",
            "text/event-stream;q=0.9,Application/JSON;charset=utf-8",
            "*/*",
            "application/*, text/*",
        ] {
            assert!(accepts(&headers(&[("accept", accept)]), &both).is_ok(), "{accept}");
        }
        for accept in ["application/json", "text/event-stream", "", "text/html"] {
            let refused = accepts(&headers(&[("accept", accept)]), &both).unwrap_err();
            assert_eq!(refused.into_response().status(), StatusCode::NOT_ACCEPTABLE, "{accept}");
        }
        let two = headers(&[("accept", "application/json"), ("accept", "text/event-stream")]);
        assert!(accepts(&two, &both).is_ok());
    }

    #[test]
    fn a_header_says_what_the_body_says() {
        let of = |pairs: &[(&str, &str)], body| same(&headers(pairs), "mcp-name", body).is_ok();
        assert!(of(&[("Mcp-Name", "a")], Some("a")));
        assert!(of(&[("Mcp-Name", "=?base64?w6k=?=")], Some("é")));
        assert!(of(&[("Mcp-Name", "42")], Some("42.0")));
        assert!(of(&[], None));
        assert!(!of(&[("Mcp-Name", "a")], Some("A")));
        assert!(!of(&[("Mcp-Name", "a")], None));
        assert!(!of(&[], Some("a")));
        assert!(!of(&[("Mcp-Name", "a"), ("Mcp-Name", "a")], Some("a")));
        assert!(!of(&[("Mcp-Name", "=?base64?%?=")], Some("a")));
        assert!(!of(&[("Mcp-Name", "9007199254740993")], Some("9007199254740992")));
        assert!(!of(&[("Mcp-Name", "inf")], Some("Infinity")));
    }
}
