use std::time::{Instant, SystemTime};

use async_trait::async_trait;
use mcpgraph_diagnostics::Source;
use mcpgraph_mcp::message::{Raw, RpcError, raw};
use mcpgraph_mcp::server::{Broadcaster, Call, Client, Description, Service};
use mcpgraph_sop::{Mode, ToolUse, Walk};
use serde_json::json;
use serde_json::value::RawValue;

use super::*;
use crate::procedures::CallParams;
use crate::trail::Trail;
use crate::{Act, Audience, InMemory, Options, Store, StoreError};

/// Nobody calls it here.
struct Nothing;

#[async_trait]
impl Service for Nothing {
    async fn call(&self, _: Call) -> Result<Raw, RpcError> {
        Err(RpcError::internal("nothing is called"))
    }

    fn info(&self) -> Arc<RawValue> {
        raw(&json!({})).into()
    }

    async fn describe(&self, _: &Client) -> Description {
        Description { capabilities: raw(&json!({})), instructions: None }
    }
}

/// Conversations that are elsewhere: each change takes a while.
struct Far(InMemory);

#[async_trait]
impl Store for Far {
    async fn put(&self, key: &Key, begun: Conversation, now: Instant) -> Result<(), StoreError> {
        self.0.put(key, begun, now).await
    }

    async fn change(
        &self,
        key: &Key,
        now: Instant,
        change: &mut Act<'_>,
    ) -> Result<bool, StoreError> {
        tokio::task::yield_now().await;
        self.0.change(key, now, change).await
    }

    async fn remove(&self, key: &Key) -> Result<(), StoreError> {
        self.0.remove(key).await
    }

    async fn expire(&self, now: Instant) -> Result<Vec<(Key, Conversation)>, StoreError> {
        self.0.expire(now).await
    }
}

fn server() -> Arc<Procedures> {
    let options = Options {
        audience: Audience::One,
        lenient: false,
        instruments: mcpgraph_runtime::Instruments::default(),
        gate: mcpgraph_gateway::Gate::default(),
        elsewhere: None,
    };
    let store = Arc::new(Far(InMemory::default()));
    Procedures::new(Arc::new(Nothing), None, store, Broadcaster::new(), options)
}

/// Begins a walk, and goes to its only node.
async fn begin(server: &Procedures) {
    let text = "---\nagent: x\nalways_tools: [look]\n---\n```mermaid\nflowchart TD\nSTART\n```\n";
    let (procedure, _) = mcpgraph_sop::read(&Source::new("x.md", text));
    let mut walk = Walk::new(Arc::new(procedure.expect("a procedure")), Mode::Enforced);
    let mut trail = Trail::new(RunId::new(), SystemTime::now());
    walk.go("START", 0);
    trail.arrived(&walk);
    let begun = Conversation { walk, trail };
    server.store.put(&Key::process(), begun, Instant::now()).await.expect("room");
}

async fn call(server: &Arc<Procedures>) -> Noted {
    let params = CallParams { name: "look".to_owned(), arguments: json!({}) };
    match Arc::clone(server).permit(Key::process(), params).await {
        Ok(Some(noted)) => noted,
        _ => panic!("it may be called"),
    }
}

fn value() -> Came {
    let answer = Answer { result: Some(mcpgraph_sop::digest("1")), value: Some(1.into()) };
    Came { answer: Some(answer), output: Ok(1.into()) }
}

/// The calls at the node, and the steps of the record that have not ended.
async fn known(server: &Procedures) -> (Vec<ToolUse>, usize) {
    let key = Key::process();
    let seen = server.with(&key, |Conversation { walk, trail }| {
        let open = trail.to_value();
        let open = open.pointer("/4").and_then(Value::as_array).map_or(0, |open| open.len());
        (walk.steps()[0].uses.clone(), open)
    });
    match seen.await {
        Ok(Some(seen)) => seen,
        _ => panic!("it is known"),
    }
}

/// Lets everything that was begun come to its end.
async fn settle() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_call_that_was_given_up_stays_unanswered() {
    let server = server();
    begin(&server).await;
    let noted = call(&server).await;
    let (uses, open) = known(&server).await;
    assert_eq!((uses[0].is_unanswered(), open), (true, 1));
    drop(noted);
    settle().await;
    let (uses, open) = known(&server).await;
    assert_eq!((uses[0].is_unanswered(), open), (true, 0));
}

#[tokio::test]
async fn an_answer_is_noted_also_when_nobody_waits_for_that() {
    let server = server();
    begin(&server).await;
    let mut noting = Box::pin(call(&server).await.answered(value()));
    let polled = poll_fn(|context| Poll::Ready(noting.as_mut().poll(context))).await;
    assert!(polled.is_pending());
    drop(noting);
    settle().await;
    let (uses, open) = known(&server).await;
    assert_eq!((uses[0].result.is_some(), open), (true, 0));
}

#[tokio::test]
async fn an_answer_belongs_to_the_walk_that_asked() {
    let server = server();
    begin(&server).await;
    let before = call(&server).await;
    begin(&server).await;
    let after = call(&server).await;
    before.answered(value()).await;
    let (uses, open) = known(&server).await;
    assert_eq!((uses[0].is_unanswered(), open), (true, 1));
    after.answered(value()).await;
    let (uses, open) = known(&server).await;
    assert_eq!((uses[0].result.is_some(), open), (true, 0));
}

#[tokio::test]
async fn what_is_not_noted_for_want_of_a_place_ends_with_the_walk() {
    let server = server();
    begin(&server).await;
    let all = u32::try_from(MAX_NOTING).expect("few");
    let places = server.noting.acquire_many(all).await.expect("open");
    drop(call(&server).await);
    settle().await;
    assert_eq!(known(&server).await.1, 1);
    drop(places);
    let ended = server.with(&Key::process(), |begun| begun.trail.end(None)).await;
    assert!(matches!(ended, Ok(Some(()))));
    assert_eq!(known(&server).await.1, 0);
}

#[test]
fn a_trail_is_read_as_it_was_once_kept() {
    let saved = Value::from_json(r#"[5,3,2,[2,1,["look"]]]"#).expect("JSON");
    let trail = Trail::from_value(RunId::new(), SystemTime::now(), &saved).expect("a trail");
    assert_eq!(trail.to_value().to_json(), r#"[5,3,2,[2,1,["look"]],[]]"#);
}
