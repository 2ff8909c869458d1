use std::fmt;
use std::str::FromStr;

use mcpgraph_graph::Digest;
use sha2::{Digest as _, Sha256};

/// Names a text of the store, or a version of a graph, by what it says: the first half of a
/// SHA-256, as [`Digest`] is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentDigest([u8; 16]);

/// A text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 32 hexadecimal digits")]
pub struct NotADigest;

impl ContentDigest {
    /// The digest of a text.
    pub fn of(text: &[u8]) -> Self {
        let full = Sha256::digest(text);
        let mut short = [0; 16];
        short.copy_from_slice(&full[..16]);
        Self(short)
    }

    /// The digest with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Its digits, which are ASCII.
    pub(crate) fn hex(&self) -> [u8; 32] {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut digits = [0; 32];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        digits
    }
}

impl From<Digest> for ContentDigest {
    fn from(digest: Digest) -> Self {
        // A digest shows itself as what is parsed here; a test holds the two together.
        digest.to_string().parse().unwrap_or(Self([0; 16]))
    }
}

impl PartialEq<Digest> for ContentDigest {
    fn eq(&self, other: &Digest) -> bool {
        *self == Self::from(*other)
    }
}

impl FromStr for ContentDigest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return Err(NotADigest);
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(NotADigest);
            *byte = (digit(pair[0])? * 16 + digit(pair[1])?) as u8;
        }
        Ok(Self(bytes))
    }
}

impl fmt::Display for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl fmt::Debug for ContentDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_of_a_graph_is_the_same_here() {
        let text = "tools: []";
        assert_eq!(ContentDigest::of(text.as_bytes()), Digest::of(text));
        assert_ne!(ContentDigest::of(b"other"), Digest::of(text));
        assert_eq!("0123".parse::<ContentDigest>(), Err(NotADigest));
        assert_eq!("é".repeat(16).parse::<ContentDigest>(), Err(NotADigest));
    }
}
