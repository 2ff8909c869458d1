use std::fmt;
use std::str::FromStr;

use sha2::{Digest as _, Sha256};

/// Names a text, or a version of a definition, by what it says: the first half of a SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest([u8; 16]);

/// A text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a digest has 32 hexadecimal digits")]
pub struct NotADigest;

impl Digest {
    /// The digest of a text.
    pub fn of(text: impl AsRef<[u8]>) -> Self {
        let full = Sha256::digest(text.as_ref());
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
    pub fn hex(&self) -> [u8; 32] {
        hex(&self.0)
    }
}

/// The hexadecimal digits of sixteen bytes, which are ASCII. Every run has digests in its record.
pub fn hex(bytes: &[u8; 16]) -> [u8; 32] {
    let mut digits = [0; 32];
    let (places, _) = digits.as_chunks_mut::<8>();
    let (words, _) = bytes.as_chunks::<4>();
    for (place, word) in places.iter_mut().zip(words) {
        *place = hex_of_word(*word);
    }
    digits
}

/// The digits of four bytes, all at once.
fn hex_of_word(bytes: [u8; 4]) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let mut nibbles = u64::from(u32::from_be_bytes(bytes));
    nibbles = (nibbles | nibbles << 16) & 0x0000_ffff_0000_ffff;
    nibbles = (nibbles | nibbles << 8) & 0x00ff_00ff_00ff_00ff;
    nibbles = (nibbles | nibbles << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    // Six more are sixteen for those that are letters.
    let letters = ((nibbles + EACH * 6) >> 4) & EACH;
    let after_digits = u64::from(b'a' - b'0' - 10);
    (nibbles + EACH * u64::from(b'0') + letters * after_digits).to_be_bytes()
}

impl FromStr for Digest {
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

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.hex()).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_what_it_shows() {
        let digest = Digest::of("tools: []");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_ne!(Digest::of("other"), digest);
        assert_eq!("0123".parse::<Digest>(), Err(NotADigest));
        assert_eq!("é".repeat(16).parse::<Digest>(), Err(NotADigest));
    }
}
