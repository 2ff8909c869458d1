/// Damages texts in the ways that break parsers, the same way for the same seed.
pub struct Mutations {
    state: u64,
}

/// Pieces with a meaning somewhere.
const PIECES: [&str; 36] = [
    "{", "}", "[", "]", "(", ")", "\"", "'", ":", ",", "\n", "  ", "- ", "|", ">", "&a", "*a",
    "<<", "$", "$$", "%", "**", "~>", ":=", "?", "..", "@", "#", "^(", "/a+/", "null", "1e999",
    "-0", "\u{0}", "\u{202e}", "é",
];

impl Mutations {
    /// Mutations that follow from a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed | 1 }
    }

    /// A number below `bound`: xorshift is random enough to break things.
    fn below(&mut self, bound: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        usize::try_from(self.state % bound.max(1) as u64).unwrap_or(0)
    }

    /// A damaged copy of one of the seeds.
    pub fn next(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(6) {
                0 => drop(bytes.drain(at..(at + self.below(16)).min(bytes.len()))),
                1 => drop(bytes.splice(at..at, PIECES[self.below(PIECES.len())].bytes())),
                2 => {
                    let from = self.below(bytes.len() + 1);
                    let piece: Vec<u8> = bytes[from..].iter().take(64).copied().collect();
                    drop(bytes.splice(at..at, piece));
                }
                3 => {
                    let piece = PIECES[self.below(PIECES.len())].repeat(1 + self.below(300));
                    drop(bytes.splice(at..at, piece.bytes()));
                }
                4 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                _ => bytes.truncate(at),
            }
        }
        bytes
    }
}
