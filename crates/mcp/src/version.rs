//! Protocol versions and the two eras they fall into.

use std::fmt;

/// A revision of the protocol this product speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// The first: stdio and HTTP+SSE.
    V2024_11_05,
    /// Streamable HTTP; the only one with JSON-RPC batches.
    V2025_03_26,
    /// Structured output, elicitation.
    V2025_06_18,
    /// Icons, tasks in the core, SSE polling.
    V2025_11_25,
    /// Stateless: no `initialize`, no sessions.
    V2026_07_28,
}

/// Whether a connection begins with `initialize` or every request stands alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Era {
    /// Up to 2025-11-25.
    Legacy,
    /// From 2026-07-28 on.
    Modern,
}

impl Version {
    /// All of them, newest first.
    pub const ALL: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The newest that begins with `initialize`.
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The newest.
    pub const LATEST: Self = Self::V2026_07_28;

    /// As it is written on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The version with this name, if it is one of ours.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|version| version.as_str() == text)
    }

    /// The era it belongs to.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
