//! Dates, as JavaScript counts them: in UTC, proleptic Gregorian, in milliseconds since 1970.

/// Beyond this many milliseconds there are no dates.
const MAX_MILLIS: f64 = 8.64e15;

pub(crate) const MILLIS_PER_DAY: i64 = 86_400_000;

/// A time, taken apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Date {
    pub(crate) millis: i64,
    pub(crate) year: i64,
    /// From 0.
    pub(crate) month: i64,
    /// From 1.
    pub(crate) day: i64,
}

impl Date {
    /// The date at a time; none if there is no such date.
    pub(crate) fn at(millis: f64) -> Option<Self> {
        if millis.is_nan() || millis.abs() > MAX_MILLIS {
            return None;
        }
        let millis = millis.trunc() as i64;
        let (year, month, day) = civil_from_days(millis.div_euclid(MILLIS_PER_DAY));
        Some(Self { millis, year, month, day })
    }

    fn of_day(self, unit: i64, count: i64) -> i64 {
        self.millis.rem_euclid(MILLIS_PER_DAY) / unit % count
    }

    pub(crate) fn hour(self) -> i64 {
        self.of_day(3_600_000, 24)
    }

    pub(crate) fn minute(self) -> i64 {
        self.of_day(60_000, 60)
    }

    pub(crate) fn second(self) -> i64 {
        self.of_day(1000, 60)
    }

    pub(crate) fn millisecond(self) -> i64 {
        self.of_day(1, 1000)
    }

    /// 1 is Monday, 7 is Sunday.
    pub(crate) fn weekday(self) -> i64 {
        weekday(self.millis.div_euclid(MILLIS_PER_DAY))
    }
}

/// `Date.UTC` in whole numbers: months may be out of range, and the years 0 to 99 are those of the
/// last century.
pub(crate) fn utc(year: i64, month: i64, day: i64) -> i64 {
    let year = if (0..100).contains(&year) { 1900 + year } else { year };
    let year = year + month.div_euclid(12);
    (days_from_civil(year, month.rem_euclid(12), 1) + day - 1) * MILLIS_PER_DAY
}

/// `Date.UTC` of numbers that may be fractions, missing or too large.
pub(crate) fn utc_from_parts(parts: [f64; 7]) -> f64 {
    if parts.iter().any(|part| !part.is_finite() || part.abs() > 1e15) {
        return f64::NAN;
    }
    let [year, month, day, hour, minute, second, milli] = parts.map(f64::trunc);
    if year.abs() > 400_000.0 || month.abs() > 5_000_000.0 || day.abs() > 2e8 {
        return f64::NAN;
    }
    let date = utc(year as i64, month as i64, day as i64) as f64;
    let millis = date + hour * 3_600_000.0 + minute * 60_000.0 + second * 1000.0 + milli;
    if millis.abs() <= MAX_MILLIS { millis } else { f64::NAN }
}

/// When the first week of a year or month begins: the week that holds its first Thursday.
pub(crate) fn first_week(year: i64, month: i64) -> i64 {
    let first = utc(year, month, 1);
    let weekday = weekday(first.div_euclid(MILLIS_PER_DAY));
    if weekday > 4 {
        first + (8 - weekday) * MILLIS_PER_DAY
    } else {
        first - (weekday - 1) * MILLIS_PER_DAY
    }
}

/// The month after or before, with its year.
pub(crate) fn shift_month(year: i64, month: i64, by: i64) -> (i64, i64) {
    let months = month + by;
    (year + months.div_euclid(12), months.rem_euclid(12))
}

fn weekday(days: i64) -> i64 {
    // 1 January 1970 was a Thursday.
    (days + 3).rem_euclid(7) + 1
}

/// Days since 1970 of a date; months from 0. Years are taken to begin in March, so that the leap
/// day is the last of its year.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let shifted = if month < 2 { year - 1 } else { year };
    let era = shifted.div_euclid(400);
    let year_of_era = shifted.rem_euclid(400);
    let day_of_year = (153 * ((month + 10) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_survive_a_round_trip() {
        for days in (-800_000..800_000).step_by(37) {
            let (year, month, day) = civil_from_days(days);
            assert_eq!(days_from_civil(year, month, day), days);
        }
        let date = Date::at(1_510_067_557_121.0).unwrap();
        assert_eq!((date.year, date.month, date.day), (2017, 10, 7));
        assert_eq!((date.hour(), date.minute(), date.second()), (15, 12, 37));
        assert_eq!(date.weekday(), 2);
        assert!(Date::at(1e16).is_none());
    }
}
