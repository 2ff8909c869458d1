use std::error::Error as _;
use std::time::Duration;

use bytes::Bytes;
use http::header::{AUTHORIZATION, COOKIE, LOCATION, PROXY_AUTHORIZATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::redirect::Policy;
use url::Url;

use crate::hosts::Reach;
use crate::resolve::{AtConnecting, NotPublic};
use crate::{Hosts, Network, OutboundError};

/// Sends requests to hosts that may be reached.
#[derive(Clone, Debug)]
pub struct Client {
    /// Connects only to public addresses.
    public: reqwest::Client,
    /// Connects to any.
    anywhere: reqwest::Client,
    network: Network,
    hosts: Hosts,
    only_https: bool,
    limits: Limits,
}

/// What one request may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long it may take, redirects and the body included.
    pub time: Duration,
    /// How large the body of the answer may be.
    pub bytes: usize,
    /// How often the answer may be that it is elsewhere.
    pub redirects: usize,
}

/// What to ask.
#[derive(Clone, Debug)]
pub struct Request {
    /// The method.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Response {
    /// Where the answer came from, after redirects.
    pub url: Url,
    /// The status.
    pub status: StatusCode,
    /// The words after the status, where they are not the usual ones.
    pub reason: Option<String>,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as far as it came.
    pub body: Bytes,
    /// Whether the body ended as its headers said.
    pub is_complete: bool,
}

/// How long it may take to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Default for Limits {
    fn default() -> Self {
        Self { time: Duration::from_secs(30), bytes: 10 * 1024 * 1024, redirects: 5 }
    }
}

impl Request {
    /// A request without anything special.
    pub fn get(url: &str) -> Result<Self, OutboundError> {
        let parsed = Url::parse(url)
            .map_err(|error| OutboundError::Url { url: url.to_owned(), why: error.to_string() })?;
        Ok(Self { method: Method::GET, url: parsed, headers: HeaderMap::new(), body: Bytes::new() })
    }

    /// Adds a header.
    pub fn header(&mut self, name: &str, value: &str) -> Result<(), OutboundError> {
        let refused = |why: String| OutboundError::Request(format!("the header `{name}`: {why}"));
        let key: HeaderName = name.parse().map_err(|_| refused("it has no name".to_owned()))?;
        let value = HeaderValue::from_str(value)
            .map_err(|_| refused("its value has characters that headers cannot have".to_owned()))?;
        self.headers.append(key, value);
        Ok(())
    }
}

impl Client {
    /// A client that reaches these hosts.
    pub fn new(hosts: Hosts, limits: Limits) -> Result<Self, OutboundError> {
        Self::on(Network::default(), hosts, limits)
    }

    /// A client that reaches these hosts on another network than this machine's.
    pub fn on(network: Network, hosts: Hosts, limits: Limits) -> Result<Self, OutboundError> {
        // The first one counts for the whole process; a host program may have chosen another.
        drop(rustls::crypto::ring::default_provider().install_default());
        let unusable = |error: reqwest::Error| OutboundError::Request(error.to_string());
        let authorities: Result<Vec<_>, _> = network
            .authorities
            .iter()
            .map(|certificate| reqwest::Certificate::from_der(certificate))
            .collect();
        let authorities = authorities.map_err(unusable)?;
        let build = |only_public| {
            reqwest::Client::builder()
                // Each redirect is checked and followed by us.
                .redirect(Policy::none())
                // A proxy would connect in our place, where nothing can be checked.
                .no_proxy()
                .tcp_nodelay(true)
                .connect_timeout(CONNECT_TIMEOUT)
                .dns_resolver(AtConnecting { network: network.clone(), only_public })
                .tls_certs_merge(authorities.iter().cloned())
                .build()
                .map_err(unusable)
        };
        let (public, anywhere) = (build(true)?, build(false)?);
        Ok(Self { public, anywhere, network, hosts, only_https: false, limits })
    }

    /// The same client for https alone, redirects included.
    #[must_use]
    pub fn encrypted(self) -> Self {
        Self { only_https: true, ..self }
    }

    /// The same client with other limits.
    #[must_use]
    pub fn within(&self, limits: Limits) -> Self {
        Self { limits, ..self.clone() }
    }

    /// Sends a request and reads the whole answer, whatever its status is.
    pub async fn send(&self, request: Request) -> Result<Response, OutboundError> {
        let host = host(&request.url);
        tokio::time::timeout(self.limits.time, self.follow(request)).await.unwrap_or_else(|_| {
            Err(OutboundError::Timeout { host, millis: self.limits.time.as_millis() })
        })
    }

    async fn follow(&self, mut request: Request) -> Result<Response, OutboundError> {
        for _ in 0..=self.limits.redirects {
            let answer = self.once(&request).await?;
            let Some(next) = redirected(&request, answer.status(), answer.headers())? else {
                return self.read(answer, &request.url).await;
            };
            request = next;
        }
        let host = host(&request.url);
        Err(OutboundError::Redirects { host, limit: self.limits.redirects })
    }

    async fn once(&self, request: &Request) -> Result<reqwest::Response, OutboundError> {
        let client = self.client_for(&request.url)?;
        client
            .request(request.method.clone(), request.url.clone())
            .headers(request.headers.clone())
            .body(request.body.clone())
            .send()
            .await
            .map_err(|error| explain(&error, &request.url))
    }

    /// The client that may be used for a URL.
    fn client_for(&self, url: &Url) -> Result<&reqwest::Client, OutboundError> {
        let refused = |why: &str| OutboundError::Url { url: url.to_string(), why: why.to_owned() };
        match url.scheme() {
            "https" => {}
            _ if self.only_https => return Err(refused("it must begin with https://")),
            "http" => {}
            _ => return Err(refused("it must begin with http:// or https://")),
        }
        if url.host().is_none() {
            return Err(refused("it has no host"));
        }
        match (self.hosts.reach(url), Hosts::literal_address(url)) {
            (Reach::Never, _) => Err(OutboundError::NotAllowed { host: host(url) }),
            (Reach::Anywhere, _) => Ok(&self.anywhere),
            // The resolver sees names only.
            (Reach::Public, Some(address)) if !(self.network.is_public)(address) => {
                Err(OutboundError::Refused { host: host(url), address: address.to_string() })
            }
            (Reach::Public, _) => Ok(&self.public),
        }
    }

    async fn read(
        &self,
        mut answer: reqwest::Response,
        url: &Url,
    ) -> Result<Response, OutboundError> {
        let limit = self.limits.bytes;
        let too_large = || OutboundError::TooLarge { host: host(url), limit };
        if answer.content_length().is_some_and(|length| length > limit as u64) {
            return Err(too_large());
        }
        let reason = answer
            .extensions()
            .get::<hyper::ext::ReasonPhrase>()
            .map(|reason| String::from_utf8_lossy(reason.as_bytes()).into_owned());
        let (status, headers) = (answer.status(), answer.headers().clone());
        let mut body = Vec::new();
        let is_complete = loop {
            match answer.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => return Err(too_large()),
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break true,
                // What was said until then may still say why.
                Err(_) => break false,
            }
        };
        let url = url.clone();
        Ok(Response { url, status, reason, headers, body: body.into(), is_complete })
    }
}

/// The request that an answer leads to, if it is a redirect.
fn redirected(
    request: &Request,
    status: StatusCode,
    headers: &HeaderMap,
) -> Result<Option<Request>, OutboundError> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let location = String::from_utf8_lossy(location.as_bytes());
    let url = request.url.join(&location).map_err(|error| OutboundError::Url {
        url: location.clone().into_owned(),
        why: error.to_string(),
    })?;
    let mut next = request.clone();
    if url.origin() != request.url.origin() {
        // Credentials are for the host they were given for.
        for name in [AUTHORIZATION, COOKIE, PROXY_AUTHORIZATION] {
            next.headers.remove(name);
        }
    }
    let is_read = matches!(next.method, Method::GET | Method::HEAD);
    if status == StatusCode::SEE_OTHER && !is_read
        || matches!(status.as_u16(), 301 | 302) && next.method == Method::POST
    {
        next.method = Method::GET;
        next.body = Bytes::new();
        next.headers.remove(http::header::CONTENT_TYPE);
    }
    next.url = url;
    Ok(Some(next))
}

/// The host as messages name it.
fn host(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (Some(host), None) => host.to_owned(),
        (None, _) => url.scheme().to_owned(),
    }
}

/// What went wrong, without the URL: it may hold what is nobody else's business.
fn explain(error: &reqwest::Error, url: &Url) -> OutboundError {
    let mut cause = error.source();
    let mut why = error.to_string();
    while let Some(inner) = cause {
        if let Some(NotPublic { host, address }) = inner.downcast_ref::<NotPublic>() {
            return OutboundError::Refused { host: host.clone(), address: address.clone() };
        }
        why = inner.to_string();
        cause = inner.source();
    }
    if error.is_timeout() {
        let millis = CONNECT_TIMEOUT.as_millis();
        return OutboundError::Timeout { host: host(url), millis };
    }
    OutboundError::Unreachable { host: host(url), why }
}
