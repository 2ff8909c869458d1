//! Pictures of times: `[Y0001]-[M01]-[D01]`, `[FNn], [D1o] [MNn]`.

use std::sync::LazyLock;

use super::calendar::{Date, MILLIS_PER_DAY, first_week, shift_month, utc};
use super::integer::{IntegerFormat, Primary};
use crate::error::{Failure, Outcome, fail};
use crate::js;
use crate::limits::Budget;

/// A picture, taken apart.
#[derive(Debug)]
pub(crate) struct DatePicture {
    pub(super) parts: Vec<Part>,
}

#[derive(Debug)]
pub(super) enum Part {
    Literal(String),
    Marker(Marker),
}

/// One component in brackets.
#[derive(Debug)]
pub(super) struct Marker {
    /// Such as `Y`; nothing if the brackets are empty.
    pub(super) component: Option<char>,
    pub(super) names: Option<NameCase>,
    pub(super) format: Option<IntegerFormat>,
    pub(super) max_width: Option<f64>,
    /// How many digits of a year are shown.
    year_digits: Option<f64>,
    /// How many digits are read when another number follows at once.
    pub(super) parse_width: Option<usize>,
    /// `t`: an offset of zero is written `Z`.
    is_traditional: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NameCase {
    Lower,
    Upper,
    Title,
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const DAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// The components that are numbers.
const NUMBERS: &str = "YMDdFWwXxHhmsf";

impl DatePicture {
    /// The picture of ISO 8601, used when none is given.
    pub(crate) fn iso_8601() -> Outcome<&'static Self> {
        const PICTURE: &str = "[Y0001]-[M01]-[D01]T[H01]:[m01]:[s01].[f001][Z01:01t]";
        static PARSED: LazyLock<Option<DatePicture>> =
            LazyLock::new(|| DatePicture::parse(PICTURE).ok());
        PARSED.as_ref().ok_or_else(|| fail("D3135", "the picture of ISO 8601 cannot be read"))
    }

    pub(crate) fn parse(picture: &str) -> Outcome<Self> {
        let mut parts: Vec<Part> = Vec::new();
        let mut rest = picture;
        while let Some(place) = rest.find('[') {
            let (literal, bracket) = rest.split_at(place);
            push_literal(&mut parts, literal);
            if let Some(after) = bracket.strip_prefix("[[") {
                parts.push(Part::Literal("[".to_owned()));
                rest = after;
                continue;
            }
            let Some(end) = bracket.find(']') else {
                return Err(fail("D3135", "a `[` of the picture has no closing `]`"));
            };
            let marker = Marker::parse(&bracket[1..end])?;
            if marker.component.is_some_and(|component| NUMBERS.contains(component))
                && marker.format.is_some()
                && let Some(Part::Marker(previous)) = parts.last_mut()
            {
                // Two numbers side by side: the first must have a known width to be read.
                previous.parse_width = previous.mandatory_digits();
            }
            parts.push(Part::Marker(marker));
            rest = &bracket[end + 1..];
        }
        push_literal(&mut parts, rest);
        Ok(Self { parts })
    }

    /// Writes a time with an offset from UTC such as `+0100`.
    pub(crate) fn format(
        &self,
        millis: f64,
        timezone: Option<&str>,
        budget: &mut Budget,
    ) -> Outcome<String> {
        let offset = timezone.map_or(0.0, js::number::parse_int);
        let zone = Zone { hours: (offset / 100.0).floor(), minutes: offset % 100.0 };
        let shift = (60.0 * zone.hours + zone.minutes) * 60_000.0;
        let date = Date::at(millis + shift);
        let mut out = String::new();
        for part in &self.parts {
            budget.step()?;
            match part {
                Part::Literal(text) => out.push_str(text),
                Part::Marker(marker) => out.push_str(&marker.write(date, zone, budget)?),
            }
        }
        Ok(out)
    }
}

/// An offset as it is written: 5 h 30 min is `+0530`.
#[derive(Clone, Copy)]
struct Zone {
    hours: f64,
    minutes: f64,
}

fn push_literal(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Literal(text.replace("]]", "]")));
    }
}

impl Marker {
    fn parse(text: &str) -> Outcome<Self> {
        let text: String = text.split(js::text::is_space).collect();
        let component = text.chars().next();
        let (modifier, width) = match text.rfind(',') {
            Some(comma) => (text.get(1..comma).unwrap_or_default(), Some(&text[comma + 1..])),
            None => (text.get(component.map_or(0, char::len_utf8)..).unwrap_or_default(), None),
        };
        let (min_width, max_width) =
            match width.map(|width| width.split_once('-').unwrap_or((width, "*"))) {
                Some((min, max)) => (parse_width(min), parse_width(max)),
                None => (None, None),
            };
        let mut second = None;
        let first = match modifier.char_indices().last() {
            None => component
                .and_then(default_presentation)
                .ok_or_else(|| unknown_component(component))?,
            Some((place, last)) if place > 0 && "atco".contains(last) => {
                second = Some(last);
                &modifier[..place]
            }
            Some(_) => modifier,
        };
        let names = if first.starts_with('n') {
            Some(NameCase::Lower)
        } else if first.starts_with("Nn") {
            Some(NameCase::Title)
        } else if first.starts_with('N') {
            Some(NameCase::Upper)
        } else {
            None
        };
        let mut marker = Self {
            component,
            names,
            format: None,
            max_width,
            year_digits: None,
            parse_width: None,
            is_traditional: second == Some('t'),
        };
        match component {
            Some('Z' | 'z') => marker.format = Some(IntegerFormat::parse(first)?),
            Some(letter) if names.is_none() && NUMBERS.contains(letter) => {
                let picture = match second {
                    Some(second) => format!("{first};{second}"),
                    None => first.to_owned(),
                };
                marker.format = Some(IntegerFormat::parse(&picture)?);
                marker.apply_width(min_width, letter);
            }
            _ => {}
        }
        Ok(marker)
    }

    fn apply_width(&mut self, min_width: Option<f64>, component: char) {
        let max_width = self.max_width;
        let Some(IntegerFormat { primary: Primary::Decimal(decimal), .. }) = &mut self.format
        else {
            return;
        };
        if let Some(min) = min_width
            && (decimal.mandatory as f64) < min
        {
            decimal.mandatory = min as usize;
        }
        if component == 'Y' {
            match max_width {
                Some(max) => {
                    self.year_digits = Some(max);
                    decimal.mandatory = max.max(0.0) as usize;
                }
                None => {
                    let width = decimal.mandatory + decimal.optional;
                    self.year_digits = (width >= 2).then_some(width as f64);
                }
            }
        }
    }

    fn mandatory_digits(&self) -> Option<usize> {
        match &self.format.as_ref()?.primary {
            Primary::Decimal(decimal) => Some(decimal.mandatory),
            _ => None,
        }
    }

    fn write(&self, date: Option<Date>, zone: Zone, budget: &mut Budget) -> Outcome<String> {
        let Some(component) = self.component else { return Ok("undefined".to_owned()) };
        match component {
            'Z' | 'z' => self.write_zone(component, zone, budget),
            'P' => {
                let text = if date.is_some_and(|date| date.hour() >= 12) { "pm" } else { "am" };
                Ok(if self.names == Some(NameCase::Upper) {
                    text.to_uppercase()
                } else {
                    text.to_owned()
                })
            }
            'C' | 'E' => Ok("ISO".to_owned()),
            _ => {
                let Some(mut value) = component_value(date, component) else {
                    return Ok("undefined".to_owned());
                };
                if self.names.is_some() && component != 'f' {
                    return self.write_name(component, value);
                }
                if let Some(digits) = self.year_digits {
                    value %= 10_f64.powf(digits);
                }
                match &self.format {
                    Some(format) => format.format(value, budget),
                    None => Ok("undefined".to_owned()),
                }
            }
        }
    }

    fn write_name(&self, component: char, value: f64) -> Outcome<String> {
        let names: &[&str] = match component {
            'M' | 'x' => &MONTHS,
            'F' => &DAYS,
            _ => return Err(no_names(component)),
        };
        let name = names.get((value - 1.0) as usize).copied().unwrap_or("undefined");
        let mut name = match self.names {
            Some(NameCase::Upper) => name.to_uppercase(),
            Some(NameCase::Lower) => name.to_lowercase(),
            _ => name.to_owned(),
        };
        if let Some(width) = self.max_width
            && name.len() as f64 > width
        {
            name.truncate(width.max(0.0) as usize);
        }
        Ok(name)
    }

    fn write_zone(&self, component: char, zone: Zone, budget: &mut Budget) -> Outcome<String> {
        let offset = zone.hours * 100.0 + zone.minutes;
        let Some(format) = &self.format else { return Ok(String::new()) };
        let mut text = match &format.primary {
            Primary::Decimal(decimal)
                if matches!(decimal.grouping, super::integer::Grouping::Regular { .. }) =>
            {
                format.format(offset, budget)?
            }
            Primary::Decimal(decimal) if matches!(decimal.mandatory, 1 | 2) => {
                let mut text = format.format(zone.hours, budget)?;
                if zone.minutes != 0.0 {
                    text.push(':');
                    text.push_str(&IntegerFormat::parse("00")?.format(zone.minutes, budget)?);
                }
                text
            }
            Primary::Decimal(decimal) if matches!(decimal.mandatory, 3 | 4) => {
                format.format(offset, budget)?
            }
            _ => {
                let message = "the offset from UTC is written with at most four digits";
                return Err(fail("D3134", message));
            }
        };
        if offset >= 0.0 {
            text.insert(0, '+');
        }
        if component == 'z' {
            text.insert_str(0, "GMT");
        }
        if offset == 0.0 && self.is_traditional {
            "Z".clone_into(&mut text);
        }
        Ok(text)
    }
}

/// A width; `*` is any, and what is no number is one that nothing compares to.
fn parse_width(text: &str) -> Option<f64> {
    (text != "*").then(|| js::number::parse_int(text))
}

fn default_presentation(component: char) -> Option<&'static str> {
    Some(match component {
        'Y' | 'M' | 'D' | 'd' | 'W' | 'w' | 'X' | 'x' | 'H' | 'h' | 'f' => "1",
        'F' | 'P' | 'C' | 'E' => "n",
        'm' | 's' => "01",
        'Z' | 'z' => "01:01",
        _ => return None,
    })
}

fn unknown_component(component: Option<char>) -> Failure {
    let name = component.map(String::from).unwrap_or_default();
    let mut failure = fail("D3132", format!("`[{name}]` is not a component of a time"));
    failure.value = Some(name.into());
    failure
}

pub(super) fn no_names(component: char) -> Failure {
    let message = format!("only months and days have names, not `{component}`");
    let mut failure = fail("D3133", message);
    failure.value = Some(component.to_string().into());
    failure
}

/// The value of a component that is a number; NaN if there is no such date.
pub(super) fn component_value(date: Option<Date>, component: char) -> Option<f64> {
    if !NUMBERS.contains(component) {
        return None;
    }
    let Some(date) = date else { return Some(f64::NAN) };
    Some(match component {
        'Y' => date.year,
        'M' => date.month + 1,
        'D' => date.day,
        'd' => {
            let today = utc(date.year, date.month, date.day);
            (today - utc(date.year, 0, 1)) / MILLIS_PER_DAY + 1
        }
        'F' => date.weekday(),
        'W' => {
            let today = utc(date.year, date.month, date.day);
            week(today, [-1, 0, 1].map(|by| first_week(date.year + by, 0)), 52)
        }
        'w' => {
            let today = utc(date.year, date.month, date.day);
            let starts = [-1, 0, 1].map(|by| {
                let (year, month) = shift_month(date.year, date.month, by);
                first_week(year, month)
            });
            week(today, starts, 4)
        }
        'X' => {
            let year = date.year;
            if date.millis < first_week(year, 0) {
                year - 1
            } else if date.millis >= first_week(year + 1, 0) {
                year + 1
            } else {
                year
            }
        }
        'x' => {
            let (next_year, next_month) = shift_month(date.year, date.month, 1);
            if date.millis < first_week(date.year, date.month) {
                shift_month(date.year, date.month, -1).1 + 1
            } else if date.millis >= first_week(next_year, next_month) {
                next_month + 1
            } else {
                date.month + 1
            }
        }
        'H' => date.hour(),
        'h' => (date.hour() + 11) % 12 + 1,
        'm' => date.minute(),
        's' => date.second(),
        _ => date.millisecond(),
    } as f64)
}

/// The number of the week that holds `today`, given when the first weeks of the period before, of
/// this one and of the next begin.
fn week(today: i64, [before, this, next]: [i64; 3], longest: i64) -> i64 {
    let since = |start: i64| (today - start).div_euclid(7 * MILLIS_PER_DAY) + 1;
    let number = since(this);
    // The reference compares before it rounds down, which is the same up to the last week.
    if number >= longest && (today - this) > (longest - 1) * 7 * MILLIS_PER_DAY && today >= next {
        return 1;
    }
    if number < 1 { since(before) } else { number }
}
