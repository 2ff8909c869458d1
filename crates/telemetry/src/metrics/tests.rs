use std::time::Duration;

use super::family::{Label, MAX_SERIES, OTHER};
use super::*;

fn rendered<const N: usize, I: instrument::Instrument>(family: &Family<N, I>) -> String {
    let mut text = Text::default();
    family.render(&mut text);
    text.finish()
}

#[test]
fn labels_are_escaped() {
    let family: Family<1, Counter> = Family::new("m_total", "A \\ and a \n.", ["tool"]);
    family.with([Label::Shared("a\"b\\c\nd".into())]).increase();
    assert_eq!(
        rendered(&family),
        "# HELP m_total A \\\\ and a \\n.\n# TYPE m_total counter\nm_total{tool=\"a\\\"b\\\\c\\nd\"} 1\n"
    );
}

#[test]
fn too_many_labels_are_counted_together() {
    let family: Family<2, Counter> = Family::new("m_total", "", ["a", "b"]);
    for number in 0..MAX_SERIES + 10 {
        family.with([Label::Shared(number.to_string().into()), "x".into()]).increase();
    }
    // Those that are known are still told apart.
    family.with([Label::Shared("0".into()), "x".into()]).increase();
    let text = rendered(&family);
    assert_eq!(text.lines().count(), 2 + MAX_SERIES + 1);
    assert!(text.contains(&format!("m_total{{a=\"{OTHER}\",b=\"{OTHER}\"}} 10\n")), "{text}");
    assert!(text.contains("m_total{a=\"0\",b=\"x\"} 2\n"));
}

#[test]
fn a_duration_at_the_end_of_a_bucket_is_in_it() {
    let family: Family<0, Histogram> = Family::new("m_seconds", "", []);
    let histogram = family.with([]);
    for micros in [500, 501, 60_000_000, 60_000_001] {
        histogram.observe(Duration::from_micros(micros));
    }
    let text = rendered(&family);
    for line in [
        "m_seconds_bucket{le=\"0.0005\"} 1",
        "m_seconds_bucket{le=\"0.001\"} 2",
        "m_seconds_bucket{le=\"30\"} 2",
        "m_seconds_bucket{le=\"60\"} 3",
        "m_seconds_bucket{le=\"+Inf\"} 4",
        "m_seconds_sum 120.001002",
        "m_seconds_count 4",
    ] {
        assert!(text.lines().any(|it| it == line), "{line} in {text}");
    }
}

#[test]
fn what_is_shared_and_what_is_fixed_are_the_same_label() {
    let family: Family<1, Counter> = Family::new("m_total", "", ["a"]);
    family.with(["x".into()]).increase();
    family.with([Label::Shared("x".into())]).increase();
    assert!(rendered(&family).ends_with("m_total{a=\"x\"} 2\n"));
}
