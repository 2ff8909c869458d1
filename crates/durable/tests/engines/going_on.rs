//! A run goes on after the process that executed it.

use mcpgraph_durable::{Repeat, step};
use mcpgraph_value::Value;

use crate::process::{Count, Home, counted};

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
                move |_, steps: std::sync::Arc<dyn mcpgraph_durable::Steps>| {
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
            move |_, steps: std::sync::Arc<dyn mcpgraph_durable::Steps>| {
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
    steps: &dyn mcpgraph_durable::Steps,
    place: &mcpgraph_durable::Place,
    count: &Count,
) -> Result<Value, mcpgraph_durable::Stopped> {
    let body = || async { Value::from(u64::from(count.add())) };
    step(steps, place, Repeat::Safe, body, || Value::Null).await
}
