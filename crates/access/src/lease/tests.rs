use mcpgraph_journal::JournalOptions;

use super::*;

fn wanted(rate: &str) -> Vec<(Name, Rate)> {
    vec![(("token".to_owned(), String::new()), rate.parse().unwrap())]
}

/// How many requests are let through before one is refused, by processes in turn.
async fn count(processes: &[Leases], rate: &str) -> usize {
    let wanted = wanted(rate);
    for number in 0.. {
        if processes[number % processes.len()].take(&wanted).await.is_err() {
            return number;
        }
    }
    unreachable!()
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_count_together() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(Journal::open(folder.path(), JournalOptions::default()).unwrap());
    let processes: Vec<Leases> = (0..3).map(|_| Leases::new(open())).collect();
    // Small rates are exact.
    assert_eq!(count(&processes, "7/h").await, 7);
    // Of larger ones each process may hold a twentieth, and the first that is refused ends this.
    let made = count(&processes, "200/h").await;
    assert!((170..=200).contains(&made), "{made}");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_at_once_never_get_more_than_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Arc::new(Journal::open(folder.path(), JournalOptions::default()).unwrap());
    let processes: Vec<Arc<Leases>> = (0..2).map(|_| Arc::new(Leases::new(open()))).collect();
    let tasks: Vec<_> = (0..300)
        .map(|number| {
            let leases = Arc::clone(&processes[number % 2]);
            tokio::spawn(async move { leases.take(&wanted("100/h")).await.is_ok() })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        made += usize::from(task.await.unwrap());
    }
    // Nothing is lost either: what one holds it gives to those who wait there.
    assert!((95..=100).contains(&made), "{made}");
}

#[tokio::test]
async fn all_or_nothing_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(Journal::open(folder.path(), JournalOptions::default()).unwrap());
    let leases = Leases::new(journal);
    let rate = |name: &str, rate: &str| {
        (("token".to_owned(), name.to_owned()), rate.parse::<Rate>().unwrap())
    };
    let both = [rate("", "3/h"), rate("write", "1/h")];
    assert!(leases.take(&both).await.is_ok());
    let (refused, wait) = leases.take(&both).await.unwrap_err();
    assert_eq!(refused.to_string(), "1/h");
    assert!(wait > Duration::from_mins(55), "{wait:?}");
    // The one that was left is still there.
    for _ in 0..2 {
        assert!(leases.take(&both[..1]).await.is_ok());
    }
    assert!(leases.take(&both[..1]).await.is_err());
}
