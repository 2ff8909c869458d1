use mcpgraph_journal::{JournalError, JournalOptions, MissingPart, Payload, StoredEvent};
use mcpgraph_value::Value;

use crate::support::{keep, new_run, open, short_run, version};

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

/// A run that is recorded at once is made ready by whoever recorded it, others by the writer.
#[tokio::test]
async fn a_run_reads_the_same_whether_it_came_at_once_or_in_parts() {
    let (_dir, journal) = open(JournalOptions::default());
    for output in [Value::from(1), large("a", 100), large("b", 6_000), large("c", 40_000)] {
        let mut failing = short_run("t", &output);
        *failing.last_mut().unwrap() = crate::support::failed("it is broken");
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
