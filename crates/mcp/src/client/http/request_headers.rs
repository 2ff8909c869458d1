//! The headers that repeat a modern request for those who do not read bodies.

use http::header::{HeaderMap, HeaderName, HeaderValue};

use crate::header;
use crate::message::Request;
use crate::mirror::{self, HeaderParameter};

/// Adds the headers that repeat a request.
pub(super) fn add(headers: &mut HeaderMap, request: &Request, parameters: &[HeaderParameter]) {
    insert(headers, header::METHOD, &request.method);
    let params = request.params.as_deref();
    if let Some(name) = mirror::name_of(&request.method, params) {
        insert(headers, header::NAME, &mirror::encode(&name));
    }
    if parameters.is_empty() {
        return;
    }
    for (parameter, value) in parameters.iter().zip(mirror::parameter_values(parameters, params)) {
        if let Some(value) = value {
            let name = format!("{}{}", header::PARAMETER_PREFIX, parameter.header);
            insert(headers, &name, &mirror::encode(&value));
        }
    }
}

/// The tool a request calls, if it calls one.
pub(super) fn tool_of(request: &Request) -> Option<String> {
    let calls = request.method == "tools/call";
    calls.then(|| mirror::name_of(&request.method, request.params.as_deref())).flatten()
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
        headers.insert(name, value);
    }
}
