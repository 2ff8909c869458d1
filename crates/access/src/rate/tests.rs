use super::*;

#[test]
fn rates_are_written_as_they_are_read() {
    for text in ["1/s", "100/m", "5000/h"] {
        assert_eq!(text.parse::<Rate>().map(|rate| rate.to_string()), Ok(text.to_owned()));
    }
    for text in ["", "10", "0/s", "-1/s", "10/d", "1.5/m", "/m"] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
}

#[test]
fn a_bucket_empties_and_fills() {
    let rate: Rate = "2/s".parse().expect("a rate");
    let buckets = Buckets::default();
    let key = |name: &str| (name.to_owned(), String::new());
    let start = Instant::now();
    let take =
        |name: &str, ms: u64| buckets.take(&[(key(name), rate)], start + Duration::from_millis(ms));
    assert!(take("a", 0).is_ok() && take("a", 0).is_ok());
    assert_eq!(take("a", 0), Err((rate, Duration::from_millis(500))));
    assert!(take("b", 0).is_ok(), "others have their own");
    assert!(take("a", 500).is_ok() && take("a", 500).is_err());
    assert!(take("a", 60_000).is_ok() && take("a", 60_000).is_ok());
    assert!(take("a", 60_000).is_err(), "no more than the rate is saved up");
}

#[test]
fn nothing_is_taken_where_something_is_missing() {
    let (one, two): (Rate, Rate) = ("1/h".parse().expect("a"), "2/h".parse().expect("b"));
    let buckets = Buckets::default();
    let now = Instant::now();
    let key = |name: &str| ("t".to_owned(), name.to_owned());
    assert!(buckets.take(&[(key("small"), one)], now).is_ok());
    assert!(buckets.take(&[(key("large"), two), (key("small"), one)], now).is_err());
    let large = [(key("large"), two)];
    assert!(buckets.take(&large, now).is_ok() && buckets.take(&large, now).is_ok());
}
