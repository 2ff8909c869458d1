use std::fmt;
use std::str::FromStr;

use mcpgraph_graph::hex;
use uuid::Uuid;

/// Names a run. Ids made later sort later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(Uuid);

impl RunId {
    /// A new one, of this moment.
    #[expect(clippy::new_without_default, reason = "every one is another")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Its hexadecimal digits.
    pub(crate) fn digits(&self) -> [u8; 32] {
        hex(self.0.as_bytes())
    }

    /// Its bytes, which sort as it does.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl FromStr for RunId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}
