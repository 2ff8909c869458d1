//! Short runs that are written together share rows, and nobody notices.

use mcpgraph_engine::Event;
use mcpgraph_journal::{Filter, Journal, JournalOptions, NewRun, RunId, StoredEvent};
use mcpgraph_value::Value;

use crate::retention::NOTHING;
use crate::support::{Home, json, new_run, record, short_run};

const RUNS: usize = 90;

/// What a run of this number gives; some give more than a row has room for together.
fn output(number: usize) -> Value {
    let text = "word ".repeat(if number.is_multiple_of(9) { 900 } else { number });
    json(&format!(r#"{{"number":{number},"text":"{text}","lines":"a\n\nb"}}"#))
}

fn events(number: usize) -> Vec<Event> {
    short_run("t", &output(number))
}

/// A store with runs that were handed over together, and what is known of each.
fn filled() -> (Home, Vec<(RunId, Vec<Event>)>) {
    let home = crate::home();
    let journal = open(&home);
    let mut kept = Vec::new();
    for number in 0..RUNS {
        let run = new_run("t");
        kept.push((run.id, events(number)));
        drop(record(&journal, run, &events(number)));
    }
    journal.close();
    (home, kept)
}

fn open(home: &Home) -> Journal {
    home.open(JournalOptions { retention: NOTHING, ..JournalOptions::default() })
}

fn assert_whole(journal: &Journal, id: RunId, events: &[Event]) {
    let expected: Vec<(u64, StoredEvent)> =
        (0..).zip(events.iter().cloned().map(StoredEvent::from)).collect();
    assert_eq!(journal.events(id, 0, 1000).unwrap(), expected);
    assert_eq!(journal.events(id, 2, 1).unwrap(), expected[2..3]);
}

#[test]
fn each_is_read_by_itself() {
    let (home, kept) = filled();
    assert!(home.count("chunks") < 30, "{} rows", home.count("chunks"));
    let journal = open(&home);
    for (number, (id, events)) in kept.iter().enumerate() {
        assert_whole(&journal, *id, events);
        let text = Some(format!("\"number\":{number},"));
        let found = journal.list(&Filter { text, ..Filter::default() }).unwrap().runs;
        assert_eq!(found.iter().map(|run| run.id).collect::<Vec<_>>(), [*id]);
    }
}

#[test]
fn one_can_be_forgotten_and_the_others_stay() {
    // The first, the last, those in the middle, many next to each other, every second.
    let goes: [&dyn Fn(usize) -> bool; 6] = [
        &|number| number == 0,
        &|number| number == RUNS - 1,
        &|number| number == 40 || number == 41 || number == 43,
        &|number| number > 10 && number < 75,
        &|number| number.is_multiple_of(2),
        &|number| number % 7 != 3,
    ];
    for goes in goes {
        let (home, kept) = filled();
        let journal = open(&home);
        let gone: Vec<RunId> = (0..RUNS).filter(|n| goes(*n)).map(|n| kept[n].0).collect();
        assert_eq!(journal.remove(&gone).unwrap(), gone.len());
        for (number, (id, events)) in kept.iter().enumerate() {
            if goes(number) {
                assert!(journal.run(*id).unwrap().is_none());
            } else {
                assert_whole(&journal, *id, events);
            }
        }
        // And then the rest, one by one, in another order.
        let left: Vec<RunId> = (0..RUNS).filter(|n| !goes(*n)).map(|n| kept[n].0).collect();
        for id in left.iter().skip(1).step_by(2).chain(left.iter().step_by(2)) {
            assert_eq!(journal.remove(&[*id]).unwrap(), 1);
        }
        assert_eq!(home.count("chunks"), 0);
    }
}

/// A record is never rewritten: of two with one id, the first stays, and those beside it are whole.
#[test]
fn one_whose_id_is_taken_is_not_kept() {
    let home = crate::home();
    let journal = open(&home);
    let mut kept = Vec::new();
    for number in 0..10 {
        let run = new_run("t");
        let again = NewRun { id: run.id, ..new_run("t") };
        kept.push((run.id, events(number)));
        drop(record(&journal, run, &events(number)));
        if number == 4 {
            drop(record(&journal, again, &events(98)));
        }
    }
    journal.close();
    let journal = open(&home);
    assert_eq!(journal.list(&Filter::default()).unwrap().runs.len(), 10);
    for (id, events) in &kept {
        assert_whole(&journal, *id, events);
    }
}
