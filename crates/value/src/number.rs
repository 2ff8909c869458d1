use std::fmt;
use std::sync::Arc;

/// A JSON number.
///
/// Integers and doubles are held as such; a number that neither can hold without losing digits
/// keeps its text, so that a 30-digit integer survives a pass through the product.
#[derive(Clone)]
pub struct Number(Repr);

#[derive(Clone)]
enum Repr {
    Int(i64),
    Float(f64),
    Text(Arc<Digits>),
}

/// A number as it was written, and as near as a double comes to it.
struct Digits {
    text: Box<str>,
    float: f64,
}

/// The largest integer up to which every integer has a double of its own.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

impl Number {
    /// The number a computation in doubles gives, or none for NaN and the infinities, which JSON
    /// cannot write. Whole numbers become integers, so that `3.0` is written `3`.
    pub fn from_f64(number: f64) -> Option<Self> {
        match whole(number) {
            Some(int) => Some(Self(Repr::Int(int))),
            None => number.is_finite().then_some(Self(Repr::Float(number))),
        }
    }

    /// Reads a number as JSON writes it; none if the text is not one.
    pub fn from_json(text: &str) -> Option<Self> {
        if !is_json_number(text) {
            return None;
        }
        if let Ok(int) = text.parse::<i64>()
            && text != "-0"
        {
            return Some(Self(Repr::Int(int)));
        }
        let float = text.parse::<f64>().ok()?;
        let is_exact =
            is_kept(text) || (float.is_finite() && Self(Repr::Float(float)).to_string() == text);
        Some(Self(if is_exact {
            Repr::Float(float)
        } else {
            Repr::Text(Arc::new(Digits { text: text.into(), float }))
        }))
    }

    /// The number as JavaScript would hold it; a number too large for that is an infinity.
    pub fn as_f64(&self) -> f64 {
        match &self.0 {
            Repr::Int(int) => *int as f64,
            Repr::Float(float) => *float,
            Repr::Text(digits) => digits.float,
        }
    }

    /// The number as an integer, if it is one exactly.
    pub fn as_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Int(int) => Some(*int),
            Repr::Float(float) => whole(*float),
            Repr::Text(digits) => whole(digits.float),
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.as_text().map_or(0, |text| text.len() + size_of::<Digits>())
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Repr::Text(digits) = &self.0 { Some(&digits.text) } else { None }
    }

    pub(crate) fn as_plain_int(&self) -> Option<i64> {
        if let Repr::Int(int) = self.0 { Some(int) } else { None }
    }
}

fn whole(float: f64) -> Option<i64> {
    let int = float as i64;
    (int as f64 == float && float.abs() <= MAX_SAFE_INTEGER).then_some(int)
}

/// Whether a double is written as this text again, told from the text alone: fifteen digits always
/// survive, and a point among them stays where it is unless the number is very small.
fn is_kept(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let Some((whole, fraction)) = digits.split_once('.') else { return false };
    whole.len() + fraction.len() <= 15
        && !fraction.ends_with('0')
        && !(whole == "0" && fraction.starts_with("00"))
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
}

/// The grammar of RFC 8259, section 6.
fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| -> usize { text.bytes().take_while(u8::is_ascii_digit).count() };
    let mut rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 || (whole > 1 && rest.starts_with('0')) {
        return false;
    }
    rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = digits(fraction);
        if count == 0 {
            return false;
        }
        rest = &fraction[count..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let count = digits(exponent);
        if count == 0 {
            return false;
        }
        rest = &exponent[count..];
    }
    rest.is_empty()
}

/// Numbers are equal by value; two that are kept as text also by text, so that long integers which
/// differ in their last digit do.
impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Repr::Int(a), Repr::Int(b)) => a == b,
            (Repr::Text(a), Repr::Text(b)) if a.text == b.text => true,
            (Repr::Text(a), Repr::Text(b)) if is_integer(&a.text) && is_integer(&b.text) => false,
            _ => self.as_f64() == other.as_f64(),
        }
    }
}

fn is_integer(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Int(int) => write!(f, "{int}"),
            Repr::Text(digits) => f.write_str(&digits.text),
            Repr::Float(float) => match serde_json::Number::from_f64(*float) {
                Some(number) => write!(f, "{number}"),
                None => f.write_str("null"),
            },
        }
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Number {
    fn from(int: i64) -> Self {
        Self(Repr::Int(int))
    }
}
