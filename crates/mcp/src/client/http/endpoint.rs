//! One URL and how it is asked: client, headers, limits, and errors that show no secrets.

use std::time::Duration;

use bytes::BytesMut;
use http::header::{
    ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, WWW_AUTHENTICATE,
};
use http::{Method, StatusCode};
use mcpgraph_diagnostics::Secrets;
use reqwest::{Response, Url};

use super::super::{ClientError, ClientOptions, HttpConfig, secrets};
use super::event_stream::EventStream;
use crate::header;
use crate::message::{Message, RpcError};
use crate::sse;
use crate::trace;

/// How long a connection may take to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an idle connection is kept. Node's servers close theirs after five seconds, and a
/// request that meets that moment is lost.
const IDLE_TIMEOUT: Duration = Duration::from_secs(4);
/// How much of the body of a refusal is shown.
const SHOWN_BODY: usize = 300;
/// How much of the body of a refusal is read.
const REFUSAL_BYTES: usize = 64 * 1024;

/// Headers that belong to the protocol or to HTTP, not to the configuration.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    header::LAST_EVENT_ID,
    header::METHOD,
    header::NAME,
    header::PROTOCOL_VERSION,
    header::SESSION_ID,
    "transfer-encoding",
];

/// A URL with everything needed to ask it.
#[derive(Clone)]
pub(super) struct Endpoint {
    client: reqwest::Client,
    url: Url,
    headers: HeaderMap,
    secrets: Secrets,
    pub(super) max_bytes: usize,
}

/// What a request was answered with, before its body is read.
pub(super) enum Answer {
    /// One JSON text.
    Json(Response),
    /// A stream of events.
    Events(Box<EventStream>),
    /// Nothing but that it was taken.
    Accepted,
    /// A status that is no success.
    Refused(Refusal),
}

/// A status that is no success, and what was said with it.
pub(super) struct Refusal {
    pub(super) status: StatusCode,
    /// The JSON-RPC error of the body, if there is one.
    pub(super) error: Option<RpcError>,
    detail: String,
    challenge: Option<String>,
}

impl Endpoint {
    pub(super) fn new(config: &HttpConfig, options: &ClientOptions) -> Result<Self, ClientError> {
        let url = Url::parse(&config.url)
            .map_err(|error| ClientError::Config(format!("the URL cannot be read: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(ClientError::Config(format!(
                "the URL must begin with http:// or https://, not {}:",
                url.scheme()
            )));
        }
        // The first one counts for the whole process; a host program may have chosen another.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = reqwest::Client::builder()
            // A redirect could take credentials to another host.
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .connect_timeout(CONNECT_TIMEOUT)
            .pool_idle_timeout(IDLE_TIMEOUT);
        if is_loopback(&url) {
            builder = builder.no_proxy();
        }
        let client = builder
            .build()
            .map_err(|error| ClientError::Config(format!("no HTTP client: {error}")))?;
        let secrets = secrets::of_url(config);
        let headers = headers_of(config)?;
        Ok(Self { client, url, headers, secrets, max_bytes: options.max_message_bytes })
    }

    /// The same with another URL.
    pub(super) fn at(&self, url: Url) -> Self {
        Self { url, ..self.clone() }
    }

    /// What must not be shown of what the server says.
    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(super) fn url(&self) -> &Url {
        &self.url
    }

    /// Sends a message, a request with the trace it belongs to.
    pub(super) async fn post(
        &self,
        message: &Message,
        mut headers: HeaderMap,
    ) -> Result<Answer, ClientError> {
        trace::add_headers(&mut headers, message);
        let request = self
            .request(Method::POST, headers)
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_json());
        self.answer(request.send().await).await
    }

    /// Opens a stream of events.
    pub(super) async fn get(&self, headers: HeaderMap) -> Result<Answer, ClientError> {
        let request = self.request(Method::GET, headers).header(ACCEPT, sse::CONTENT_TYPE);
        self.answer(request.send().await).await
    }

    /// Ends what the headers name.
    pub(super) async fn delete(&self, headers: HeaderMap) -> Result<(), ClientError> {
        self.request(Method::DELETE, headers).send().await.map_err(|error| self.network(error))?;
        Ok(())
    }

    fn request(&self, method: Method, headers: HeaderMap) -> reqwest::RequestBuilder {
        self.client.request(method, self.url.clone()).headers(self.headers.clone()).headers(headers)
    }

    async fn answer(
        &self,
        response: Result<Response, reqwest::Error>,
    ) -> Result<Answer, ClientError> {
        let response = response.map_err(|error| self.network(error))?;
        let status = response.status();
        if !status.is_success() {
            return Ok(Answer::Refused(self.refusal(response).await));
        }
        let is_empty = matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT)
            || response.content_length() == Some(0);
        if is_empty {
            return Ok(Answer::Accepted);
        }
        let content_type = media_type(&response);
        match content_type.as_str() {
            "application/json" => Ok(Answer::Json(response)),
            sse::CONTENT_TYPE => {
                let events = EventStream::new(response, self.clone());
                Ok(Answer::Events(Box::new(events)))
            }
            _ => Err(ClientError::Protocol(format!(
                "{} answered with `{}`, neither JSON nor a stream of events",
                self.origin(),
                content_type.chars().take(80).collect::<String>()
            ))),
        }
    }

    /// Reads a whole body within the limit.
    pub(super) async fn body(&self, response: Response) -> Result<BytesMut, ClientError> {
        self.body_within(response, self.max_bytes).await
    }

    async fn body_within(
        &self,
        mut response: Response,
        limit: usize,
    ) -> Result<BytesMut, ClientError> {
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.network(error))? {
            if body.len() + chunk.len() > limit {
                return Err(ClientError::TooLarge { limit });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(body)
    }

    async fn refusal(&self, response: Response) -> Refusal {
        let status = response.status();
        let header = |name: HeaderName| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        let challenge = header(WWW_AUTHENTICATE);
        let location = header(LOCATION);
        let body = self.body_within(response, REFUSAL_BYTES).await.unwrap_or_default();
        let error = match Message::from_json(&body) {
            Ok(Message::Response(response)) => response.outcome.err(),
            _ => None,
        };
        let detail = if status.is_redirection() {
            let target = location.as_deref().map_or_else(
                || "elsewhere".to_owned(),
                |target| {
                    self.url.join(target).map_or_else(
                        |_| "elsewhere".to_owned(),
                        |url| url.origin().ascii_serialization(),
                    )
                },
            );
            format!("it redirects to {target}, and redirects are not followed: use the final URL")
        } else {
            let text = String::from_utf8_lossy(&body);
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.secrets.hide(&text).chars().take(SHOWN_BODY).collect()
        };
        Refusal { status, error, detail, challenge }
    }

    /// Scheme, host and port.
    pub(super) fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// An error of the way to the server, with its causes and without the URL.
    pub(super) fn network(&self, error: reqwest::Error) -> ClientError {
        let error = error.without_url();
        let mut reason = error.to_string();
        let mut cause = std::error::Error::source(&error);
        while let Some(next) = cause {
            let text = next.to_string();
            if !reason.contains(&text) {
                reason = format!("{reason}: {text}");
            }
            cause = next.source();
        }
        self.broken(&self.secrets.hide(&reason))
    }

    /// An error of the way to the server.
    pub(super) fn broken(&self, reason: &str) -> ClientError {
        ClientError::Network { origin: self.origin(), reason: reason.to_owned() }
    }

    /// A refusal as an error.
    pub(super) fn refused(&self, refusal: Refusal) -> ClientError {
        ClientError::Http {
            origin: self.origin(),
            status: refusal.status.as_u16(),
            detail: refusal.detail,
            challenge: refusal.challenge,
        }
    }
}

fn headers_of(config: &HttpConfig) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let invalid = |why: &str| ClientError::Config(format!("the header `{name}` {why}"));
        let parsed: HeaderName =
            name.parse().map_err(|_| invalid("has a name that HTTP does not allow"))?;
        if RESERVED.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-param-") {
            return Err(invalid("is set by the protocol and cannot be configured"));
        }
        let mut value: HeaderValue =
            value.parse().map_err(|_| invalid("has a value that HTTP does not allow"))?;
        value.set_sensitive(true);
        headers.append(parsed, value);
    }
    Ok(headers)
}

/// The media type without its parameters.
fn media_type(response: &Response) -> String {
    response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// Whether the server runs on this machine, where a proxy has no business.
fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}
