//! Messages for runs.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use mcpgraph_durable::{DurableError, Message, Steps};
use mcpgraph_journal::RunId;
use mcpgraph_value::Value;

use crate::process::{Count, Home};

fn message(key: &str, value: &str) -> Message {
    Message { topic: "answer".to_owned(), key: key.to_owned(), value: value.into() }
}

async fn received(
    steps: &Arc<dyn Steps>,
    wait: Duration,
) -> Result<Value, mcpgraph_durable::Stopped> {
    let place = steps.place("receive");
    let until = SystemTime::now() + wait;
    Ok(steps.receive(&place, "answer", until).await?.unwrap_or_default())
}

const LONG: Duration = Duration::from_mins(10);

#[test]
fn a_message_is_received_once_and_in_order() {
    for home in Home::all() {
        let process = home.start(|_, steps| async move {
            let first = received(&steps, LONG).await?;
            let second = received(&steps, LONG).await?;
            Ok(Value::array(vec![first, second]))
        });
        let run = process.begin(Value::Null);
        for (key, value) in [("a", "one"), ("a", "one again"), ("b", "two")] {
            assert!(process.run(process.engine.send(run, message(key, value))).unwrap());
        }
        assert_eq!(process.value_of(run).to_json(), r#"["one","two"]"#);
        let sent = process.run(process.engine.send(run, message("c", "late"))).unwrap();
        assert!(!sent, "a run that has ended takes no messages");
    }
}

#[test]
fn a_message_reaches_a_run_whose_process_is_gone() {
    for home in Home::lasting() {
        let begun = Count::default();
        let script = |begun: Count| {
            move |_, steps| {
                let begun = begun.clone();
                async move {
                    begun.add();
                    received(&steps, LONG).await
                }
            }
        };
        let process = home.start(script(begun.clone()));
        let run = process.begin(Value::Null);
        process.until(|| begun.get() == 1);
        process.run(process.engine.send(run, message("a", "yes"))).unwrap();
        process.kill();
        let process = home.start(script(begun));
        assert_eq!(process.value_of(run), Value::from("yes"));
    }
}

#[test]
fn what_does_not_come_in_time_does_not_come_later() {
    for home in Home::lasting() {
        let late = Count::default();
        let script = |stays: bool, late: Count| {
            move |_, steps| {
                let late = late.clone();
                async move {
                    let answer = received(&steps, Duration::from_millis(50)).await?;
                    late.add();
                    if stays {
                        std::future::pending::<()>().await;
                    }
                    Ok(answer)
                }
            }
        };
        let process = home.start(script(true, late.clone()));
        let run = process.begin(Value::Null);
        process.until(|| late.get() == 1);
        process.run(process.engine.send(run, message("a", "late"))).unwrap();
        process.kill();
        let process = home.start(script(false, late));
        assert_eq!(process.value_of(run), Value::Null);
    }
}

#[test]
fn a_run_that_is_not_known_takes_no_messages_and_has_no_outcome() {
    for home in Home::all() {
        let process = home.start(|input, _| async move { Ok(input) });
        let run = RunId::new();
        assert!(!process.run(process.engine.send(run, message("a", "b"))).unwrap());
        assert_eq!(process.run(process.engine.look(run)), Err(DurableError::Unknown(run)));
    }
}
