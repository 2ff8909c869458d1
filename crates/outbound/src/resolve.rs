use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::is_public;

/// What lies between a name and a server: by default the network of this machine.
#[derive(Clone)]
pub struct Network {
    /// Looks names up.
    pub resolver: Arc<dyn Resolver>,
    /// Whether an address belongs to the public network.
    pub is_public: fn(IpAddr) -> bool,
    /// Certificates (DER) of authorities that are trusted beside those of the system.
    pub authorities: Vec<Vec<u8>>,
}

/// Looks names up.
pub trait Resolver: Send + Sync {
    /// The addresses of a host.
    fn look_up(&self, host: String) -> LookUp;
}

/// The addresses of a host, once they are known.
pub type LookUp = Pin<Box<dyn Future<Output = std::io::Result<Vec<IpAddr>>> + Send>>;

impl Default for Network {
    fn default() -> Self {
        Self { resolver: Arc::new(OfTheSystem), is_public, authorities: Vec::new() }
    }
}

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Network").finish_non_exhaustive()
    }
}

/// Asks whom the system asks.
struct OfTheSystem;

impl Resolver for OfTheSystem {
    fn look_up(&self, host: String) -> LookUp {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// Looks names up at the moment a connection is made, which is then made to the very addresses that
/// were judged.
pub(crate) struct AtConnecting {
    pub(crate) network: Network,
    /// Whether addresses that are not public are left out.
    pub(crate) only_public: bool,
}

/// A name whose addresses are all inside.
#[derive(Debug)]
pub(crate) struct NotPublic {
    pub(crate) host: String,
    pub(crate) address: String,
}

impl Resolve for AtConnecting {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let found = self.network.resolver.look_up(host.clone());
        let is_public = self.network.is_public;
        let only_public = self.only_public;
        Box::pin(async move {
            let found = found.await?;
            let may_be_used = |address: &IpAddr| !only_public || is_public(*address);
            let usable: Vec<IpAddr> = found.iter().copied().filter(may_be_used).collect();
            match found.first() {
                Some(first) if usable.is_empty() => {
                    let address = first.to_string();
                    Err(Box::new(NotPublic { host, address }) as _)
                }
                // The port is that of the URL.
                _ => Ok(Box::new(usable.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs),
            }
        })
    }
}

impl fmt::Display for NotPublic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has the address {}, which is not public", self.host, self.address)
    }
}

impl std::error::Error for NotPublic {}
