//! "Did you mean …": the nearest of the words that would have been right.

/// Words longer than this are not compared; the comparison is quadratic.
const MAX_WORD: usize = 200;

/// How many candidates are compared at most.
const MAX_CANDIDATES: usize = 10_000;

/// The candidate a person most likely meant by `word`, if one is near enough to be worth naming.
///
/// Near means: equal but for case and the separators `-`, `_` and space, or at most one edit for
/// words of up to four letters, two for up to eight, and three for longer ones. Among equals one
/// with the same letters in another order wins, then the first.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD {
        return None;
    }
    let length = word.chars().count();
    let allowed = match length {
        0 => return None,
        1..=4 => 1,
        5..=8 => 2,
        _ => 3,
    };
    let simple = simplified(word);
    let letters = sorted(word);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= MAX_WORD && *candidate != word)
        .filter_map(|candidate| {
            if simplified(candidate) == simple {
                return Some((0, candidate));
            }
            let distance = strsim::damerau_levenshtein(word, candidate);
            // Replacing every letter is not a typo.
            (distance <= allowed && distance < length).then_some((distance, candidate))
        })
        .min_by_key(|(distance, candidate)| (*distance, sorted(candidate) != letters))
        .map(|(_, candidate)| candidate)
}

/// The hint that goes with [`nearest`].
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    nearest(word, candidates).map(|name| format!("did you mean `{name}`?"))
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

fn simplified(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}
