//! How a run goes on step by step.

use mcpgraph_engine::PauseReason;
use mcpgraph_runtime::{Breakpoint, DebugState, Move, NotObeyed};
use mcpgraph_value::Value;

use crate::{World, before, json, result, stopped};

#[tokio::test]
async fn a_run_that_starts_paused_goes_step_by_step() {
    let world = World::new();
    let (mut debugger, run) = world.debug("sum_to", 1, true, Vec::new());
    assert_eq!(stopped(&mut debugger).await, (PauseReason::Asked, "entry".to_owned()));
    for node in ["count", "more", "exit"] {
        debugger.step().await.unwrap();
        assert_eq!(stopped(&mut debugger).await, (PauseReason::Stepped, node.to_owned()));
    }
    let context = debugger.context(None).await.unwrap().unwrap();
    assert_eq!(context, json(r#"{"entry":{"n":1},"count":{"i":1,"sum":1},"more":"exit"}"#));
    debugger.step().await.unwrap();
    assert_eq!(debugger.stopped().await, DebugState::Ended);
    assert_eq!(result(run).await, json(r#"{"i":1,"sum":1}"#));
    assert_eq!(debugger.resume().await, Err(NotObeyed::Ended));
}

#[tokio::test]
async fn stepping_over_does_not_stop_inside() {
    let world = World::new();
    let (mut debugger, run) = world.debug("outer", 0, false, vec![before("inner")]);
    stopped(&mut debugger).await;
    debugger.step_over().await.unwrap();
    assert_eq!(stopped(&mut debugger).await, (PauseReason::Stepped, "last".to_owned()));
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, Value::from(30));

    let (mut debugger, run) = world.debug("outer", 0, false, vec![before("inner")]);
    stopped(&mut debugger).await;
    debugger.step().await.unwrap();
    assert_eq!(stopped(&mut debugger).await, (PauseReason::Stepped, "entry".to_owned()));
    debugger.resume().await.unwrap();
    assert_eq!(result(run).await, Value::from(30));
}

/// It has nothing to step over yet: it stands still before whatever comes next.
#[tokio::test]
async fn a_step_of_a_run_that_goes_on_stops_it() {
    for how in [Move::Step, Move::StepOver] {
        let world = World::new();
        let (mut debugger, run) = world.debug("sum_to", 100, false, Vec::new());
        // It looks for commands every few steps, and this one comes in the middle.
        debugger.go(how).await.unwrap();
        let (why, node) = stopped(&mut debugger).await;
        assert_eq!(why, PauseReason::Stepped);
        assert!(["count", "more"].contains(&&*node), "{node}");
        debugger.resume().await.unwrap();
        assert_eq!(result(run).await.get("sum"), Some(&Value::from(5050)));
    }
}

/// A step comes to a breakpoint, too.
#[tokio::test]
async fn times_are_counted_while_stepping() {
    let world = World::new();
    let third = Breakpoint { hits: 3, ..before("count") };
    let (mut debugger, run) = world.debug("sum_to", 9, true, vec![third]);
    stopped(&mut debugger).await;
    for node in ["count", "more", "count"] {
        debugger.step().await.unwrap();
        assert_eq!(stopped(&mut debugger).await, (PauseReason::Stepped, node.to_owned()));
    }
    debugger.resume().await.unwrap();
    stopped(&mut debugger).await;
    let context = debugger.context(None).await.unwrap().unwrap();
    assert_eq!(context.get("count").unwrap().get("i"), Some(&Value::from(2)));
    debugger.stop().await.unwrap();
    assert!(run.await.unwrap().outcome.is_err());
}

/// What is inside several nodes that were stepped over is at work at once.
#[tokio::test]
async fn stepping_over_one_does_not_stop_inside_another_that_was_stepped_over() {
    let world = World::new();
    let (mut debugger, run) = world.debug("calls", 0, false, vec![before("sub")]);
    stopped(&mut debugger).await;
    debugger.set_breakpoints(Vec::new()).await.unwrap();
    let mut nodes = Vec::new();
    loop {
        debugger.step_over().await.unwrap();
        if debugger.stopped().await == DebugState::Ended {
            break;
        }
        nodes.push(stopped(&mut debugger).await.1);
    }
    assert_eq!(nodes, ["sub", "sub", "sub", "exit"]);
    result(run).await;
}

/// Breakpoints inside do stop, and from there it goes on as inside any body.
#[tokio::test]
async fn a_breakpoint_inside_what_is_stepped_over_stops() {
    let world = World::new();
    let points = vec![before("inner"), before("more")];
    let (mut debugger, run) = world.debug("outer", 0, false, points);
    stopped(&mut debugger).await;
    debugger.step_over().await.unwrap();
    let stands = stopped(&mut debugger).await;
    assert_eq!(stands, (PauseReason::Before("more".into()), "more".to_owned()));
    debugger.step_over().await.unwrap();
    let stands = stopped(&mut debugger).await;
    assert_eq!(stands, (PauseReason::Stepped, "count".to_owned()));
    debugger.stop().await.unwrap();
    assert!(run.await.unwrap().outcome.is_err());
}
