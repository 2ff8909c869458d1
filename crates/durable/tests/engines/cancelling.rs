//! A run that somebody cancels.

use mcpgraph_durable::{Ended, Stopped};
use mcpgraph_value::Value;

use crate::process::{Count, Home, counted};

#[test]
fn a_cancelled_run_is_told_so_and_ends() {
    for home in Home::all() {
        let (begun, kept, told) = (Count::default(), Count::default(), Count::default());
        let (begins, keeps, tells) = (begun.clone(), kept.clone(), told.clone());
        let process = home.start(move |_, steps| {
            let (begun, kept, told) = (begins.clone(), keeps.clone(), tells.clone());
            async move {
                counted(&steps, "first", &begun).await?;
                kept.add();
                steps.stopped().cancelled().await;
                assert_eq!(steps.why(), Some(Stopped::Cancelled));
                told.add();
                counted(&steps, "second", &begun).await
            }
        });
        let run = process.begin(Value::Null);
        process.until(|| kept.get() == 1);
        process.run(process.engine.cancel(run)).unwrap();
        assert_eq!(process.run(process.engine.outcome(run)).unwrap(), Ended::Cancelled);
        process.until(|| told.get() == 1);
        assert_eq!(begun.get(), 1, "a step was done after the run was cancelled");
        // One that has ended stays what it is.
        process.run(process.engine.cancel(run)).unwrap();
    }
}

#[test]
fn a_run_that_has_ended_cannot_be_cancelled() {
    for home in Home::all() {
        let process = home.start(|input, _| async move { Ok(input) });
        let run = process.begin("over");
        assert_eq!(process.value_of(run), Value::from("over"));
        process.run(process.engine.cancel(run)).unwrap();
        assert_eq!(process.value_of(run), Value::from("over"));
    }
}
