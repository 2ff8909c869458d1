use std::net::IpAddr;
use std::sync::Arc;

use url::{Host, Url};

/// The hosts that may be reached: by their names, by their addresses, or by both.
///
/// Names are given by whoever is responsible for the machine, never by what a request says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    named: Arc<[NamedHost]>,
    rule: Rule,
}

/// What counts: a name, an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Rule {
    /// Either is enough.
    #[default]
    NamedOrPublic,
    /// The name, whatever its addresses are.
    Named,
    /// Both.
    NamedAndPublic,
}

/// How a host may be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// At any address.
    Anywhere,
    /// At its public addresses.
    Public,
    /// Not at all.
    Never,
}

/// A text that names no host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a host, or a host and a port, such as `localhost:8080` or `[::1]:80`")]
pub struct NotAHost(pub String);

#[derive(Clone, Debug, PartialEq, Eq)]
struct NamedHost {
    /// As a URL has it: lower case, without a point at the end.
    host: String,
    /// Any port if there is none.
    port: Option<u16>,
}

impl Hosts {
    /// Every host with a public address, and no other.
    pub fn public() -> Self {
        Self::default()
    }

    /// No host but these, whatever their addresses are.
    pub fn only<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Result<Self, NotAHost> {
        Ok(Self { rule: Rule::Named, ..Self::default().and(names)? })
    }

    /// No host but these, and these only at public addresses: a name that somebody else has power
    /// over does not lead inside.
    pub fn only_public<N: AsRef<str>>(
        names: impl IntoIterator<Item = N>,
    ) -> Result<Self, NotAHost> {
        Ok(Self { rule: Rule::NamedAndPublic, ..Self::default().and(names)? })
    }

    /// These hosts too: `localhost`, `10.0.0.7`, `[::1]:8080`.
    pub fn and<N: AsRef<str>>(self, names: impl IntoIterator<Item = N>) -> Result<Self, NotAHost> {
        let mut named = self.named.to_vec();
        for name in names {
            named.push(NamedHost::parse(name.as_ref())?);
        }
        Ok(Self { named: named.into(), ..self })
    }

    /// The host of this URL too, at its port.
    #[must_use]
    pub fn and_host_of(self, url: &Url) -> Self {
        let mut named = self.named.to_vec();
        if let Some(host) = host_of(url) {
            named.push(NamedHost { host, port: url.port_or_known_default() });
        }
        Self { named: named.into(), ..self }
    }

    /// How the host of a URL may be reached.
    pub(crate) fn reach(&self, url: &Url) -> Reach {
        match (self.rule, self.names(url)) {
            (Rule::NamedOrPublic | Rule::Named, true) => Reach::Anywhere,
            (Rule::NamedOrPublic, false) | (Rule::NamedAndPublic, true) => Reach::Public,
            (Rule::Named | Rule::NamedAndPublic, false) => Reach::Never,
        }
    }

    fn names(&self, url: &Url) -> bool {
        let Some(host) = host_of(url) else { return false };
        let port = url.port_or_known_default();
        self.named
            .iter()
            .any(|named| named.host == host && (named.port.is_none() || named.port == port))
    }

    /// The address that stands in the place of a host's name.
    pub(crate) fn literal_address(url: &Url) -> Option<IpAddr> {
        match url.host()? {
            Host::Ipv4(address) => Some(address.into()),
            Host::Ipv6(address) => Some(address.into()),
            Host::Domain(_) => None,
        }
    }
}

impl NamedHost {
    /// A URL is the one reader of hosts, so that both sides write them alike.
    fn parse(text: &str) -> Result<Self, NotAHost> {
        let not_a_host = || NotAHost(text.to_owned());
        if text.is_empty() || text.contains(['/', '?', '#', '@', '\\']) {
            return Err(not_a_host());
        }
        // A scheme without a port of its own tells a written port from none.
        let url = Url::parse(&format!("https://{text}/")).map_err(|_| not_a_host())?;
        let explicit = Url::parse(&format!("http://{text}/")).map_err(|_| not_a_host())?;
        let port = url.port().or_else(|| explicit.port());
        Ok(Self { host: host_of(&url).ok_or_else(not_a_host)?, port })
    }
}

/// The host of a URL as hosts are compared: `example.com.` is `example.com`.
fn host_of(url: &Url) -> Option<String> {
    url.host_str().map(|host| host.trim_end_matches('.').to_owned()).filter(|host| !host.is_empty())
}

#[cfg(test)]
mod tests;
