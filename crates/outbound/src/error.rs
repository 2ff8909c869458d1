use crate::NotAHost;

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutboundError {
    /// The URL cannot be used.
    #[error("`{url}` is not a URL that can be asked: {why}")]
    Url {
        /// The URL.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The host is inside, and may not be reached there.
    #[error("{host} has the address {address}, which is not public")]
    Refused {
        /// The host.
        host: String,
        /// Its address.
        address: String,
    },
    /// Nobody named the host, and only those that are named may be reached.
    #[error("{host} is not among the hosts that are allowed")]
    NotAllowed {
        /// The host.
        host: String,
    },
    /// A name that is no host.
    #[error(transparent)]
    NotAHost(#[from] NotAHost),
    /// A part of the request cannot be sent.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// The host cannot be reached, or went away.
    #[error("{host} cannot be reached: {why}")]
    Unreachable {
        /// The host.
        host: String,
        /// Why.
        why: String,
    },
    /// It took too long.
    #[error("{host} did not answer within {millis} ms")]
    Timeout {
        /// The host.
        host: String,
        /// The limit.
        millis: u128,
    },
    /// The answer is too large.
    #[error("the answer of {host} is larger than {limit} bytes")]
    TooLarge {
        /// The host.
        host: String,
        /// The limit.
        limit: usize,
    },
    /// It sent the client from one place to the next.
    #[error("{host} redirects more than {limit} times")]
    Redirects {
        /// The host that redirected last.
        host: String,
        /// The limit.
        limit: usize,
    },
}

impl OutboundError {
    /// Whether the guard refused, rather than the network.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Refused { .. } | Self::NotAllowed { .. } | Self::Url { .. } | Self::NotAHost(_)
        )
    }
}
