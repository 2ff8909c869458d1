//! URLs with placeholders, each encoded for the part it stands in.

use mcpgraph_value::Value;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use crate::fill::{self, Place, Refusal};
use crate::template::{Hole, HoleKind, Piece, Template};

/// Everything but what RFC 3986 calls unreserved.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A URL with placeholders behind its host.
#[derive(Clone, Debug)]
pub(crate) struct UrlTemplate {
    /// Scheme and host, and the rest as far as it has no placeholder.
    base: String,
    rest: Template,
}

/// Why a text is no URL with placeholders.
pub(crate) enum UrlProblem {
    /// There is no scheme or host.
    Incomplete,
    /// It is not one that can be asked.
    Invalid(String),
    /// A placeholder stands in the scheme, the host or the port.
    InHost(Hole),
}

impl UrlTemplate {
    /// A template, relative to the URL of the backend if it has one.
    pub(crate) fn new(base: Option<&str>, template: Template) -> Result<Self, UrlProblem> {
        let mut pieces = template.pieces;
        let mut first = match pieces.first() {
            Some(Piece::Text(text)) => text.clone(),
            _ => String::new(),
        };
        if !first.is_empty() {
            pieces.remove(0);
        }
        if !first.contains("://") {
            let base = base.ok_or(UrlProblem::Incomplete)?.trim_end_matches('/');
            let slash = if first.starts_with(['/', '?']) || pieces.is_empty() && first.is_empty() {
                ""
            } else {
                "/"
            };
            first = format!("{base}{slash}{first}");
        }
        // The host has ended when something behind it has begun.
        let behind = first.split_once("://").map_or("", |(_, behind)| behind);
        let ended = behind.contains(['/', '?']);
        if let (false, Some(Piece::Hole(hole))) = (ended, pieces.first()) {
            return Err(UrlProblem::InHost(hole.clone()));
        }
        match Url::parse(&first) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.host().is_some() => {
                Ok(Self { base: first, rest: Template { pieces } })
            }
            Ok(_) => Err(UrlProblem::Invalid("it needs http:// or https:// and a host".to_owned())),
            Err(error) => Err(UrlProblem::Invalid(error.to_string())),
        }
    }

    /// The URL with every value in its part.
    pub(crate) fn fill(&self, arguments: &Value) -> Result<String, Refusal> {
        let mut url = self.base.clone();
        for piece in &self.rest.pieces {
            match piece {
                Piece::Text(text) => url.push_str(text),
                Piece::Hole(hole) => {
                    let is_query = url.contains('?');
                    let value = fill::value(hole, arguments, Place::Argument)?;
                    if hole.kind == HoleKind::Raw {
                        url.push_str(&value);
                        continue;
                    }
                    if !is_query && value.is_empty() {
                        return Err(fill::refused(
                            hole,
                            "is empty, where a part of a path is needed",
                        ));
                    }
                    url.extend(utf8_percent_encode(&value, RESERVED));
                }
            }
        }
        self.check(url)
    }

    /// What was filled in is still a part of the same place: no segment goes up, the host stays.
    fn check(&self, url: String) -> Result<String, Refusal> {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let leads_elsewhere = |segment: &str| {
            // A point may be written as `%2e` in a URL and means the same.
            matches!(&*segment.to_ascii_lowercase().replace("%2e", "."), "." | "..")
        };
        if path.split('/').skip(3).any(leads_elsewhere) {
            return Err(Refusal(
                "a part of the path is `.` or `..`, which would lead elsewhere".into(),
            ));
        }
        let same_origin = match (Url::parse(&self.base), Url::parse(&url)) {
            (Ok(base), Ok(filled)) => base.origin() == filled.origin(),
            _ => false,
        };
        if !same_origin {
            return Err(Refusal("the arguments make no URL of the same host".to_owned()));
        }
        Ok(url)
    }
}
