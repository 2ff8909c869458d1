//! Numbers in English words, and back.

const SMALL: [&str; 20] = [
    "Zero",
    "One",
    "Two",
    "Three",
    "Four",
    "Five",
    "Six",
    "Seven",
    "Eight",
    "Nine",
    "Ten",
    "Eleven",
    "Twelve",
    "Thirteen",
    "Fourteen",
    "Fifteen",
    "Sixteen",
    "Seventeen",
    "Eighteen",
    "Nineteen",
];
const ORDINALS: [&str; 20] = [
    "Zeroth",
    "First",
    "Second",
    "Third",
    "Fourth",
    "Fifth",
    "Sixth",
    "Seventh",
    "Eighth",
    "Ninth",
    "Tenth",
    "Eleventh",
    "Twelfth",
    "Thirteenth",
    "Fourteenth",
    "Fifteenth",
    "Sixteenth",
    "Seventeenth",
    "Eighteenth",
    "Nineteenth",
];
const TENS: [&str; 8] =
    ["Twenty", "Thirty", "Forty", "Fifty", "Sixty", "Seventy", "Eighty", "Ninety"];
const MAGNITUDES: [&str; 4] = ["Thousand", "Million", "Billion", "Trillion"];

/// A non-negative whole number in words, such as `Two Hundred and Forty-Five`.
pub(super) fn to_words(number: f64, ordinal: bool) -> String {
    let mut words = String::new();
    write(number, false, ordinal, &mut words);
    words
}

/// Adds a number; `continued` says that a larger part stands before it.
fn write(number: f64, continued: bool, ordinal: bool, out: &mut String) {
    if number < 20.0 {
        out.push_str(if continued { " and " } else { "" });
        let names = if ordinal { &ORDINALS } else { &SMALL };
        out.push_str(names[number.max(0.0) as usize]);
    } else if number < 100.0 {
        out.push_str(if continued { " and " } else { "" });
        let ten = TENS[(number / 10.0) as usize - 2];
        let rest = number % 10.0;
        if rest > 0.0 {
            out.push_str(ten);
            out.push('-');
            write(rest, false, ordinal, out);
        } else if ordinal {
            out.push_str(ten.trim_end_matches('y'));
            out.push_str("ieth");
        } else {
            out.push_str(ten);
        }
    } else if number < 1000.0 {
        out.push_str(if continued { ", " } else { "" });
        out.push_str(SMALL[(number / 100.0) as usize]);
        out.push_str(" Hundred");
        write_rest(number % 100.0, ordinal, out);
    } else {
        let magnitude = ((number.log10() / 3.0) as usize).clamp(1, MAGNITUDES.len());
        let factor = 1000_f64.powi(i32::try_from(magnitude).unwrap_or(1));
        let whole = (number / factor).floor();
        out.push_str(if continued { ", " } else { "" });
        write(whole, false, false, out);
        out.push(' ');
        out.push_str(MAGNITUDES[magnitude - 1]);
        write_rest(number - whole * factor, ordinal, out);
    }
}

fn write_rest(rest: f64, ordinal: bool, out: &mut String) {
    if rest > 0.0 {
        write(rest, true, ordinal, out);
    } else if ordinal {
        out.push_str("th");
    }
}

/// The number that lower-case words stand for; NaN if there is one that stands for none.
pub(super) fn from_words(text: &str) -> f64 {
    let mut segments = vec![0.0];
    for word in split(text) {
        let value = value_of(word);
        let top: f64 = segments.pop().unwrap_or(0.0);
        if value < 100.0 {
            if top >= 1000.0 {
                segments.push(top);
                segments.push(value);
            } else {
                segments.push(top + value);
            }
        } else {
            segments.push(top * value);
        }
    }
    segments.iter().sum()
}

/// Cuts at `, `, ` and `, white space and dashes.
fn split(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let (mut start, mut place) = (0, 0);
    while let Some(c) = text[place..].chars().next() {
        let rest = &text[place..];
        let length = if rest.starts_with(", ") {
            2
        } else if rest.starts_with(" and ") {
            5
        } else if c.is_whitespace() || matches!(c, '-' | '\\') {
            c.len_utf8()
        } else {
            place += c.len_utf8();
            continue;
        };
        words.push(&text[start..place]);
        place += length;
        start = place;
    }
    words.push(&text[start..]);
    words
}

fn value_of(word: &str) -> f64 {
    all_words().find(|(name, _)| name == word).map_or(f64::NAN, |(_, value)| value)
}

/// Every word that is part of a number, in lower case, with its value.
pub(super) fn all_words() -> impl Iterator<Item = (String, f64)> {
    let lower = |names: &'static [&'static str]| {
        names.iter().enumerate().map(|(index, name)| (name.to_lowercase(), index))
    };
    let small = lower(&SMALL).map(|(name, index)| (name, index as f64));
    let ordinals = lower(&ORDINALS).map(|(name, index)| (name, index as f64));
    let tens = lower(&TENS).flat_map(|(name, index)| {
        let value = (index as f64 + 2.0) * 10.0;
        let ordinal = format!("{}ieth", name.trim_end_matches('y'));
        [(name, value), (ordinal, value)]
    });
    let hundred = [("hundred".to_owned(), 100.0), ("hundredth".to_owned(), 100.0)];
    let magnitudes = lower(&MAGNITUDES).flat_map(|(name, index)| {
        let value = 1000_f64.powi(i32::try_from(index + 1).unwrap_or(1));
        let ordinal = format!("{name}th");
        [(name, value), (ordinal, value)]
    });
    small.chain(ordinals).chain(tens).chain(hundred).chain(magnitudes)
}
