use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// How many requests in how much time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rate {
    count: u32,
    per: Per,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Second,
    Minute,
    Hour,
}

/// A text that is no rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a rate; write a number from 1 and a time: 10/s, 100/m or 1000/h")]
pub struct NotARate(String);

impl Per {
    const ALL: [(&'static str, Self); 3] =
        [("s", Self::Second), ("m", Self::Minute), ("h", Self::Hour)];

    fn duration(self) -> Duration {
        match self {
            Self::Second => Duration::from_secs(1),
            Self::Minute => Duration::from_mins(1),
            Self::Hour => Duration::from_hours(1),
        }
    }
}

impl Rate {
    /// How many requests.
    pub(crate) fn count(self) -> u32 {
        self.count
    }

    /// In how much time.
    pub(crate) fn whole(self) -> Duration {
        self.per.duration()
    }
}

impl FromStr for Rate {
    type Err = NotARate;

    fn from_str(text: &str) -> Result<Self, NotARate> {
        let parsed = || {
            let (count, per) = text.split_once('/')?;
            let count = count.parse().ok().filter(|count| *count > 0)?;
            let (_, per) = Per::ALL.into_iter().find(|(name, _)| *name == per)?;
            Some(Self { count, per })
        };
        parsed().ok_or_else(|| NotARate(text.to_owned()))
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Per::ALL.iter().find(|(_, per)| *per == self.per).map_or("", |(name, _)| name);
        write!(f, "{}/{name}", self.count)
    }
}

impl TryFrom<String> for Rate {
    type Error = NotARate;

    fn try_from(text: String) -> Result<Self, NotARate> {
        text.parse()
    }
}

impl From<Rate> for String {
    fn from(rate: Rate) -> Self {
        rate.to_string()
    }
}

/// How many rates are kept track of; those that have recovered are forgotten first.
const MAX_BUCKETS: usize = 10_000;

/// What is left of rates: a bucket each, that fills evenly and holds as much as the rate allows at
/// once.
#[derive(Default)]
pub(crate) struct Buckets(Mutex<HashMap<(String, String), Bucket>>);

struct Bucket {
    left: f64,
    at: Instant,
    rate: Rate,
}

impl Bucket {
    /// What is in it by now.
    fn filled(&self, now: Instant) -> f64 {
        let share = now.saturating_duration_since(self.at).as_secs_f64()
            / self.rate.per.duration().as_secs_f64();
        (self.left + share * f64::from(self.rate.count)).min(f64::from(self.rate.count))
    }
}

impl Buckets {
    /// Takes one request out of every bucket, or none out of any and tells how long to wait.
    pub(crate) fn take(
        &self,
        wanted: &[((String, String), Rate)],
        now: Instant,
    ) -> Result<(), (Rate, Duration)> {
        let mut buckets = self.0.lock();
        if buckets.len() + wanted.len() > MAX_BUCKETS {
            buckets.retain(|_, bucket| bucket.filled(now) < f64::from(bucket.rate.count));
        }
        for (key, rate) in wanted {
            let full = || Bucket { left: f64::from(rate.count), at: now, rate: *rate };
            let bucket = buckets.entry(key.clone()).or_insert_with(full);
            if bucket.rate != *rate {
                *bucket = full();
            }
            let left = bucket.filled(now);
            if left < 1.0 {
                let share = (1.0 - left) / f64::from(rate.count);
                return Err((*rate, rate.per.duration().mul_f64(share)));
            }
        }
        for (key, _) in wanted {
            if let Some(bucket) = buckets.get_mut(key) {
                bucket.left = bucket.filled(now) - 1.0;
                bucket.at = now;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
