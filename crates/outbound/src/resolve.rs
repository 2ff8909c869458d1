use std::fmt;
use std::net::SocketAddr;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::is_public;

/// Looks names up and gives only public addresses, at the moment a connection is made.
pub(crate) struct PublicOnly;

/// A name whose addresses are all inside.
#[derive(Debug)]
pub(crate) struct NotPublic {
    pub(crate) host: String,
    pub(crate) address: String,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> =
                found.iter().copied().filter(|address| is_public(address.ip())).collect();
            match found.first() {
                Some(first) if public.is_empty() => {
                    let address = first.ip().to_string();
                    Err(Box::new(NotPublic { host, address }) as _)
                }
                _ => Ok(Box::new(public.into_iter()) as Addrs),
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
