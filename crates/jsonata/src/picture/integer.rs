//! Pictures of whole numbers: `001`, `#,##0`, `w`, `I`, `a`, with `;o` for ordinals.

use super::words;
use crate::error::{Outcome, fail};
use crate::js;
use crate::limits::Budget;

/// What a picture says.
#[derive(Clone, Debug)]
pub(crate) struct IntegerFormat {
    pub(super) primary: Primary,
    pub(super) ordinal: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Primary {
    Letters {
        upper: bool,
    },
    Roman {
        upper: bool,
    },
    Words(WordCase),
    Decimal(DecimalFormat),
    /// A numbering that is not supported; it is an error only when it is used.
    Sequence(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordCase {
    Lower,
    Upper,
    Title,
}

#[derive(Clone, Debug)]
pub(super) struct DecimalFormat {
    /// The digit zero of the family in use.
    pub(super) zero: char,
    pub(super) mandatory: usize,
    pub(super) optional: usize,
    pub(super) grouping: Grouping,
}

#[derive(Clone, Debug)]
pub(super) enum Grouping {
    /// The same separator after every so many digits.
    Regular { every: usize, separator: char },
    /// Separators at distances from the end, nearest first.
    Irregular(Vec<(usize, char)>),
}

/// The digit zero of every family of decimal digits in the basic plane.
const ZEROS: [u32; 37] = [
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
];

impl IntegerFormat {
    pub(crate) fn parse(picture: &str) -> Outcome<Self> {
        let (primary, modifier) = picture.rsplit_once(';').unwrap_or((picture, ""));
        let ordinal = modifier.starts_with('o');
        let primary = match primary {
            "A" => Primary::Letters { upper: true },
            "a" => Primary::Letters { upper: false },
            "I" => Primary::Roman { upper: true },
            "i" => Primary::Roman { upper: false },
            "W" => Primary::Words(WordCase::Upper),
            "Ww" => Primary::Words(WordCase::Title),
            "w" => Primary::Words(WordCase::Lower),
            digits => match DecimalFormat::parse(digits)? {
                Some(format) => Primary::Decimal(format),
                None => Primary::Sequence(digits.to_owned()),
            },
        };
        Ok(Self { primary, ordinal })
    }

    /// Writes a whole number.
    pub(crate) fn format(&self, value: f64, budget: &mut Budget) -> Outcome<String> {
        let magnitude = value.abs();
        let text = match &self.primary {
            Primary::Letters { upper } => letters(magnitude, if *upper { b'A' } else { b'a' }),
            Primary::Roman { upper } => {
                let roman = roman(magnitude, budget)?;
                if *upper { roman.to_uppercase() } else { roman }
            }
            Primary::Words(case) => {
                let words = words::to_words(magnitude, self.ordinal);
                match case {
                    WordCase::Upper => words.to_uppercase(),
                    WordCase::Lower => words.to_lowercase(),
                    WordCase::Title => words,
                }
            }
            Primary::Decimal(format) => format.write(magnitude, self.ordinal, budget)?,
            Primary::Sequence(picture) => return Err(unsupported(picture)),
        };
        Ok(if value < 0.0 { format!("-{text}") } else { text })
    }
}

pub(super) fn unsupported(picture: &str) -> crate::error::Failure {
    let mut failure = fail("D3130", format!("`{picture}` is not a numbering that is supported"));
    failure.value = Some(picture.into());
    failure
}

impl DecimalFormat {
    /// Reads a pattern of digits; none if it has no digit at all.
    fn parse(pattern: &str) -> Outcome<Option<Self>> {
        let mut zero = None;
        let (mut mandatory, mut optional, mut passed) = (0, 0, 0);
        let mut separators = Vec::new();
        for c in pattern.chars().rev() {
            let code = u32::from(c);
            if let Some(&family) = ZEROS.iter().find(|&&zero| (zero..zero + 10).contains(&code)) {
                if *zero.get_or_insert(family) != family {
                    let message = "the digits of a picture must all be of one family";
                    return Err(fail("D3131", message));
                }
                mandatory += 1;
                passed += 1;
            } else if c == '#' {
                optional += 1;
                passed += 1;
            } else {
                separators.push((passed, c));
            }
        }
        Ok(zero.and_then(char::from_u32).map(|zero| Self {
            zero,
            mandatory,
            optional,
            grouping: Grouping::of(separators),
        }))
    }

    fn write(&self, magnitude: f64, ordinal: bool, budget: &mut Budget) -> Outcome<String> {
        let plain = js::number::to_string(magnitude);
        budget.allocate(self.mandatory.max(plain.len()) * size_of::<char>() * 2)?;
        let mut digits: Vec<char> = vec!['0'; self.mandatory.saturating_sub(plain.len())];
        digits.extend(plain.chars());
        if self.zero != '0' {
            for digit in &mut digits {
                let code = u32::from(*digit) + u32::from(self.zero) - u32::from('0');
                *digit = char::from_u32(code).unwrap_or(*digit);
            }
        }
        self.grouping.insert(&mut digits);
        let mut text: String = digits.iter().collect();
        if ordinal {
            let last = digits.last().copied();
            let is_teen = digits.len() > 1 && digits[digits.len() - 2] == '1';
            text.push_str(match last {
                Some('1') if !is_teen => "st",
                Some('2') if !is_teen => "nd",
                Some('3') if !is_teen => "rd",
                _ => "th",
            });
        }
        Ok(text)
    }
}

impl Grouping {
    fn of(separators: Vec<(usize, char)>) -> Self {
        let places: Vec<usize> = separators.iter().map(|(place, _)| *place).collect();
        match separators.first() {
            Some(&(_, separator)) if separators.iter().all(|(_, c)| *c == separator) => {
                match regular_interval(&places) {
                    0 => Self::Irregular(separators),
                    every => Self::Regular { every, separator },
                }
            }
            _ => Self::Irregular(separators),
        }
    }

    fn insert(&self, digits: &mut Vec<char>) {
        match self {
            Self::Regular { every, separator } => {
                let count = digits.len().saturating_sub(1) / every;
                for group in (1..=count).rev() {
                    digits.insert(digits.len() - group * every, *separator);
                }
            }
            Self::Irregular(separators) => {
                for &(place, separator) in separators.iter().rev() {
                    match digits.len().checked_sub(place) {
                        Some(place) => digits.insert(place, separator),
                        None => {
                            // The reference counts from the end when the number is too short.
                            let kept = (place - digits.len()).min(digits.len());
                            let tail = digits.split_off(digits.len() - kept);
                            *digits = std::iter::once(separator).chain(tail).collect();
                        }
                    }
                }
            }
        }
    }
}

/// The distance at which places repeat without a gap, or zero.
pub(super) fn regular_interval(places: &[usize]) -> usize {
    let gcd = |mut a: usize, mut b: usize| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let Some(interval) = places.iter().copied().reduce(gcd) else { return 0 };
    if (1..=places.len()).all(|index| places.contains(&(index * interval))) { interval } else { 0 }
}

/// `a`, `b`, … `z`, `aa`, …
fn letters(mut value: f64, first: u8) -> String {
    let mut letters = Vec::new();
    while value > 0.0 {
        letters.push(char::from(first + ((value - 1.0) % 26.0) as u8));
        value = ((value - 1.0) / 26.0).floor();
    }
    letters.iter().rev().collect()
}

const ROMAN: [(f64, &str); 13] = [
    (1000.0, "m"),
    (900.0, "cm"),
    (500.0, "d"),
    (400.0, "cd"),
    (100.0, "c"),
    (90.0, "xc"),
    (50.0, "l"),
    (40.0, "xl"),
    (10.0, "x"),
    (9.0, "ix"),
    (5.0, "v"),
    (4.0, "iv"),
    (1.0, "i"),
];

fn roman(mut value: f64, budget: &mut Budget) -> Outcome<String> {
    // A numeral has at least one letter for every thousand.
    let thousands = (value / 1000.0) as usize;
    budget.allocate(thousands)?;
    budget.steps(thousands)?;
    let mut text = "m".repeat(thousands);
    value %= 1000.0;
    for (worth, letters) in ROMAN {
        while value >= worth {
            text.push_str(letters);
            value -= worth;
        }
    }
    Ok(text)
}
