//! What several processes have in common beside runs.

use std::time::Duration;

use mcpgraph_journal::{
    JournalOptions, KeptToken, KeptWorkflow, News, RunStatus, Shelf, Shelved, Spent,
};
use mcpgraph_value::Value;

use crate::support::{done, finished, new_run, open, started, step};

const HOUR: Duration = Duration::from_hours(1);

#[test]
fn of_two_changes_of_one_version_one_is_made() {
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    let shelf = Shelf::Conversations;
    assert_eq!(first.shelve(shelf, "a", ("base", "0"), 2).unwrap(), Shelved::Yes);
    let seen = second.shelved(shelf, "a").unwrap().unwrap();
    assert_eq!((&*seen.base, &*seen.state), ("base", "0"));
    assert!(first.reshelve(shelf, "a", "1", seen.version).unwrap());
    assert!(!second.reshelve(shelf, "a", "2", seen.version).unwrap());
    let seen = second.shelved(shelf, "a").unwrap().unwrap();
    assert_eq!(seen.state, "1");
    assert!(second.reshelve(shelf, "a", "2", seen.version).unwrap());
    assert_eq!(first.shelved(shelf, "a").unwrap().unwrap().state, "2");
    // Another one under the same name is of another version, whatever was seen before.
    first.shelve(shelf, "a", ("other", "0"), 2).unwrap();
    assert!(!second.reshelve(shelf, "a", "3", seen.version).unwrap());
    assert!(second.shelved(Shelf::Sessions, "a").unwrap().is_none());
}

/// Many change one thing at once, and none of the changes is lost.
#[test]
fn no_change_is_lost() {
    const EACH: usize = 25;
    let (home, journal) = open(JournalOptions::default());
    let shelf = Shelf::Sessions;
    journal.shelve(shelf, "n", ("", "0"), 1).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let journal = home.open(JournalOptions::default());
                for _ in 0..EACH {
                    loop {
                        let seen = journal.shelved(shelf, "n").unwrap().unwrap();
                        let next = (seen.state.parse::<usize>().unwrap() + 1).to_string();
                        if journal.reshelve(shelf, "n", &next, seen.version).unwrap() {
                            break;
                        }
                    }
                }
            });
        }
    });
    assert_eq!(journal.shelved(shelf, "n").unwrap().unwrap().state, (4 * EACH).to_string());
}

#[test]
fn a_shelf_has_a_limit_and_forgets_what_rests() {
    let (_home, journal) = open(JournalOptions::default());
    let shelf = Shelf::Sessions;
    for name in ["a", "b"] {
        assert_eq!(journal.shelve(shelf, name, ("", name), 2).unwrap(), Shelved::Yes);
    }
    assert_eq!(journal.shelve(shelf, "c", ("", ""), 2).unwrap(), Shelved::Full);
    assert_eq!(journal.shelve(shelf, "b", ("", "again"), 2).unwrap(), Shelved::Yes);
    assert!(journal.unshelve_idle(shelf, HOUR).unwrap().is_empty());
    std::thread::sleep(Duration::from_millis(300));
    journal.keep_shelved(shelf, "b").unwrap();
    let taken = journal.unshelve_idle(shelf, Duration::from_millis(250)).unwrap();
    assert_eq!(taken.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["a"]);
    assert!(taken[0].1.idle >= Duration::from_millis(250));
    assert_eq!(journal.unshelve(shelf, "b").unwrap().unwrap().state, "again");
    assert_eq!(journal.unshelve(shelf, "b").unwrap(), None);
}

#[test]
fn tokens_are_the_same_for_all() {
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    let token = |id: &str, name: &str| KeptToken {
        id: id.to_owned(),
        name: name.to_owned(),
        document: "{}".to_owned(),
    };
    let before = second.tokens_version().unwrap();
    assert!(first.put_token(&token("1", "one")).unwrap());
    assert!(!second.put_token(&token("2", "one")).unwrap(), "the name is taken");
    assert!(second.put_token(&token("2", "two")).unwrap());
    assert_eq!(first.tokens().unwrap(), [token("1", "one"), token("2", "two")]);
    assert!(second.tokens_version().unwrap() > before);
    assert!(second.remove_token("1").unwrap());
    assert!(!first.remove_token("1").unwrap());
    assert_eq!(first.tokens().unwrap(), [token("2", "two")]);
}

#[test]
fn what_is_spent_is_spent_for_all() {
    const WHOLE: Duration = Duration::from_hours(1);
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    let cost = WHOLE / 4;
    for journal in [&first, &second, &second, &first] {
        assert_eq!(journal.spend("t", cost, WHOLE).unwrap(), Spent::Yes);
    }
    let Spent::Wait(wait) = second.spend("t", cost, WHOLE).unwrap() else { panic!("too much") };
    assert!(wait <= cost && wait + Duration::from_mins(1) > cost, "{wait:?}");
    assert_eq!(second.spend("other", cost, WHOLE).unwrap(), Spent::Yes);
    // It grows back as time passes.
    let cost = Duration::from_millis(100);
    assert_eq!(first.spend("u", cost, cost).unwrap(), Spent::Yes);
    assert!(matches!(first.spend("u", cost, cost).unwrap(), Spent::Wait(_)));
    std::thread::sleep(cost * 2);
    assert_eq!(second.spend("u", cost, cost).unwrap(), Spent::Yes);
    first.forget_unspent().unwrap();
    assert!(matches!(first.spend("t", WHOLE / 4, WHOLE).unwrap(), Spent::Wait(_)));
}

#[test]
fn of_many_who_need_a_key_one_makes_it() {
    let (home, journal) = open(JournalOptions::default());
    let all: Vec<_> = std::thread::scope(|scope| {
        let makers: Vec<_> = (0..6_u8)
            .map(|number| {
                let home = &home;
                scope.spawn(move || {
                    let journal = home.open(JournalOptions::default());
                    journal.seal_keys(&[number; 32], HOUR, HOUR * 2).unwrap()
                })
            })
            .collect();
        makers.into_iter().map(|maker| maker.join().unwrap()).collect()
    });
    for keys in &all {
        assert_eq!((keys.len(), keys[0].key), (1, all[0][0].key));
    }
    // A key that has become old gets a successor, and goes when it is too old.
    std::thread::sleep(Duration::from_millis(50));
    let renew = Duration::from_millis(20);
    let keys = journal.seal_keys(&[9; 32], renew, HOUR).unwrap();
    assert_eq!(keys.iter().map(|key| key.key[0]).collect::<Vec<_>>(), [9, all[0][0].key[0]]);
    std::thread::sleep(Duration::from_millis(50));
    let keys = journal.seal_keys(&[8; 32], renew, renew).unwrap();
    assert_eq!(keys.iter().map(|key| key.key[0]).collect::<Vec<_>>(), [8]);
}

#[test]
fn a_letter_is_taken_once() {
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    assert_eq!(second.take_letter("x").unwrap(), None);
    first.leave_letter("x", "one").unwrap();
    first.leave_letter("x", "two").unwrap();
    assert_eq!(second.take_letter("x").unwrap().as_deref(), Some("one"));
    assert_eq!(first.take_letter("x").unwrap(), None);
    for address in ["to me 2", "to me 1", "to me", "to you 1", "To me 3"] {
        first.leave_letter(address, address).unwrap();
    }
    let all = ["to me 1", "to me 2"].map(|address| (address.to_owned(), address.to_owned()));
    assert_eq!(second.take_letters("to me ").unwrap(), all);
    assert!(first.take_letters("to me ").unwrap().is_empty());
    assert_eq!(first.take_letter("to me").unwrap().as_deref(), Some("to me"));
    assert!(first.lives(second.name()).unwrap() && !first.lives("nobody").unwrap());
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_news() {
    let (home, first) = open(JournalOptions::default());
    // What another process does is heard of where that is told.
    let second = if first.is_shared() { &home.open(JournalOptions::default()) } else { &first };
    let mut news = second.news();
    // It may be a moment until it listens.
    let begun = News::Session("begun".into());
    for _ in 0..100 {
        first.announce(&begun).unwrap();
        let hear = async { while news.next().await.unwrap() != begun {} };
        if tokio::time::timeout(Duration::from_millis(200), hear).await.is_ok() {
            break;
        }
    }
    let kept = KeptWorkflow { id: "w".to_owned(), definition: "{}".to_owned() };
    first.put_workflow(&kept).unwrap();
    let session = News::Session("s".into());
    first.announce(&session).unwrap();
    first.leave_letter("l", "").unwrap();
    for wanted in [News::Definitions, session, News::Letter("l".into())] {
        let hear = async { while news.next().await.unwrap() != wanted {} };
        tokio::time::timeout(Duration::from_secs(10), hear).await.unwrap();
    }
}

/// A conversation is served now by one process and now by another.
#[test]
fn a_run_that_nobody_holds_goes_on_anywhere() {
    let (home, first) = open(JournalOptions::default());
    let second = home.open(JournalOptions::default());
    let run = new_run("walk");
    let begin = vec![started("walk", Value::Null), step(0, &[0], "a", None)];
    first.begin_unheld(&run, begin).unwrap();
    first.close();
    let known = second.run(run.id).unwrap().unwrap();
    assert_eq!((known.status, known.events, known.steps), (RunStatus::Running, 2, 1));
    // Enough for snapshots.
    for number in 1..200 {
        let events = vec![
            done(number - 1, number.into(), Some("b")),
            step(number, &[u32::try_from(number).unwrap()], "b", None),
        ];
        second.append(run.id, events).unwrap();
    }
    let third = home.open(JournalOptions::default());
    third.append(run.id, vec![done(199, Value::Null, None), finished(Value::Null)]).unwrap();
    let known = second.run(run.id).unwrap().unwrap();
    assert_eq!((known.status, known.events, known.steps), (RunStatus::Succeeded, 402, 200));
    assert_eq!(known.lost, 0);
    let events = second.events(run.id, 0, 1000).unwrap();
    assert!(events.iter().map(|(seq, _)| *seq).eq(0..402));
    assert_eq!(&*second.step(run.id, 150).unwrap().node, "b");
    // What has ended stays as it is, and what never began does not begin in the middle.
    third.append(run.id, vec![step(200, &[200], "c", None)]).unwrap();
    assert_eq!(second.run(run.id).unwrap().unwrap().events, 402);
    let other = new_run("walk");
    third.append(other.id, vec![step(0, &[0], "a", None)]).unwrap();
    assert!(second.run(other.id).unwrap().is_none());
}
