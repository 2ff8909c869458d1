//! Pictures of numbers: `#,##0.00`, `0.0%`, `00.000e0`.

use mcpgraph_value::Value;

use super::integer::regular_interval;
use crate::error::{Failure, Outcome, fail};
use crate::item::Item;
use crate::js;
use crate::limits::Budget;

/// How many digits a double has before its decimal point at most, and some more.
const MAX_DOUBLE_DIGITS: usize = 400;

/// The characters that have a meaning in a picture.
struct Symbols {
    decimal: String,
    grouping: String,
    exponent: String,
    minus: String,
    percent: String,
    per_mille: String,
    zero: String,
    digit: String,
    pattern: String,
    /// The ten digits.
    family: Vec<char>,
}

impl Symbols {
    fn new(options: Option<&Item>) -> Self {
        let option = |key: &str, default: &str| -> String {
            let given = options.and_then(Item::members).and_then(|members| members.get(key));
            given.as_ref().and_then(Item::as_str).map_or(default.to_owned(), ToString::to_string)
        };
        let zero = option("zero-digit", "0");
        let code = zero.chars().next().map_or(u32::from('0'), u32::from);
        Self {
            decimal: option("decimal-separator", "."),
            grouping: option("grouping-separator", ","),
            exponent: option("exponent-separator", "e"),
            minus: option("minus-sign", "-"),
            percent: option("percent", "%"),
            per_mille: option("per-mille", "\u{2030}"),
            digit: option("digit", "#"),
            pattern: option("pattern-separator", ";"),
            family: (code..code + 10).filter_map(char::from_u32).collect(),
            zero,
        }
    }

    fn is_digit(&self, c: char) -> bool {
        self.family.contains(&c)
    }

    fn is_optional(&self, c: char) -> bool {
        is(c, &self.digit)
    }

    fn is_active(&self, c: char) -> bool {
        self.is_digit(c)
            || [&self.decimal, &self.exponent, &self.grouping, &self.digit, &self.pattern]
                .into_iter()
                .any(|symbol| is(c, symbol))
    }

    fn count_digits(&self, part: &str) -> usize {
        part.chars().filter(|&c| self.is_digit(c)).count()
    }

    fn count_places(&self, part: &str) -> usize {
        part.chars().filter(|&c| self.is_digit(c) || self.is_optional(c)).count()
    }
}

fn is(c: char, symbol: &str) -> bool {
    let mut chars = symbol.chars();
    chars.next() == Some(c) && chars.next().is_none()
}

/// A sub-picture, taken apart.
struct Parts<'p> {
    picture: &'p str,
    prefix: &'p str,
    suffix: &'p str,
    active: &'p str,
    mantissa: &'p str,
    exponent: Option<&'p str>,
    integer: &'p str,
    fraction: &'p str,
}

impl<'p> Parts<'p> {
    fn of(picture: &'p str, symbols: &Symbols) -> Self {
        let outside = |c: char| symbols.is_active(c) && !is(c, &symbols.exponent);
        let start = picture.find(outside).unwrap_or(0);
        let end = picture
            .char_indices()
            .rev()
            .find(|(_, c)| outside(*c))
            .map_or(picture.len(), |(place, c)| place + c.len_utf8());
        let (prefix, suffix) = (&picture[..start], &picture[end..]);
        let active = &picture[start..end.max(start)];
        // The reference looks from the prefix on but cuts as if there were none.
        let place = picture[start..].find(&symbols.exponent).map(|place| place + start);
        let (mantissa, exponent) = match place.filter(|&place| place <= end) {
            None => (active, None),
            Some(place) => {
                let cut = floor_boundary(active, place);
                let after = floor_boundary(active, place + symbols.exponent.len());
                (&active[..cut], Some(&active[after..]))
            }
        };
        let (integer, fraction) = match mantissa.split_once(symbols.decimal.as_str()) {
            Some((integer, fraction)) => (integer, fraction),
            None => (mantissa, suffix),
        };
        Self { picture, prefix, suffix, active, mantissa, exponent, integer, fraction }
    }

    fn validate(&self, symbols: &Symbols) -> Outcome<()> {
        // The reference reports the last rule that is broken.
        let mut broken: Option<(&'static str, &str)> = None;
        let mut check = |holds: bool, code: &'static str, message: &'static str| {
            if !holds {
                broken = Some((code, message));
            }
        };
        let picture = self.picture;
        let once = |symbol: &str| picture.find(symbol) == picture.rfind(symbol);
        let has = |symbol: &str| picture.contains(symbol);
        let percent = has(&symbols.percent) || has(&symbols.per_mille);
        check(once(&symbols.decimal), "D3081", "a picture has one decimal separator at most");
        check(once(&symbols.percent), "D3082", "a picture has one percent sign at most");
        check(once(&symbols.per_mille), "D3083", "a picture has one per-mille sign at most");
        check(
            !(has(&symbols.percent) && has(&symbols.per_mille)),
            "D3084",
            "a picture cannot have both a percent and a per-mille sign",
        );
        check(
            symbols.count_places(self.mantissa) > 0,
            "D3085",
            "the mantissa of a picture needs a digit",
        );
        check(
            self.active.chars().all(|c| symbols.is_active(c)),
            "D3086",
            "a picture cannot have other characters between its digits",
        );
        let grouping = symbols.grouping.as_str();
        match picture.find(&symbols.decimal) {
            Some(place) => check(
                !picture[..place].ends_with(grouping)
                    && !picture[place + symbols.decimal.len()..].starts_with(grouping),
                "D3087",
                "a grouping separator cannot stand beside the decimal separator",
            ),
            None => check(
                !self.integer.ends_with(grouping),
                "D3088",
                "a grouping separator cannot end the integer part",
            ),
        }
        check(
            !has(&grouping.repeat(2)),
            "D3089",
            "two grouping separators cannot stand side by side",
        );
        let before_optional =
            self.integer.find(&symbols.digit).map_or("", |place| &self.integer[..place]);
        check(
            symbols.count_digits(before_optional) == 0,
            "D3090",
            "in the integer part, optional digits come before mandatory ones",
        );
        let after_optional =
            self.fraction.rfind(&symbols.digit).map_or("", |place| &self.fraction[place..]);
        check(
            symbols.count_digits(after_optional) == 0,
            "D3091",
            "in the fraction, mandatory digits come before optional ones",
        );
        check(
            !(percent && self.exponent.is_some_and(|exponent| !exponent.is_empty())),
            "D3092",
            "a picture cannot have both an exponent and a percent or per-mille sign",
        );
        check(
            self.exponent.is_none_or(|exponent| {
                !exponent.is_empty() && exponent.chars().all(|c| symbols.is_digit(c))
            }),
            "D3093",
            "the exponent of a picture consists of mandatory digits",
        );
        match broken {
            Some((code, message)) => Err(fail(code, message)),
            None => Ok(()),
        }
    }
}

/// What a sub-picture asks for.
struct Layout<'p> {
    picture: &'p str,
    prefix: String,
    suffix: &'p str,
    groups: Vec<usize>,
    every: usize,
    fraction_groups: Vec<usize>,
    min_integer: usize,
    scale: usize,
    min_fraction: usize,
    max_fraction: usize,
    min_exponent: usize,
}

impl<'p> Layout<'p> {
    fn of(parts: &Parts<'p>, symbols: &Symbols) -> Self {
        let groups = group_places(parts.integer, parts.integer, symbols, false);
        let scale = symbols.count_digits(parts.integer);
        let mut min_integer = scale;
        let mut min_fraction = symbols.count_digits(parts.fraction);
        let mut max_fraction = symbols.count_places(parts.fraction);
        let has_exponent = parts.exponent.is_some();
        if min_integer == 0 && max_fraction == 0 {
            if has_exponent {
                min_fraction = 1;
                max_fraction = 1;
            } else {
                min_integer = 1;
            }
        }
        if has_exponent && min_integer == 0 && parts.integer.contains(&symbols.digit) {
            min_integer = 1;
        }
        if min_integer == 0 && min_fraction == 0 {
            min_fraction = 1;
        }
        Self {
            picture: parts.picture,
            prefix: parts.prefix.to_owned(),
            suffix: parts.suffix,
            every: regular_interval(&groups),
            groups,
            fraction_groups: group_places(parts.fraction, parts.integer, symbols, true),
            min_integer,
            scale,
            min_fraction,
            max_fraction,
            min_exponent: parts.exponent.map_or(0, |exponent| symbols.count_digits(exponent)),
        }
    }
}

/// How many digits lie between each separator of a part and the decimal separator.
///
/// The reference continues its search in the integer part, whichever part it began in.
fn group_places(part: &str, integer: &str, symbols: &Symbols, to_left: bool) -> Vec<usize> {
    let separator = symbols.grouping.as_str();
    let part: Vec<char> = part.chars().collect();
    let integer: Vec<char> = integer.chars().collect();
    let find = |chars: &[char], from: usize| {
        chars
            .iter()
            .enumerate()
            .skip(from)
            .find(|(_, c)| is(**c, separator))
            .map(|(place, _)| place)
    };
    let mut places = Vec::new();
    let mut next = find(&part, 0);
    while let Some(place) = next {
        let cut = place.min(part.len());
        let side: String =
            if to_left { part[..cut].iter().collect() } else { part[cut..].iter().collect() };
        places.push(symbols.count_places(&side));
        next = find(&integer, place + 1);
    }
    places
}

/// Writes a number as the picture says.
pub(crate) fn format(
    value: f64,
    picture: &str,
    options: Option<&Item>,
    budget: &mut Budget,
) -> Outcome<String> {
    let symbols = Symbols::new(options);
    budget.steps(picture.len())?;
    let pictures: Vec<&str> = picture.split(symbols.pattern.as_str()).collect();
    if pictures.len() > 2 {
        return Err(fail("D3080", "a picture has two parts at most"));
    }
    let parts: Vec<_> = pictures.iter().map(|picture| Parts::of(picture, &symbols)).collect();
    for part in &parts {
        part.validate(&symbols)?;
    }
    // Not a number is not at least zero.
    let is_negative = value < 0.0 || value.is_nan();
    let chosen = if is_negative { parts.last() } else { parts.first() };
    let Some(chosen) = chosen else { return Ok(String::new()) };
    let mut layout = Layout::of(chosen, &symbols);
    if parts.len() == 1 && is_negative {
        layout.prefix.insert_str(0, &symbols.minus);
    }
    let digits = layout.min_integer + layout.max_fraction + layout.min_exponent;
    budget.allocate((digits + MAX_DOUBLE_DIGITS) * size_of::<char>() * 2)?;
    write(value, &layout, &symbols)
}

fn write(value: f64, layout: &Layout<'_>, symbols: &Symbols) -> Outcome<String> {
    let adjusted = if layout.picture.contains(&symbols.percent) {
        value * 100.0
    } else if layout.picture.contains(&symbols.per_mille) {
        value * 1000.0
    } else {
        value
    };
    let (mantissa, exponent) = scaled(adjusted, layout);
    if layout.max_fraction > 100 {
        return Err(too_many_digits(layout.max_fraction));
    }
    let rounded = crate::builtins::round_to(mantissa, layout.max_fraction as f64);
    let fixed = js::number::to_fixed(rounded.abs(), layout.max_fraction);
    let mut digits = Digits::new(&fixed, symbols);
    digits.pad(layout);
    digits.group(layout, symbols);
    let mut out = layout.prefix.clone();
    out.extend(digits.finish(layout.picture.contains(&symbols.decimal)));
    if let Some(exponent) = exponent {
        out.push_str(&symbols.exponent);
        if exponent < 0.0 {
            out.push_str(&symbols.minus);
        }
        let written = localized(&js::number::to_fixed(exponent.abs(), 0), symbols);
        for _ in written.len()..layout.min_exponent {
            out.push(digits.zero);
        }
        out.extend(written);
    }
    out.push_str(layout.suffix);
    Ok(out)
}

/// The digits of a number with a decimal separator among them.
struct Digits {
    chars: Vec<char>,
    separator: char,
    zero: char,
}

impl Digits {
    fn new(fixed: &str, symbols: &Symbols) -> Self {
        let separator = symbols.decimal.chars().next().unwrap_or('.');
        let zero = symbols.zero.chars().next().unwrap_or('0');
        let (integer, fraction) = fixed.split_once('.').unwrap_or((fixed, ""));
        let mut chars = localized(integer.trim_start_matches('0'), symbols);
        chars.push(separator);
        chars.extend(localized(fraction.trim_end_matches('0'), symbols));
        Self { chars, separator, zero }
    }

    /// Where the separator is.
    fn point(&self) -> usize {
        self.chars.iter().position(|&c| c == self.separator).unwrap_or(self.chars.len())
    }

    fn pad(&mut self, layout: &Layout<'_>) {
        let left = layout.min_integer.saturating_sub(self.point());
        self.chars.splice(..0, std::iter::repeat_n(self.zero, left));
        let shown = self.chars.len() - self.point() - 1;
        let right = layout.min_fraction.saturating_sub(shown);
        self.chars.extend(std::iter::repeat_n(self.zero, right));
    }

    fn group(&mut self, layout: &Layout<'_>, symbols: &Symbols) {
        let point = self.point();
        match point.saturating_sub(1).checked_div(layout.every) {
            Some(count) => {
                for group in 1..=count {
                    self.insert(point - group * layout.every, symbols);
                }
            }
            None => {
                for (done, place) in layout.groups.iter().enumerate() {
                    // A number that is too short is counted from its end, as in the reference.
                    let place = (point + done).checked_sub(*place).unwrap_or_else(|| {
                        (self.chars.len() + point + done).saturating_sub(*place)
                    });
                    self.insert(place, symbols);
                }
            }
        }
        let point = self.point();
        for place in &layout.fraction_groups {
            self.insert(place + point + 1, symbols);
        }
    }

    fn insert(&mut self, place: usize, symbols: &Symbols) {
        let place = place.min(self.chars.len());
        self.chars.splice(place..place, symbols.grouping.chars());
    }

    /// The characters, without a separator that ends them or that the picture has not.
    fn finish(&mut self, has_separator: bool) -> impl Iterator<Item = char> + '_ {
        if !has_separator || self.point() + 1 == self.chars.len() {
            self.chars.pop();
        }
        self.chars.iter().copied()
    }
}

/// The mantissa and exponent of a number, if the picture has an exponent.
fn scaled(number: f64, layout: &Layout<'_>) -> (f64, Option<f64>) {
    if layout.min_exponent == 0 {
        return (number, None);
    }
    let largest = 10_f64.powf(layout.scale as f64);
    let smallest = 10_f64.powf(layout.scale as f64 - 1.0);
    let (mut mantissa, mut exponent) = (number, 0.0);
    if mantissa != 0.0 && mantissa.is_finite() {
        while mantissa.abs() < smallest {
            mantissa *= 10.0;
            exponent -= 1.0;
        }
        while mantissa.abs() > largest {
            mantissa /= 10.0;
            exponent += 1.0;
        }
    }
    (mantissa, Some(exponent))
}

/// Digits in the family of the picture.
fn localized(digits: &str, symbols: &Symbols) -> Vec<char> {
    digits
        .chars()
        .map(|c| match c.to_digit(10) {
            Some(digit) => symbols.family.get(digit as usize).copied().unwrap_or(c),
            None => c,
        })
        .collect()
}

fn too_many_digits(count: usize) -> Failure {
    let mut failure = fail("D3085", format!("a picture asks for {count} digits, more than 100"));
    failure.value = Some(Value::from(count));
    failure
}

/// The largest place up to `index` at which a text can be cut.
fn floor_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}
