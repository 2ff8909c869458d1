use super::*;
use crate::message::{Notification, Response, null};

fn stream(queue: usize, max_replay_events: usize) -> Arc<EventStream> {
    EventStream::new(7, true, &Limits { queue, max_replay_events, ..Limits::default() })
}

fn message(number: u64) -> Message {
    Message::Notification(Notification { method: number.to_string(), params: None })
}

/// What a reader finds without waiting, by number.
async fn numbers(reader: &mut Reader) -> Vec<u64> {
    let mut found = Vec::new();
    while let Ok(Some(Item::Event(event))) =
        tokio::time::timeout(Duration::from_millis(20), reader.next()).await
    {
        found.push(event.number);
    }
    found
}

#[tokio::test]
async fn a_reader_gets_everything_in_order_and_can_come_back() {
    let stream = stream(64, 64);
    let mut reader = stream.read(None);
    for number in 1..=5 {
        stream.send(message(number)).await;
    }
    assert_eq!(numbers(&mut reader).await, [1, 2, 3, 4, 5]);
    drop(reader);
    stream.send(message(6)).await;
    assert_eq!(numbers(&mut stream.read(Some(3))).await, [4, 5, 6]);
    stream.send(message(7)).await;
    assert_eq!(numbers(&mut stream.read(None)).await, [7]);
    assert_eq!(numbers(&mut stream.read(Some(99))).await, [0_u64; 0]);
}

#[tokio::test]
async fn without_a_reader_the_oldest_give_way() {
    let stream = stream(2, 3);
    for number in 1..=10 {
        stream.send(message(number)).await;
    }
    assert_eq!(numbers(&mut stream.read(None)).await, [8, 9, 10]);
    let small = EventStream::new(1, true, &Limits { max_replay_bytes: 1, ..Limits::default() });
    small.send(message(1)).await;
    small.send(message(2)).await;
    assert_eq!(numbers(&mut small.read(None)).await, [2]);
}

#[tokio::test]
async fn a_slow_reader_makes_the_writer_wait() {
    let stream = stream(2, 1);
    let mut reader = stream.read(None);
    stream.send(message(1)).await;
    stream.send(message(2)).await;
    let third = tokio::spawn({
        let stream = stream.clone();
        async move { stream.send(message(3)).await }
    });
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert!(!third.is_finished());
    assert_eq!(numbers(&mut reader).await, [1, 2, 3]);
    third.await.unwrap();
    // And no more once it is gone.
    for number in 4..=20 {
        if number == 6 {
            drop(stream.read(None));
        }
        let sent = stream.send(message(number));
        if number == 6 {
            drop(reader);
            sent.await;
            break;
        }
        sent.await;
    }
}

#[tokio::test]
async fn a_later_reader_takes_over_and_the_end_is_seen() {
    let stream = stream(8, 8);
    let mut first = stream.read(None);
    let waiting = tokio::spawn(async move { first.next().await.is_none() });
    tokio::task::yield_now().await;
    let mut second = stream.read(None);
    assert!(waiting.await.unwrap());
    assert!(stream.has_reader());
    stream.send(Message::Response(Response { id: None, outcome: Ok(null()) })).await;
    stream.end();
    assert!(matches!(second.next().await, Some(Item::Event(event)) if event.is_response));
    assert!(second.next().await.is_none());
    stream.send(message(9)).await;
    assert_eq!(stream.taken(), 1);
}

#[tokio::test]
async fn a_pause_comes_after_what_was_sent_before_it() {
    let stream = stream(8, 8);
    let mut reader = stream.read(None);
    stream.send(message(1)).await;
    stream.pause(Duration::from_millis(5)).await;
    assert!(matches!(reader.next().await, Some(Item::Event(_))));
    let left = reader.next().await;
    assert!(matches!(left, Some(Item::Leave(retry)) if retry.as_millis() == 5));
    assert!(reader.next().await.is_none() && !stream.has_reader());
    stream.send(message(2)).await;
    assert_eq!(numbers(&mut stream.read(Some(1))).await, [2]);
}
