use super::*;

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn the_circuit_opens_after_failures_in_a_row_and_rests_longer_each_time() {
    let start = Instant::now();
    let mut health = Health::new(HealthOptions::default());
    for _ in 0..4 {
        assert_eq!(health.admit(start), Admission::Go);
        health.report(Outcome::Failed, start);
    }
    health.report(Outcome::Answered, start);
    for _ in 0..5 {
        assert_eq!(health.admit(start), Admission::Go);
        health.report(Outcome::Failed, start);
    }
    assert_eq!(health.admit(start), Admission::Resting(seconds(5)));
    // One call tries; the others keep waiting for its outcome.
    let later = start + seconds(5);
    assert_eq!(health.admit(later), Admission::Go);
    assert!(matches!(health.admit(later), Admission::Resting(_)));
    health.report(Outcome::Failed, later);
    assert_eq!(health.admit(later), Admission::Resting(seconds(10)));
    let later = later + seconds(10);
    assert_eq!(health.admit(later), Admission::Go);
    health.report(Outcome::Answered, later);
    assert_eq!(health.admit(later), Admission::Go);
    assert_eq!(health.admit(later), Admission::Go);
}

#[test]
fn a_cancelled_trial_does_not_keep_the_circuit_open() {
    let start = Instant::now();
    let mut health = Health::new(HealthOptions { failures_to_open: 1, ..HealthOptions::default() });
    health.admit(start);
    health.report(Outcome::Failed, start);
    let later = start + seconds(5);
    assert_eq!(health.admit(later), Admission::Go);
    health.report(Outcome::Unknown, later);
    assert_eq!(health.admit(later), Admission::Go);
}

#[test]
fn pauses_before_starts_double_up_to_a_bound() {
    let start = Instant::now();
    let mut health = Health::new(HealthOptions::default());
    assert_eq!(health.pause(start), Duration::ZERO);
    let mut pauses = Vec::new();
    for _ in 0..40 {
        health.start_failed(start);
        pauses.push(health.pause(start));
    }
    assert_eq!(pauses[..3], [250, 500, 1000].map(Duration::from_millis));
    assert_eq!(pauses[39], seconds(30));
    assert_eq!(health.pause(start + seconds(31)), Duration::ZERO);
    health.start_proved();
    assert_eq!(health.pause(start), Duration::ZERO);
}

#[test]
fn only_calls_and_a_while_of_life_prove_a_start() {
    let start = Instant::now();
    let mut health = Health::new(HealthOptions::default());
    let mut life = |outcome: Outcome, lived: Duration| {
        health.started(start);
        health.report(outcome, start);
        health.died(start + lived);
        health.pause(start + lived)
    };
    let pauses = [250, 500, 1000].map(|pause| (pause, life(Outcome::Told, seconds(1))));
    assert!(pauses.iter().all(|(wanted, pause)| Duration::from_millis(*wanted) == *pause));
    assert_eq!(life(Outcome::Told, seconds(11)), Duration::ZERO);
    assert_eq!(life(Outcome::Told, seconds(1)), Duration::from_millis(250));
    assert_eq!(life(Outcome::Answered, seconds(1)), Duration::ZERO);
}

#[test]
fn telling_what_it_has_does_not_close_the_circuit() {
    let start = Instant::now();
    let mut health = Health::new(HealthOptions::default());
    for _ in 0..5 {
        assert_eq!(health.admit(start), Admission::Go);
        health.report(Outcome::Told, start);
        health.report(Outcome::Failed, start);
    }
    assert_eq!(health.admit(start), Admission::Resting(seconds(5)));
    // A trial that told something leaves room for one that says more.
    let later = start + seconds(5);
    assert_eq!(health.admit(later), Admission::Go);
    health.report(Outcome::Told, later);
    assert_eq!(health.admit(later), Admission::Go);
    health.report(Outcome::Failed, later);
    assert_eq!(health.admit(later), Admission::Resting(seconds(10)));
}
