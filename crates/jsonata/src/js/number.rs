/// The decimal digits of a finite, non-negative number and the power of ten of the first.
struct Decimal {
    digits: String,
    exponent: i32,
}

impl Decimal {
    /// The shortest digits that give the number back.
    fn shortest(number: f64) -> Self {
        Self::read(&format!("{number:e}"))
    }

    /// `count` digits, exact; `count` is at least one.
    fn rounded(number: f64, count: usize) -> Self {
        Self::read(&format!("{number:.*e}", count - 1))
    }

    fn read(text: &str) -> Self {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        Self {
            digits: mantissa.chars().filter(char::is_ascii_digit).collect(),
            exponent: exponent.parse().unwrap_or(0),
        }
    }
}

/// A number as `String(number)` writes it.
pub(crate) fn to_string(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number < 0.0 { "-Infinity" } else { "Infinity" }.to_owned();
    }
    if number == 0.0 {
        return "0".to_owned();
    }
    // Up to 2^53 the integers are themselves.
    if number.fract() == 0.0 && number.abs() < 9e15 {
        return (number as i64).to_string();
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let Decimal { digits, exponent } = Decimal::shortest(number.abs());
    // A double has 17 digits at most.
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    if (0..21).contains(&exponent) {
        if count <= exponent + 1 {
            return format!("{sign}{digits}{}", "0".repeat((exponent + 1 - count) as usize));
        }
        let (whole, fraction) = digits.split_at(exponent as usize + 1);
        return format!("{sign}{whole}.{fraction}");
    }
    if (-6..0).contains(&exponent) {
        return format!("{sign}0.{}{digits}", "0".repeat((-exponent - 1) as usize));
    }
    let (first, rest) = digits.split_at(1);
    let point = if rest.is_empty() { "" } else { "." };
    let plus = if exponent < 0 { "-" } else { "+" };
    format!("{sign}{first}{point}{rest}e{plus}{}", exponent.abs())
}

/// A number rounded to 15 significant digits, as `$string` does to hide binary fractions.
pub(crate) fn to_fifteen_digits(number: f64) -> f64 {
    const DIGITS: usize = 15;
    let shortest = Decimal::shortest(number.abs());
    if shortest.digits.len() <= DIGITS {
        return number;
    }
    let mut rounded = Decimal::rounded(number.abs(), DIGITS);
    if is_tie(number.abs(), DIGITS) {
        // JavaScript takes the larger of two that are equally near, Rust the even one.
        rounded = Decimal::rounded(number.abs(), DIGITS + 1);
        rounded.digits.pop();
        increment(&mut rounded);
    }
    let Decimal { digits, exponent } = rounded;
    let text = match digits.split_at_checked(1) {
        Some((first, rest)) => format!("{first}.{rest}e{exponent}"),
        None => return number,
    };
    text.parse::<f64>().unwrap_or(number).copysign(number)
}

/// Whether exactly a half of the last of `count` digits would be cut off.
fn is_tie(number: f64, count: usize) -> bool {
    // No double has more than 767 digits; a half has one digit more than is kept, and zeros.
    let exact = Decimal::rounded(number, 770);
    let cut = exact.digits.get(count..).unwrap_or_default();
    cut.starts_with('5') && cut[1..].bytes().all(|digit| digit == b'0')
}

/// Adds one to the last digit.
fn increment(decimal: &mut Decimal) {
    let mut digits: Vec<u8> = std::mem::take(&mut decimal.digits).into_bytes();
    for digit in digits.iter_mut().rev() {
        if *digit < b'9' {
            *digit += 1;
            decimal.digits = String::from_utf8(digits).unwrap_or_default();
            return;
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
    digits.pop();
    decimal.exponent += 1;
    decimal.digits = String::from_utf8(digits).unwrap_or_default();
}

/// A non-negative number with `places` digits behind the point, as `toFixed` writes it.
pub(crate) fn to_fixed(number: f64, places: usize) -> String {
    if number >= 1e21 {
        return to_string(number);
    }
    let text = format!("{number:.places$}");
    // A tie goes up in JavaScript; asking for the exact digits shows whether this was one.
    let exact = format!("{number:.*}", places + 60);
    let point = exact.find('.').unwrap_or(exact.len());
    let cut = exact.get(point + 1 + places..).unwrap_or_default();
    if !(cut.starts_with('5') && cut[1..].bytes().all(|digit| digit == b'0')) {
        return text;
    }
    let mut digits: Vec<u8> = exact[..point + 1 + places].trim_end_matches('.').bytes().collect();
    for digit in digits.iter_mut().rev().filter(|digit| **digit != b'.') {
        if *digit < b'9' {
            *digit += 1;
            return String::from_utf8(digits).unwrap_or(text);
        }
        *digit = b'0';
    }
    digits.insert(0, b'1');
    String::from_utf8(digits).unwrap_or(text)
}

/// A whole number in another base, as `toString(radix)` writes it.
pub(crate) fn to_base(number: f64, radix: u32) -> String {
    if radix == 10 || !number.is_finite() {
        return to_string(number);
    }
    /// Beyond this a double holds no units, and the digits that it has no bits for are zeros.
    const UNIT_LIMIT: f64 = 9_007_199_254_740_992.0;
    let base = f64::from(radix);
    let mut rest = number.abs();
    let mut digits = Vec::new();
    while rest >= UNIT_LIMIT {
        rest /= base;
        digits.push('0');
    }
    rest = rest.trunc();
    loop {
        let digit = rest % base;
        digits.push(char::from_digit(digit as u32, radix).unwrap_or('0'));
        rest = (rest - digit) / base;
        if rest <= 0.0 {
            break;
        }
    }
    if number < 0.0 {
        digits.push('-');
    }
    digits.into_iter().rev().collect()
}

/// `Math.round`: halves go up.
pub(crate) fn round_half_up(number: f64) -> f64 {
    let floor = number.floor();
    if number - floor >= 0.5 { floor + 1.0 } else { floor }
}

/// The number at the beginning of a text, as `parseInt(text, 10)` reads it, or NaN.
pub(crate) fn parse_int(text: &str) -> f64 {
    let text = text.trim_start_matches(super::text::is_space);
    let (sign, digits) = match text.as_bytes().first() {
        Some(b'-') => (-1.0, &text[1..]),
        Some(b'+') => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    digits[..count].parse::<f64>().map_or(f64::NAN, |number| sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.5, "1.5"),
            (-12.0, "-12"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1.25e-7, "1.25e-7"),
            (123_456_789.123_456_79, "123456789.12345679"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(to_string(number), text);
        }
        assert_eq!(to_fifteen_digits(0.1 + 0.2), 0.3);
        assert_eq!(to_fifteen_digits(1_000_000_000_000.125), 1_000_000_000_000.13);
        assert_eq!(to_fixed(2.5, 0), "3");
        assert_eq!(to_fixed(0.5, 0), "1");
        assert_eq!(to_fixed(1.005, 2), "1.00");
        assert_eq!(to_fixed(9.5, 0), "10");
        assert_eq!(to_fixed(12.0, 2), "12.00");
        assert_eq!(to_base(255.0, 16), "ff");
        assert_eq!(to_base(-5.0, 2), "-101");
        assert_eq!(parse_int(" -12ab"), -12.0);
        assert!(parse_int("x").is_nan());
    }
}
