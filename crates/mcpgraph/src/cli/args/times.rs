//! Times as they are typed: `250ms`, `2h`, `2026-11-16T09:00:00Z`.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment: so long ago, or one of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// So long before now.
    Ago(Duration),
    /// This one.
    At(SystemTime),
}

/// The units of durations, in milliseconds.
const UNITS: [(&str, f64); 6] = [
    ("ms", 1.0),
    ("s", 1000.0),
    ("m", 60_000.0),
    ("h", 3_600_000.0),
    ("d", 86_400_000.0),
    ("w", 604_800_000.0),
];

/// No duration is longer: a hundred years, which every clock can be set back by.
const LONGEST_MILLIS: f64 = 100.0 * 365.0 * 86_400_000.0;

impl When {
    /// The moment, seen from now. What lies before 1970 is 1970.
    pub(crate) fn moment(self) -> SystemTime {
        match self {
            Self::Ago(duration) => SystemTime::now().checked_sub(duration).unwrap_or(UNIX_EPOCH),
            Self::At(moment) => moment,
        }
    }
}

/// Reads a duration, or a moment of RFC 3339; the time of day may be left out.
pub(crate) fn when(text: &str) -> Result<When, String> {
    match (duration(text), moment(text)) {
        (Ok(duration), _) => Ok(When::Ago(duration)),
        (_, Some(moment)) => Ok(When::At(moment)),
        _ => Err("write how long ago, such as 2h or 3d, or a time such as \
                  2026-11-16T09:00:00Z"
            .to_owned()),
    }
}

/// Reads a duration: a number and a unit.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a number with ms, s, m, h, d or w, such as 250ms or 2s".to_owned();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(wrong)?;
    let (number, unit) = text.split_at(digits);
    let (_, factor) = UNITS.into_iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let millis = number.parse::<f64>().map_err(|_| wrong())? * factor;
    if millis > LONGEST_MILLIS {
        return Err("more than a hundred years".to_owned());
    }
    Ok(Duration::from_secs_f64(millis / 1000.0))
}

/// Reads a moment of RFC 3339 from 1970 on. Without a time of day it is midnight in UTC.
fn moment(text: &str) -> Option<SystemTime> {
    let (date, rest) = text.split_at_checked(10)?;
    let days = days_since_1970(date)?;
    let (seconds, fraction) = match rest.strip_prefix(['T', 't', ' ']) {
        Some(time) => {
            let (time, offset) = split_offset(time)?;
            let (of_day, fraction) = time_of_day(time)?;
            (of_day - offset, fraction)
        }
        None if rest.is_empty() => (0, Duration::ZERO),
        None => return None,
    };
    let since = u64::try_from(days * 86_400 + seconds).ok()?;
    Some(UNIX_EPOCH + Duration::from_secs(since) + fraction)
}

/// Parts a time of day from its offset, in seconds east of Greenwich.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(time) = time.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let (time, offset) = time.split_at_checked(time.len().checked_sub(6)?)?;
    let sign = match offset.as_bytes().first()? {
        b'+' => 1,
        b'-' => -1,
        _ => return None,
    };
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (number(hours, 2, 0..=23)?, number(minutes, 2, 0..=59)?);
    Some((time, sign * (hours * 3600 + minutes * 60)))
}

/// Whole seconds since midnight, and what is left of one.
fn time_of_day(time: &str) -> Option<(i64, Duration)> {
    let (time, fraction) = match time.split_once('.') {
        Some((time, digits)) if !digits.is_empty() && digits.len() <= 9 => {
            let digits = format!("{digits:0<9}");
            (time, number(&digits, 9, 0..=999_999_999)?)
        }
        Some(_) => return None,
        None => (time, 0),
    };
    let mut parts = time.split(':');
    let hours = number(parts.next()?, 2, 0..=23)?;
    let minutes = number(parts.next()?, 2, 0..=59)?;
    // A leap second is counted as the first of the next minute.
    let seconds = number(parts.next()?, 2, 0..=60)?;
    let nanos = Duration::from_nanos(u64::try_from(fraction).ok()?);
    parts.next().is_none().then_some((hours * 3600 + minutes * 60 + seconds, nanos))
}

/// The number of a day, from a date such as 2026-11-16.
fn days_since_1970(date: &str) -> Option<i64> {
    let mut parts = date.split('-');
    let year = number(parts.next()?, 4, 1970..=9999)?;
    let month = number(parts.next()?, 2, 1..=12)?;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [31, 28 + i64::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (before, of_year) = lengths.split_at(usize::try_from(month - 1).ok()?);
    let day = number(parts.next()?, 2, 1..=*of_year.first()?)?;
    // Leap days before this year: every fourth year has one, but of the hundreds only every fourth.
    let leaps = |year: i64| year / 4 - year / 100 + year / 400;
    let days_before = (year - 1970) * 365 + leaps(year - 1) - leaps(1969);
    parts.next().is_none().then_some(days_before + before.iter().sum::<i64>() + day - 1)
}

/// A number of exactly so many digits.
fn number(text: &str, digits: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && range.contains(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_with_a_unit() {
        let cases = [
            ("250ms", 250),
            ("2s", 2000),
            ("1.5s", 1500),
            ("3m", 180_000),
            ("2h", 7_200_000),
            ("3d", 259_200_000),
            ("1w", 604_800_000),
            ("0s", 0),
        ];
        for (text, millis) in cases {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in
            ["", "2", "s", "-2s", "2 s", "1..5s", ".s", "2y", "2S", "1e3s", "99999999w", "２s"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_moment_is_one_of_rfc_3339() {
        // The seconds since 1970, from `date -d … +%s`.
        let cases = [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1970-01-01T01:00:00+01:00", 0, 0),
            ("2000-02-29T00:00:00Z", 951_782_400, 0),
            ("2000-03-01", 951_868_800, 0),
            ("2026-11-18T11:06:40.123Z", 1_795_000_000, 123_000_000),
            ("2026-11-18t13:06:40+02:00", 1_795_000_000, 0),
            ("2026-11-18 05:36:40-05:30", 1_795_000_000, 0),
            ("2100-03-01T00:00:00Z", 4_107_542_400, 0),
            ("2016-12-31T23:59:60Z", 1_483_228_800, 0),
        ];
        for (text, seconds, nanos) in cases {
            let expected = UNIX_EPOCH + Duration::new(seconds, nanos);
            assert_eq!(when(text), Ok(When::At(expected)), "{text}");
        }
        for text in [
            "",
            "yesterday",
            "2026-13-01",
            "2026-02-29",
            "2100-02-29",
            "2026-00-10",
            "2026-1-01",
            "1969-12-31",
            "1970-01-01T00:00:00+00:01",
            "2026-11-18T11:06:40",
            "2026-11-18T24:00:00Z",
            "2026-11-18T11:06Z",
            "2026-11-18T11:06:40.Z",
            "2026-11-18T11:06:40+0200",
            "2026-11-18T11:06:40Zé",
            "2026-11-1é",
        ] {
            assert!(when(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_duration_as_a_moment_is_before_now() {
        let before = SystemTime::now();
        let moment = when("1h").unwrap().moment();
        assert!(moment <= SystemTime::now() - Duration::from_hours(1));
        assert!(moment >= before - Duration::from_hours(1));
    }
}
