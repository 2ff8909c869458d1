//! Which texts fit a question best, by BM25.

use std::collections::{HashMap, HashSet};

/// How much a word that stands there again adds.
const SATURATION: f64 = 1.2;

/// How much long texts are held back: 0 is not at all, 1 in proportion.
const LENGTH_SHARE: f64 = 0.75;

/// Texts that can be asked for.
pub(crate) struct Index {
    documents: Vec<Document>,
    /// In how many documents a word stands.
    spread: HashMap<String, usize>,
    average_length: f64,
}

/// How often each word stands in a text, by the weights of its parts.
#[derive(Default)]
struct Document {
    words: HashMap<String, f64>,
    length: f64,
}

impl Index {
    /// An index of texts, each given by its parts and how much a word in a part counts.
    pub(crate) fn new<'t>(texts: impl IntoIterator<Item = Vec<(&'t str, f64)>>) -> Self {
        let documents: Vec<Document> = texts.into_iter().map(Document::new).collect();
        let mut spread = HashMap::new();
        for word in documents.iter().flat_map(|document| document.words.keys()) {
            *spread.entry(word.clone()).or_insert(0) += 1;
        }
        let total: f64 = documents.iter().map(|document| document.length).sum();
        let average_length = (total / documents.len().max(1) as f64).max(1.0);
        Self { documents, spread, average_length }
    }

    /// The positions of the texts that have a word of the question, the best first.
    pub(crate) fn best(&self, question: &str) -> Vec<usize> {
        let words: HashSet<String> = words(question).collect();
        let score = |document: &Document| -> f64 {
            words.iter().map(|word| self.score(word, document)).sum()
        };
        let mut found: Vec<(usize, f64)> = self
            .documents
            .iter()
            .map(score)
            .enumerate()
            .filter(|(_, score)| *score > 0.0)
            .collect();
        found.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        found.into_iter().map(|(position, _)| position).collect()
    }

    fn score(&self, word: &str, document: &Document) -> f64 {
        let Some(count) = document.words.get(word) else { return 0.0 };
        let spread = self.spread.get(word).copied().unwrap_or(0) as f64;
        let all = self.documents.len() as f64;
        let rareness = ((all - spread + 0.5) / (spread + 0.5)).ln_1p();
        let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * document.length / self.average_length;
        rareness * count * (SATURATION + 1.0) / (count + SATURATION * length)
    }
}

impl Document {
    fn new(parts: Vec<(&str, f64)>) -> Self {
        let mut document = Self::default();
        for (text, weight) in parts {
            for word in words(text) {
                document.length += weight;
                *document.words.entry(word).or_insert(0.0) += weight;
            }
        }
        document
    }
}

/// The words of a text in lower case: `listDirectory`, `list_directory` and `List directories` have
/// the same.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .flat_map(humps)
        .map(|word| stem(&word.to_lowercase()))
}

/// The parts of a name written like `listDirectory`.
fn humps(word: &str) -> impl Iterator<Item = &str> {
    let mut rest = word;
    std::iter::from_fn(move || {
        let mut before_is_lower = false;
        let end = rest.char_indices().find_map(|(at, c)| {
            let is_hump = before_is_lower && c.is_uppercase();
            before_is_lower = c.is_lowercase();
            is_hump.then_some(at)
        });
        let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
        rest = behind;
        (!part.is_empty()).then_some(part)
    })
}

/// A word without the endings of the plural, as far as that can be told without a dictionary.
fn stem(word: &str) -> String {
    let is_long = word.len() > 3;
    match word {
        _ if is_long && word.ends_with("ies") => format!("{}y", &word[..word.len() - 3]),
        _ if is_long && word.ends_with('s') && !word.ends_with("ss") => {
            word[..word.len() - 1].to_owned()
        }
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_however_they_are_written() {
        let all = |text: &str| words(text).collect::<Vec<_>>();
        for text in ["listDirectory", "list_directory", "List directories!", "LIST-DIRECTORY"] {
            assert_eq!(all(text), ["list", "directory"], "{text}");
        }
        assert_eq!(all("HTTPServer v2 é日"), ["httpserver", "v2", "é日"]);
        assert_eq!(all("class is"), ["class", "is"]);
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let texts = [
            ("read_file", "Reads a file"),
            ("write_file", "Writes a file, and creates the directory of the file if needed"),
            ("list_directory", "Lists a directory"),
            ("get_weather", "Tells the weather of a city, not of a file"),
        ];
        let index = Index::new(texts.map(|(name, text)| vec![(name, 3.0), (text, 1.0)]));
        assert_eq!(index.best("weather in Paris"), [3]);
        assert_eq!(index.best("directory")[0], 2);
        assert_eq!(index.best("read files")[0], 0);
        assert_eq!(index.best("file").len(), 3);
        assert!(index.best("nothing of the kind?").is_empty() || index.best("zebra").is_empty());
        assert!(index.best("").is_empty());
        assert!(Index::new(Vec::new()).best("x").is_empty());
    }
}
