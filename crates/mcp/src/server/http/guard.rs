//! Who may talk to the server, by the `Host` they name and the `Origin` they come from.
//!
//! A web page can make a browser send requests to any address, this machine's own included. The
//! browser says which page it was (`Origin`) and by which name it found the address (`Host`).

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, Uri};

use super::config::HttpConfig;

/// The check of `Host` and `Origin`.
#[derive(Clone, Debug)]
pub struct Guard {
    hosts: Vec<Pattern>,
    origins: Vec<OriginPattern>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Any,
    /// A name in lower case; any port where there is none.
    Name(String, Option<u16>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum OriginPattern {
    Any,
    /// What a browser sends for a page without an origin.
    Null,
    /// A scheme with its host; the scheme's own port where there is none and any was not asked.
    Page {
        scheme: String,
        host: Pattern,
    },
}

impl Guard {
    /// The check that a configuration asks for. An entry that makes no sense matches nothing.
    pub fn new(config: &HttpConfig) -> Self {
        Self {
            hosts: config.allowed_hosts.iter().filter_map(|host| Pattern::parse(host)).collect(),
            origins: config
                .allowed_origins
                .iter()
                .filter_map(|origin| OriginPattern::parse(origin))
                .collect(),
        }
    }

    /// Whether a request may pass; the error says why not.
    pub fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), String> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = match (hosts.next(), hosts.next()) {
            (Some(_), Some(_)) => return Err("Host is there twice".to_owned()),
            (Some(host), None) => host.to_str().unwrap_or_default(),
            // HTTP/2 has it in the address.
            (None, _) => uri.authority().map_or("", Authority::as_str),
        };
        if !self.hosts.iter().any(|pattern| pattern.matches(host, None)) {
            return Err(format!("Host `{host}` is not among the allowed hosts"));
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().unwrap_or_default();
            if !self.origins.iter().any(|pattern| pattern.matches(origin)) {
                return Err(format!("Origin `{origin}` is not among the allowed origins"));
            }
        }
        Ok(())
    }
}

impl Pattern {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "*" => Some(Self::Any),
            _ => parse_authority(text).map(|(name, port)| Self::Name(name, port)),
        }
    }

    /// Whether `host` is meant; `default_port` is the port it has without saying so.
    fn matches(&self, host: &str, default_port: Option<u16>) -> bool {
        match self {
            Self::Any => true,
            Self::Name(wanted, wanted_port) => parse_authority(host).is_some_and(|(name, port)| {
                name == *wanted && wanted_port.is_none_or(|it| port.or(default_port) == Some(it))
            }),
        }
    }
}

impl OriginPattern {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_end_matches('/');
        match text {
            "*" => return Some(Self::Any),
            "null" => return Some(Self::Null),
            _ => {}
        }
        let (scheme, host) = text.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let host = match host.strip_suffix(":*") {
            Some(name) => Pattern::parse(name)?,
            None => match Pattern::parse(host)? {
                Pattern::Name(name, port) => {
                    Pattern::Name(name, Some(port.or_else(|| default_port(&scheme))?))
                }
                Pattern::Any => Pattern::Any,
            },
        };
        Some(Self::Page { scheme, host })
    }

    fn matches(&self, origin: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Null => origin == "null",
            Self::Page { scheme, host } => origin.split_once("://").is_some_and(|(given, rest)| {
                given.eq_ignore_ascii_case(scheme) && host.matches(rest, default_port(scheme))
            }),
        }
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    }
}

/// A host in lower case and its port. What carries a user name or a path is none.
fn parse_authority(text: &str) -> Option<(String, Option<u16>)> {
    if text.contains('@') {
        return None;
    }
    let authority = Authority::try_from(text).ok()?;
    let host = authority.host();
    // A port that is not a number would otherwise look like no port at all.
    if authority.as_str().len() != host.len() && authority.port_u16().is_none() {
        return None;
    }
    Some((host.to_ascii_lowercase(), authority.port_u16()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(guard: &Guard, host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        guard.check(&Uri::from_static("/mcp"), &headers).is_ok()
    }

    #[test]
    fn only_this_machine_by_default() {
        let guard = Guard::new(&HttpConfig::default());
        for host in ["localhost", "LocalHost:8080", "127.0.0.1:1", "[::1]", "[::1]:80"] {
            assert!(passes(&guard, host, None), "{host}");
        }
        for host in
            ["", "evil.com", "localhost.evil.com", "a@localhost", "localhost:x", "127.0.0.2"]
        {
            assert!(!passes(&guard, host, None), "{host}");
        }
        for origin in ["http://localhost", "https://localhost:5173", "http://[::1]:3"] {
            assert!(passes(&guard, "localhost", Some(origin)), "{origin}");
        }
        for origin in ["null", "http://evil.com", "file://localhost", "http://localhost.evil", "x"]
        {
            assert!(!passes(&guard, "localhost", Some(origin)), "{origin}");
        }
    }

    #[test]
    fn entries_say_which_ports() {
        let guard = Guard::new(&HttpConfig {
            allowed_hosts: vec!["a.example".into(), "b.example:8080".into(), "no sense".into()],
            allowed_origins: vec!["https://a.example".into(), "http://b.example:81/".into()],
            ..HttpConfig::default()
        });
        assert!(passes(&guard, "a.example:9", None) && passes(&guard, "b.example:8080", None));
        assert!(!passes(&guard, "b.example", None) && !passes(&guard, "localhost", None));
        for (origin, wanted) in [
            ("https://a.example", true),
            ("https://a.example:443", true),
            ("https://a.example:444", false),
            ("http://a.example", false),
            ("http://b.example:81", true),
            ("http://b.example", false),
        ] {
            assert_eq!(passes(&guard, "a.example", Some(origin)), wanted, "{origin}");
        }
        let open = Guard::new(&HttpConfig {
            allowed_hosts: vec!["*".into()],
            allowed_origins: vec!["*".into()],
            ..HttpConfig::default()
        });
        assert!(passes(&open, "x", Some("null")));
    }

    #[test]
    fn a_second_host_or_origin_hides_nothing() {
        let guard = Guard::new(&HttpConfig::default());
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        headers.append(HOST, "evil.com".parse().unwrap());
        assert!(guard.check(&Uri::from_static("/"), &headers).is_err());
        let mut headers = HeaderMap::new();
        headers.append(HOST, "localhost".parse().unwrap());
        headers.append(ORIGIN, "http://localhost".parse().unwrap());
        headers.append(ORIGIN, "http://evil.com".parse().unwrap());
        assert!(guard.check(&Uri::from_static("/"), &headers).is_err());
        let authority = Uri::from_static("http://localhost:1/mcp");
        assert!(guard.check(&authority, &HeaderMap::new()).is_ok());
    }
}
