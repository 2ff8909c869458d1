//! How long a `wait` node waits, as files and expressions say it.

use std::time::Duration;

/// A length of time such as `90s`, `2h`, `3d` or `1500ms`; none if the text is no such thing.
pub fn read_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at(digits);
    let millis: u64 = match unit.trim_start() {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => 24 * 60 * 60 * 1000,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    number.checked_mul(millis).map(Duration::from_millis)
}

/// A time as RFC 3339 has it, in milliseconds since 1970; none if the text is no such time, or one
/// before 1970.
pub fn read_time(text: &str) -> Option<u64> {
    let (date, rest) = text.trim().split_once(['T', 't', ' '])?;
    let [year, month, day] = numbers(date, '-')?;
    let zone = rest.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = rest.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let [hour, minute, second] = numbers(clock, ':')?;
    let fits = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 61;
    if !fits || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let millis: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    u64::try_from((seconds - offset(zone)?) * 1000 + millis).ok()
}

/// How far a zone is ahead, in seconds.
fn offset(zone: &str) -> Option<i64> {
    if zone.eq_ignore_ascii_case("z") {
        return Some(0);
    }
    let (sign, zone) = match zone.strip_prefix('-') {
        Some(zone) => (-1, zone),
        None => (1, zone.strip_prefix('+')?),
    };
    let (hours, minutes) = zone.split_once(':')?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let parts: Option<Vec<i64>> = text.split(between).map(number).collect();
    parts?.try_into().ok()
}

fn number(text: &str) -> Option<i64> {
    let is_number = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { text.parse().ok() } else { None }
}

fn days_of(year: i64, month: i64) -> i64 {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days are counted from the first of March, so that the day that comes every four years is the last
/// of its year.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + of_year
        - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_time_are_read() {
        let read = |text| read_duration(text).map(|time| time.as_millis());
        assert_eq!(read("90s"), Some(90_000));
        assert_eq!(read(" 2 h "), Some(7_200_000));
        assert_eq!(read("3d"), Some(259_200_000));
        assert_eq!(read("5m"), Some(300_000));
        assert_eq!(read("1500ms"), Some(1500));
        for wrong in [
            "",
            "s",
            "90",
            "-1s",
            "1.5h",
            "2 weeks",
            "99999999999999999999d",
            "18446744073709551615d",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn times_are_read() {
        assert_eq!(read_time("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(read_time("2026-11-16T12:30:15.25Z"), Some(1_794_832_215_250));
        assert_eq!(read_time("2026-11-16T13:30:15.250+01:00"), Some(1_794_832_215_250));
        assert_eq!(read_time("2024-02-29 23:59:59Z"), Some(1_709_251_199_000));
        for wrong in [
            "",
            "tomorrow",
            "2026-11-16",
            "2026-13-01T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2026-11-16T24:00:00Z",
            "2026-11-16T12:00:00",
            "1969-12-31T23:59:59Z",
            "2026-11-16T12:00:00.x5Z",
            "+026-11-16T12:00:00Z",
        ] {
            assert_eq!(read_time(wrong), None, "{wrong}");
        }
    }
}
