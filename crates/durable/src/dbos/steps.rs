//! The engine as one execution sees it: steps kept in DBOS, as long as the run is this process's own.

use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use dbos::sysdb::postgres::PostgresSystemDatabase;
use dbos::sysdb::types::{Outcome, StepTiming, Timestamp};
use dbos::sysdb::{Error, SystemDatabase as _};
use mcpgraph_journal::RunId;
use mcpgraph_value::Value;

use super::{Inner, JSON, WAIT_FOR_CERTAINTY, json, text};
use crate::sealed::{About, unreadable};
use crate::{Course, Place, Steps, Stopped};

/// The engine as one execution sees it.
pub(super) struct DbosSteps {
    pub(super) engine: Arc<Inner>,
    pub(super) database: Arc<PostgresSystemDatabase>,
    pub(super) run: RunId,
    /// The run, as DBOS calls it.
    pub(super) id: String,
    /// The number under which the others knew this process when the execution began.
    pub(super) presence: i64,
    pub(super) course: Course,
}

impl DbosSteps {
    /// Whether the execution may go on: nobody has taken the run over. Where the others may have
    /// given this process up without its knowing, it waits until it knows.
    async fn check(&self) -> Result<(), Stopped> {
        self.course.check()?;
        if self.engine.certain().await? == self.presence { Ok(()) } else { Err(Stopped::Elsewhere) }
    }

    /// What is at a place.
    async fn sealed_at(&self, place: &Place) -> Result<Option<String>, Stopped> {
        let step = step_id(place)?;
        let found = self.ask(|| self.database.check_step(&self.id, step, &place.name)).await?;
        match found.map_err(stopped)? {
            Some(step) => step.output.ok_or_else(unreadable).map(Some),
            None => Ok(None),
        }
    }

    /// What was kept.
    async fn opened(&self, about: About, kept: &str) -> Result<Value, Stopped> {
        self.engine.unseal(about, text(kept)?).await?.ok_or_else(unreadable)
    }

    /// Asks the database for something while it is certain that the run is this process's own, also
    /// when the answer has come. What takes longer is asked again once that is certain again.
    async fn ask<T, F: Future<Output = Result<T, Error>>>(
        &self,
        question: impl Fn() -> F,
    ) -> Result<Result<T, Error>, Stopped> {
        loop {
            self.check().await?;
            let answer = tokio::select! {
                biased;
                answer = question() => Some(answer),
                () = self.doubtful() => None,
            };
            if let Some(answer) = answer {
                self.check().await?;
                return Ok(answer);
            }
        }
    }

    /// Waits until it is not certain any more that the run is this process's own.
    async fn doubtful(&self) {
        let is_certain = || {
            self.engine.journal.is_seen() && self.engine.journal.presence() == Some(self.presence)
        };
        while is_certain() {
            tokio::select! {
                () = self.course.stopped().cancelled() => return,
                () = tokio::time::sleep(WAIT_FOR_CERTAINTY) => {}
            }
        }
    }
}

#[async_trait]
impl Steps for DbosSteps {
    fn course(&self) -> &Course {
        &self.course
    }

    async fn recall(&self, place: &Place) -> Result<Option<Value>, Stopped> {
        match self.sealed_at(place).await? {
            Some(sealed) => self.opened(About::step(self.run, place), &sealed).await.map(Some),
            None => Ok(None),
        }
    }

    async fn keep(&self, place: &Place, kept: Value) -> Result<Value, Stopped> {
        let now = Timestamp::now();
        let timing = Some(StepTiming { started_at: now, completed_at: now });
        let about = About::step(self.run, place);
        let text = json(self.engine.seal(about.clone(), kept.clone()).await?);
        let step = step_id(place)?;
        let record = || {
            let outcome = Outcome::Output(Some(&text));
            self.database.record_step(&self.id, step, &place.name, outcome, Some(JSON), timing)
        };
        match self.ask(record).await? {
            // Another execution may have been first, and what it kept is what counts. DBOS tells
            // executions apart by the millisecond, so this looks for itself: no two seals are alike.
            Ok(()) | Err(Error::StepAlreadyRecorded { .. }) => {}
            Err(error) => return Err(stopped(error)),
        }
        let there = self.sealed_at(place).await?.ok_or(Stopped::Elsewhere)?;
        if there == text { Ok(kept) } else { self.opened(about, &there).await }
    }

    async fn receive(
        &self,
        place: &Place,
        topic: &str,
        until: SystemTime,
    ) -> Result<Option<Value>, Stopped> {
        self.check().await?;
        let left = until.duration_since(SystemTime::now()).unwrap_or_default();
        let step = step_id(place)?;
        let received = self.database.recv(&self.id, step, step + 1, Some(topic), left);
        tokio::select! {
            biased;
            () = self.course.stopped().cancelled() => {
                Err(self.course.why().unwrap_or(Stopped::Elsewhere))
            }
            received = received => match received.map_err(stopped)? {
                Some(message) => {
                    let about = About::message(self.run, topic);
                    self.opened(about, &message.value).await.map(Some)
                }
                None => Ok(None),
            },
        }
    }
}

fn step_id(place: &Place) -> Result<i32, Stopped> {
    i32::try_from(place.number)
        .map_err(|_| Stopped::Unusable("the run has too many steps".to_owned()))
}

fn stopped(error: Error) -> Stopped {
    match error {
        Error::WorkflowCancelled { .. } => Stopped::Cancelled,
        other => Stopped::Unusable(other.to_string()),
    }
}
