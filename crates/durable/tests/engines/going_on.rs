//! A run goes on after the process that executed it.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_durable::{Repeat, Steps, Stopped, step};
use mcpgraph_value::Value;

use crate::process::{Count, Home, UNWANTED, counted};

#[test]
fn a_run_is_executed_and_its_outcome_told() {
    for home in Home::all() {
        let process = home.start(|input, steps| async move {
            let count = Count::default();
            counted(&steps, "a", &count).await?;
            counted(&steps, "b", &count).await?;
            Ok(Value::array(vec![input, u64::from(count.get()).into()]))
        });
        let run = process.begin("hello");
        assert_eq!(process.value_of(run).to_json(), r#"["hello",2]"#);
        assert_eq!(process.value_of(run).to_json(), r#"["hello",2]"#);
    }
}

#[test]
fn finished_steps_are_never_done_again() {
    for home in Home::lasting() {
        let (first, second) = (Count::default(), Count::default());
        let script = |stays: bool, first: Count, second: Count| {
            move |_, steps| {
                let (first, second) = (first.clone(), second.clone());
                async move {
                    let one = counted(&steps, "first", &first).await?;
                    if stays {
                        second.add();
                        std::future::pending::<()>().await;
                    }
                    counted(&steps, "second", &second).await?;
                    Ok(one)
                }
            }
        };
        let process = home.start(script(true, first.clone(), second.clone()));
        let run = process.begin(Value::Null);
        process.until(|| second.get() == 1);
        process.kill();
        let process = home.start(script(false, first.clone(), second.clone()));
        assert_eq!(process.value_of(run), Value::from(1));
        assert_eq!((first.get(), second.get()), (1, 2));
        process.kill();
        // One that has ended is not executed again.
        let process = home.start(script(false, first.clone(), second.clone()));
        assert_eq!(process.value_of(run), Value::from(1));
        assert_eq!((first.get(), second.get()), (1, 2));
    }
}

/// What was under way is done again, or not, as its author says.
#[test]
fn a_step_that_was_under_way_is_repeated_only_if_it_may_be() {
    for (repeat, expected, times) in [(Repeat::Safe, "done", 2), (Repeat::Never, "unknown", 1)] {
        for home in Home::lasting() {
            let begun = Count::default();
            let script = |stays: bool, begun: Count| {
                move |_, steps: Arc<dyn Steps>| {
                    let begun = begun.clone();
                    async move {
                        let place = steps.place("call");
                        let body = || async {
                            begun.add();
                            if stays {
                                std::future::pending::<()>().await;
                            }
                            Value::from("done")
                        };
                        step(&*steps, &place, repeat, body, || "unknown".into()).await
                    }
                }
            };
            let process = home.start(script(true, begun.clone()));
            let run = process.begin(Value::Null);
            process.until(|| begun.get() == 1);
            process.kill();
            let process = home.start(script(false, begun.clone()));
            assert_eq!(process.value_of(run), Value::from(expected));
            assert_eq!(begun.get(), times, "{repeat:?}");
        }
    }
}

/// Steps that are under way at once have their places by when they were begun.
#[test]
fn steps_at_once_keep_their_outcomes_apart() {
    for home in Home::lasting() {
        let done = Count::default();
        let script = |stays: bool, done: Count| {
            move |_, steps: Arc<dyn Steps>| {
                let done = done.clone();
                async move {
                    let places = [steps.place("left"), steps.place("right")];
                    let left = step(
                        &*steps,
                        &places[0],
                        Repeat::Safe,
                        || async {
                            if stays {
                                std::future::pending::<()>().await;
                            }
                            "left".into()
                        },
                        || Value::Null,
                    );
                    let right = async {
                        let right = counted_at(&*steps, &places[1], &done).await;
                        done.add();
                        right
                    };
                    let (left, right) = tokio::join!(left, right);
                    Ok(Value::array(vec![left?, right?]))
                }
            }
        };
        let process = home.start(script(true, done.clone()));
        let run = process.begin(Value::Null);
        process.until(|| done.get() == 2);
        process.kill();
        let process = home.start(script(false, done.clone()));
        assert_eq!(process.value_of(run).to_json(), r#"["left",1]"#);
    }
}

async fn counted_at(
    steps: &dyn Steps,
    place: &mcpgraph_durable::Place,
    count: &Count,
) -> Result<Value, Stopped> {
    let body = || async { Value::from(u64::from(count.add())) };
    step(steps, place, Repeat::Safe, body, || Value::Null).await
}

/// Counts and stays until it is stopped.
async fn stays(steps: Arc<dyn Steps>, count: Count) -> Result<Value, Stopped> {
    count.add();
    steps.stopped().cancelled().await;
    Err(steps.why().unwrap())
}

/// A process may end while it is about to go on with what others have left.
#[test]
fn a_process_that_ends_at_once_goes_on_with_nothing() {
    for home in Home::lasting() {
        let count = Count::default();
        let script = |count: Count| move |_, steps| stays(steps, count.clone());
        let process = home.start(script(count.clone()));
        process.begin(Value::Null);
        process.until(|| count.get() == 1);
        process.kill();
        for pause in [0, 1, 3, 10, 30] {
            let process = home.start(script(count.clone()));
            process.run(async {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                process.engine.close().await;
            });
        }
    }
}

/// A run is left to those who serve the same; in a file the executor tells them apart.
#[test]
fn a_run_is_left_alone_by_who_serves_something_else() {
    for home in Home::lasting() {
        let count = Count::default();
        let script = |count: Count| move |_, steps| stays(steps, count.clone());
        let process = home.start(script(count.clone()));
        let (input, enough) = match home {
            Home::Folder(_) => (UNWANTED, Duration::from_secs(2)),
            _ => ("wanted", Duration::from_secs(10)),
        };
        let run = process.begin(input);
        process.until(|| count.get() == 1);
        process.kill();
        let other = home.start_as("something else", script(count.clone()));
        let looked = other.run(async {
            tokio::time::sleep(enough).await;
            other.engine.look(run).await
        });
        assert_eq!((looked, count.get()), (Ok(None), 1));
        if let Home::Database(_) = home {
            let same = home.start(|_, _| async { Ok(Value::from("done")) });
            assert_eq!(same.value_of(run), Value::from("done"));
            assert_eq!(count.get(), 1);
        }
    }
}
