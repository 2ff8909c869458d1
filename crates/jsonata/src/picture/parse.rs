//! Reading numbers and times that were written with a picture.

use std::collections::HashMap;

use super::calendar::{Date, MILLIS_PER_DAY, utc, utc_from_parts};
use super::datetime::{DAYS, DatePicture, MONTHS, Marker, Part, component_value, no_names};
use super::integer::{DecimalFormat, Grouping, IntegerFormat, Primary, unsupported};
use super::words;
use crate::error::{Failure, Outcome, fail};
use crate::js;

/// Reads a whole number; NaN if it is none.
pub(crate) fn parse_integer(text: &str, picture: &str) -> Outcome<f64> {
    IntegerFormat::parse(picture)?.read(text)
}

impl IntegerFormat {
    fn read(&self, text: &str) -> Outcome<f64> {
        match &self.primary {
            Primary::Letters { upper } => Ok(read_letters(text, if *upper { 'A' } else { 'a' })),
            Primary::Roman { upper } => {
                Ok(if *upper { read_roman(text) } else { read_roman(&text.to_uppercase()) })
            }
            Primary::Words(_) => Ok(words::from_words(&text.to_lowercase())),
            Primary::Decimal(format) => Ok(format.read(text, self.ordinal)),
            Primary::Sequence(picture) => Err(unsupported(picture)),
        }
    }

    /// A pattern of what can be read.
    fn pattern(&self, width: Option<usize>) -> Outcome<String> {
        Ok(match &self.primary {
            Primary::Letters { upper: true } => "[A-Z]+".to_owned(),
            Primary::Letters { upper: false } => "[a-z]+".to_owned(),
            Primary::Roman { .. } => "[mdclxvi]+".to_owned(),
            Primary::Words(_) => {
                let names: Vec<_> = words::all_words().map(|(name, _)| name).collect();
                format!("(?:{}|and|[-, ])+", names.join("|"))
            }
            Primary::Decimal(_) => {
                let count = match width {
                    Some(width) if width > 0 => format!("{{{width}}}"),
                    _ => "+".to_owned(),
                };
                let suffix = if self.ordinal { "(?:th|st|nd|rd)" } else { "" };
                format!("[0-9]{count}{suffix}")
            }
            Primary::Sequence(picture) => return Err(unsupported(picture)),
        })
    }
}

impl DecimalFormat {
    fn read(&self, text: &str, ordinal: bool) -> f64 {
        let mut chars: Vec<char> = text.chars().collect();
        if ordinal {
            chars.truncate(chars.len().saturating_sub(2));
        }
        match &self.grouping {
            Grouping::Regular { .. } => chars.retain(|c| *c != ','),
            Grouping::Irregular(separators) => {
                chars.retain(|c| !separators.iter().any(|(_, separator)| separator == c));
            }
        }
        let digits: String = chars
            .into_iter()
            .map(|c| {
                let code = u32::from(c) + u32::from('0');
                code.checked_sub(u32::from(self.zero)).and_then(char::from_u32).unwrap_or(' ')
            })
            .collect();
        match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            // The reference leaves the base to JavaScript.
            Some(hex) => {
                let count = hex.bytes().take_while(u8::is_ascii_hexdigit).count();
                u64::from_str_radix(&hex[..count], 16).map_or(f64::NAN, |number| number as f64)
            }
            None => js::number::parse_int(&digits),
        }
    }
}

fn read_letters(text: &str, first: char) -> f64 {
    text.encode_utf16()
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .zip(0..)
        .map(|(unit, power)| {
            (f64::from(unit) - f64::from(u32::from(first)) + 1.0) * 26_f64.powi(power)
        })
        .sum()
}

fn read_roman(text: &str) -> f64 {
    let (mut total, mut largest) = (0.0, 1.0);
    for letter in text.chars().rev() {
        let value = match letter {
            'M' => 1000.0,
            'D' => 500.0,
            'C' => 100.0,
            'L' => 50.0,
            'X' => 10.0,
            'V' => 5.0,
            'I' => 1.0,
            _ => return f64::NAN,
        };
        if value < largest {
            total -= value;
        } else {
            largest = value;
            total += value;
        }
    }
    total
}

impl DatePicture {
    /// Reads a time; nothing if it was not written with this picture.
    pub(crate) fn read(&self, text: &str, now_millis: i64) -> Outcome<Option<f64>> {
        let mut pattern = String::from("(?i)^");
        for part in &self.parts {
            pattern.push('(');
            pattern.push_str(&match part {
                Part::Literal(literal) => regex::escape(literal),
                Part::Marker(marker) => marker.pattern()?,
            });
            pattern.push(')');
        }
        pattern.push('$');
        let matcher = regex::RegexBuilder::new(&pattern)
            .size_limit(2 * 1024 * 1024)
            .build()
            .map_err(|_| fail("D3136", "the picture is too large to read a time with"))?;
        let Some(captures) = matcher.captures(text) else { return Ok(None) };
        let mut components = Components::default();
        for (part, captured) in self.parts.iter().zip(captures.iter().skip(1)) {
            if let (Part::Marker(marker), Some(captured)) = (part, captured)
                && let Some(component) = marker.component
            {
                components.0.insert(component, marker.read(captured.as_str())?);
            }
        }
        if components.0.is_empty() {
            return Ok(None);
        }
        components.into_millis(now_millis).map(Some)
    }
}

impl Marker {
    fn pattern(&self) -> Outcome<String> {
        if let Some(component @ ('Z' | 'z')) = self.component {
            let prefix = if component == 'z' { "GMT" } else { "" };
            let minutes = match self.zone_separator() {
                Some(separator) => format!("{}[0-9]+", regex::escape(&separator.to_string())),
                None => String::new(),
            };
            return Ok(format!("{prefix}[-+][0-9]+{minutes}"));
        }
        match (&self.format, self.component) {
            (_, Some('f')) => Ok("[0-9]+".to_owned()),
            (Some(format), _) => format.pattern(self.parse_width),
            (None, Some('M' | 'x' | 'F' | 'P')) => Ok("[a-zA-Z]+".to_owned()),
            (None, component) => Err(no_names(component.unwrap_or(' '))),
        }
    }

    fn zone_separator(&self) -> Option<char> {
        match &self.format.as_ref()?.primary {
            Primary::Decimal(DecimalFormat {
                grouping: Grouping::Regular { separator, .. },
                ..
            }) => Some(*separator),
            _ => None,
        }
    }

    /// The value of a component; nothing if it is a name that is not known.
    fn read(&self, text: &str) -> Outcome<Option<f64>> {
        match (&self.format, self.component) {
            (_, Some('f')) => {
                let digits = text.get(..3).unwrap_or(text);
                Ok(format!("0.{digits}").parse::<f64>().ok().map(|fraction| fraction * 1000.0))
            }
            (_, Some(component @ ('Z' | 'z'))) => {
                let text = if component == 'z' { text.get(3..).unwrap_or_default() } else { text };
                Ok(Some(self.read_zone(text)))
            }
            (Some(format), _) => format.read(text).map(Some),
            (None, Some('P')) => Ok(match text {
                "am" | "AM" => Some(0.0),
                "pm" | "PM" => Some(1.0),
                _ => None,
            }),
            (None, component) => {
                let names: &[&str] = if component == Some('F') { &DAYS } else { &MONTHS };
                let width = self.max_width.filter(|width| *width > 0.0).map(|width| width as usize);
                let place = names.iter().position(|name| {
                    text == width.and_then(|width| name.get(..width)).unwrap_or(name)
                });
                Ok(place.map(|place| place as f64 + 1.0))
            }
        }
    }

    /// An offset in minutes.
    fn read_zone(&self, text: &str) -> f64 {
        let (hours, minutes) = match self.zone_separator() {
            Some(separator) => text.split_once(separator).unwrap_or((text, "0")),
            None if text.len() <= 3 => (text, "0"),
            None => text.split_at(3),
        };
        js::number::parse_int(hours) * 60.0 + js::number::parse_int(minutes)
    }
}

/// What was read, by component; a name that is not known has no value.
#[derive(Default)]
struct Components(HashMap<char, Option<f64>>);

impl Components {
    fn get(&self, component: char) -> Option<f64> {
        self.0.get(&component).copied().flatten()
    }

    /// Which of the components have a value other than zero, one bit each.
    fn mask(&self, components: &str) -> u32 {
        components.chars().fold(0, |mask, component| {
            let present = self.get(component).is_some_and(|value| value != 0.0 && !value.is_nan());
            mask << 1 | u32::from(present)
        })
    }

    /// The time they tell: what is missing before the first that is given comes from now, what is
    /// missing after the last is the beginning of it; a gap between them is an error.
    fn into_millis(mut self, now_millis: i64) -> Outcome<f64> {
        let fits = |allowed: u32, mask: u32| !allowed & mask == 0 && allowed & mask != 0;
        let date = self.mask("YXMxWwdD");
        let by_month = fits(0b1010_0001, date);
        let by_day_of_year = !by_month && fits(0b1000_0010, date);
        let by_week_of_month = fits(0b0101_0100, date);
        let by_week = !by_week_of_month && fits(0b0100_1000, date);
        let time = self.mask("PHhmsf");
        let by_half_day = !fits(0b01_0111, time) && fits(0b10_1111, time);
        let date_order = if by_day_of_year {
            "YD"
        } else if by_week_of_month {
            "XxwF"
        } else if by_week {
            "XWF"
        } else {
            "YMD"
        };
        let time_order = if by_half_day { "Phmsf" } else { "Hmsf" };
        self.fill_in(&format!("{date_order}{time_order}"), now_millis)?;
        if by_week_of_month || by_week {
            return Err(missing_parts());
        }
        let month = self.get('M').filter(|month| *month > 0.0).map_or(0.0, |month| month - 1.0);
        let value = |component: char| self.get(component).unwrap_or(f64::NAN);
        let (mut month, mut day) = (month, value('D'));
        if by_day_of_year && value('Y').is_finite() && value('d').is_finite() {
            let first = utc(value('Y') as i64, 0, 1) as f64;
            if let Some(date) = Date::at(first + (value('d') - 1.0) * MILLIS_PER_DAY as f64) {
                (month, day) = (date.month as f64, date.day as f64);
            }
        }
        let hour = if by_half_day {
            let hour = if value('h') == 12.0 { 0.0 } else { value('h') };
            if value('P') == 1.0 { hour + 12.0 } else { hour }
        } else {
            value('H')
        };
        let millis =
            utc_from_parts([value('Y'), month, day, hour, value('m'), value('s'), value('f')]);
        let offset =
            self.get('Z').filter(|offset| *offset != 0.0).or_else(|| self.get('z')).unwrap_or(0.0);
        Ok(millis - offset * 60_000.0)
    }

    fn fill_in(&mut self, order: &str, now_millis: i64) -> Outcome<()> {
        let now = Date::at(now_millis as f64);
        let (mut started, mut ended) = (false, false);
        for component in order.chars() {
            if self.get(component).is_some() {
                if ended {
                    return Err(missing_parts());
                }
                started = true;
                continue;
            }
            let value = if started {
                ended = true;
                Some(if "MDd".contains(component) { 1.0 } else { 0.0 })
            } else {
                component_value(now, component)
            };
            self.0.insert(component, value);
        }
        Ok(())
    }
}

fn missing_parts() -> Failure {
    fail("D3136", "the picture leaves out a component between two others, so no time can be read")
}

/// Reads a time in the forms of ISO 8601 that the reference takes; none if it is in none of them,
/// NaN if there is no such time.
pub(crate) fn parse_iso_8601(text: &str) -> Option<f64> {
    let mut rest = text;
    let year = digits(&mut rest, 4)?;
    let month = if rest.starts_with('-') { Some(part(&mut rest, "-", b'1')?) } else { None };
    let day = if rest.starts_with('-') { Some(part(&mut rest, "-", b'3')?) } else { None };
    let mut time = [0.0; 3];
    if rest.starts_with('T') {
        time =
            [part(&mut rest, "T", b'2')?, part(&mut rest, ":", b'5')?, part(&mut rest, ":", b'5')?];
    }
    let mut milli = 0.0;
    if let Some(fraction) = rest.strip_prefix('.') {
        let count = fraction.bytes().take_while(u8::is_ascii_digit).count();
        if count == 0 {
            return None;
        }
        milli = format!("{:0<3.3}", &fraction[..count]).parse().ok()?;
        rest = &fraction[count..];
    }
    let mut offset = 0.0;
    if let Some(after) = rest.strip_prefix('Z') {
        rest = after;
    } else if rest.starts_with(['+', '-']) {
        let sign = if rest.starts_with('-') { -1.0 } else { 1.0 };
        rest = &rest[1..];
        let hours = part(&mut rest, "", b'2')?;
        rest = rest.strip_prefix(':').unwrap_or(rest);
        offset = sign * (hours * 60.0 + part(&mut rest, "", b'5')?);
    }
    if !rest.is_empty() {
        return None;
    }
    let (month, day) = (month.unwrap_or(1.0), day.unwrap_or(1.0));
    let [hour, minute, second] = time;
    let is_midnight = minute == 0.0 && second == 0.0 && milli == 0.0;
    if !(1.0..=12.0).contains(&month)
        || !(1.0..=31.0).contains(&day)
        || hour > 24.0
        || (hour == 24.0 && !is_midnight)
    {
        return Some(f64::NAN);
    }
    // A year below 100 is meant as written here, other than in `Date.UTC`.
    let century = if year < 100.0 { 400.0 } else { 0.0 };
    let millis = utc_from_parts([year + century, month - 1.0, day, hour, minute, second, milli]);
    let shift = century / 400.0 * 146_097.0 * MILLIS_PER_DAY as f64;
    Some(millis - shift - offset * 60_000.0)
}

/// Two digits behind a mark, of which the first is no larger than `most`.
fn part(rest: &mut &str, mark: &str, most: u8) -> Option<f64> {
    let after = rest.strip_prefix(mark)?;
    if *after.as_bytes().first()? > most {
        return None;
    }
    *rest = after;
    digits(rest, 2)
}

fn digits(rest: &mut &str, count: usize) -> Option<f64> {
    let digits = rest.get(..count)?;
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    *rest = &rest[count..];
    digits.parse().ok()
}
