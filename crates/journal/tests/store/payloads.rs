use std::time::Duration;

use mcpgraph_journal::{
    Filter, JournalError, JournalOptions, MissingPart, Payload, Redaction, StoredEvent,
};
use mcpgraph_value::{Map, Value};

use crate::support::{
    done, failed, finished, keep, new_run, noise, open, raw_bytes, short_run, started, step,
    version,
};

fn large(letter: &str, bytes: usize) -> Value {
    Value::array(vec![letter.repeat(bytes).into()])
}

#[tokio::test]
async fn equal_payloads_are_kept_once_and_go_with_their_last_run() {
    let (dir, journal) = open(JournalOptions::default());
    let a = large("a", 40_000);
    let first = keep(&journal, new_run("t"), &short_run("t", &a)).await;
    let second = keep(&journal, new_run("t"), &short_run("t", &large("a", 40_000))).await;
    let third = keep(&journal, new_run("t"), &short_run("t", &large("b", 6_000))).await;
    assert_eq!(dir.count("payloads"), 2);
    assert_eq!(dir.count("uses"), 3);
    assert_eq!(dir.count("definitions"), 1);

    assert_eq!(journal.remove(&[first, third]).unwrap(), 2);
    assert_eq!(dir.count("payloads"), 1);
    let events = journal.whole_events(second, version()).unwrap();
    assert_eq!(events, short_run("t", &a));
    assert!(journal.run(first).unwrap().is_none());

    assert_eq!(journal.remove(&[second, second]).unwrap(), 1);
    for table in ["payloads", "uses", "chunks", "runs"] {
        assert_eq!(dir.count(table), 0, "{table}");
    }
}

#[tokio::test]
async fn a_payload_over_the_limit_leaves_a_preview() {
    let options =
        JournalOptions { max_payload_bytes: 5000, preview_bytes: 10, ..JournalOptions::default() };
    let (_dir, journal) = open(options);
    let output = Value::from("é".repeat(4000));
    let id = keep(&journal, new_run("t"), &short_run("t", &output)).await;
    let events = journal.events(id, 0, 100).unwrap();
    assert_eq!(events.len(), 4);
    let (2, StoredEvent::StepFinished { output: Payload::Truncated(left), .. }) = &events[2] else {
        panic!("{events:?}");
    };
    assert_eq!(&*left.preview, "\"éééé");
    assert_eq!(left.size, 8002);
    let Err(JournalError::Missing(missing)) = journal.whole_events(id, version()) else {
        panic!("it is not whole");
    };
    assert_eq!((missing.seq, missing.step), (2, Some(0)));
    assert_eq!(missing.what, MissingPart::Payload { field: "output", size: 8002 });
}

#[tokio::test]
async fn the_events_of_a_short_run_are_one_row() {
    let (dir, journal) = open(JournalOptions::default());
    let mut recorders: Vec<_> = (0..10)
        .map(|number| {
            crate::support::record(&journal, new_run("t"), &short_run("t", &number.into()))
        })
        .collect();
    for recorder in &mut recorders {
        assert!(recorder.committed().await);
    }
    drop(recorders);
    journal.close();
    // A run may have been cut in two by a commit, but not all of them.
    assert!(dir.count("chunks") < 20);
    assert_eq!(dir.count("runs"), 10);
}

/// A value that stands in several events, whole or as a part of others, is written once in a row.
#[tokio::test]
async fn payloads_that_come_again_come_back_as_they_were() {
    // Ten megabytes take longer than a run waits where the machine does something else.
    let wait = Duration::from_secs(30);
    let (_dir, journal) = open(JournalOptions { wait, ..JournalOptions::default() });
    for long in [noise(1, 20), noise(2, 100), noise(3, 1500), noise(4, 5000), noise(5, 300_000)] {
        let inner = Value::array(vec![long.clone(), 1.into()]);
        let object = |members: Vec<(&str, Value)>| Value::object(Map::from_iter(members));
        let input = object(vec![("payload", inner.clone()), ("text", long.clone())]);
        let around = object(vec![("a", input.clone()), ("b", long.clone()), ("c", inner.clone())]);
        let many = Value::array(vec![inner.clone(); 40]);
        let events = vec![
            started("t", input.clone()),
            step(0, &[0], "entry", Some(input.clone())),
            done(0, input.clone(), Some("next")),
            done(1, around.clone(), Some("next")),
            done(2, around.clone(), Some("next")),
            done(3, inner.clone(), None),
            done(4, many, None),
            done(5, long.clone(), None),
            failed(long.as_str().unwrap()),
        ];
        let at_once = keep(&journal, new_run("t"), &events).await;
        let in_parts = new_run("t");
        let (in_parts, mut recorder) = (in_parts.id, journal.begin(in_parts));
        for part in events.chunks(3) {
            for event in part {
                recorder.record(event.clone());
            }
            assert!(recorder.committed().await);
        }
        drop(recorder);
        let whole = |id| journal.whole_events(id, version());
        if long.as_str().unwrap().len() < 200_000 {
            assert_eq!(whole(at_once).unwrap(), events);
            assert_eq!(whole(in_parts).unwrap(), events);
            let text = Some(long.as_str().unwrap().to_owned());
            let found = journal.list(&Filter { text, ..Filter::default() }).unwrap().runs;
            assert_eq!(found.len(), 2);
        } else {
            assert!(whole(at_once).is_err() && whole(in_parts).is_err());
        }
        assert_eq!(
            journal.export(at_once).unwrap().get("events"),
            journal.export(in_parts).unwrap().get("events")
        );
    }
}

#[tokio::test]
async fn a_payload_that_comes_again_is_written_once() {
    let (dir, journal) = open(JournalOptions::default());
    let text = noise(7, 1500);
    let input = Value::array(vec![text.clone()]);
    let around = Value::array(vec![input.clone(), text.clone()]);
    let mut events = vec![started("t", input.clone())];
    events.extend((0..20).map(|number| done(number, input.clone(), None)));
    events.extend((20..40).map(|number| done(number, around.clone(), None)));
    events.push(finished(around));
    let id = keep(&journal, new_run("t"), &events).await;
    assert_eq!(journal.whole_events(id, version()).unwrap(), events);
    journal.close();
    // It may stand in the log of changes, too.
    let (bytes, begins) = (raw_bytes(&dir), &text.as_str().unwrap().as_bytes()[..64]);
    let times = bytes.windows(begins.len()).filter(|window| *window == begins).count();
    assert!((1..=2).contains(&times), "{times} times");
}

/// Where one thing stands decides whether it is masked.
#[tokio::test]
async fn what_comes_again_in_a_masked_field_is_masked_there() {
    let redaction = Redaction { secrets: vec![], fields: vec!["password".to_owned()] };
    let (_dir, journal) = open(JournalOptions { redaction, ..JournalOptions::default() });
    let word = Value::from("a word of some length that is no secret in itself ".repeat(3));
    let inner = Value::array(vec![word.clone()]);
    let login = |word: &Value| {
        Value::object(Map::from_iter([("password", word.clone()), ("other", word.clone())]))
    };
    let events = [
        started("t", inner.clone()),
        done(0, login(&inner), None),
        done(1, login(&word), None),
        finished(inner.clone()),
    ];
    let id = keep(&journal, new_run("t"), &events).await;
    let masked = |kept: &Value| {
        Value::object(Map::from_iter([("password", "[redacted]".into()), ("other", kept.clone())]))
    };
    let expected = [
        started("t", inner.clone()),
        done(0, masked(&inner), None),
        done(1, masked(&word), None),
        finished(inner),
    ];
    assert_eq!(journal.whole_events(id, version()).unwrap(), expected);
}

/// A run that is recorded at once is made ready by whoever recorded it, others by the writer.
#[tokio::test]
async fn a_run_reads_the_same_whether_it_came_at_once_or_in_parts() {
    let (_dir, journal) = open(JournalOptions::default());
    for output in [Value::from(1), large("a", 100), large("b", 6_000), large("c", 40_000)] {
        let mut failing = short_run("t", &output);
        *failing.last_mut().unwrap() = failed("it is broken");
        for events in [short_run("t", &output), failing] {
            let at_once = keep(&journal, new_run("t"), &events).await;
            let run = new_run("t");
            let in_parts = run.id;
            let mut recorder = journal.begin(run);
            for event in &events {
                recorder.record(event.clone());
                assert!(recorder.committed().await);
            }
            drop(recorder);
            for id in [at_once, in_parts] {
                assert_eq!(journal.whole_events(id, version()).unwrap(), events);
            }
            let row = |id| {
                let run = journal.run(id).unwrap().unwrap();
                (run.status, run.steps, run.events, run.lost, run.duration, run.error, run.reached)
            };
            assert_eq!(row(at_once), row(in_parts));
        }
    }
}
