//! Recorded runs: one file a subcommand.

mod export;
mod import;
mod list;
pub(super) mod nature;
mod remove;
mod replay;
mod rerun;
mod show;
mod stats;
mod step;
mod stop;
pub(super) mod text;
mod version;

use mcpgraph_diagnostics::printable;
use mcpgraph_engine::{Event, StepId};
use mcpgraph_graph::Tool;
use mcpgraph_journal::{Journal, JournalError, Missing, MissingPart, RunSummary};
use mcpgraph_value::Value;

use self::nature::Nature;
use super::args::HistoryArgs;
use super::args::runs::{RunsArgs, RunsCommand};
use super::{Exit, output, usage};

/// Dispatches `mcpgraph runs`.
pub(super) fn runs(args: RunsArgs, history: &HistoryArgs) -> anyhow::Result<Exit> {
    let json = args.json;
    let done = match args.command {
        RunsCommand::Ls(args) => list::list(&args, &Runs::open(history)?, json),
        RunsCommand::Show(args) => show::show(&args, &Runs::open(history)?, json),
        RunsCommand::Export(args) => export::export(&args, &Runs::open(history)?),
        RunsCommand::Import(args) => import::import(&args, history, json),
        RunsCommand::Rm(args) => remove::remove(&args, &Runs::open(history)?, json),
        RunsCommand::Stop(args) => stop::stop(&args, Runs::open(history)?, history, json),
        RunsCommand::Stats(args) => stats::stats(&args, &Runs::open(history)?, json),
        RunsCommand::Replay(args) => replay::replay(&args, &Runs::open(history)?, json),
        RunsCommand::Rerun(args) => rerun::rerun(args, &Runs::open(history)?, history, json),
    };
    done.or_else(|error| match error.downcast::<Failed>() {
        Ok(Failed(why)) => {
            output::error(&why);
            Ok(Exit::Failure)
        }
        Err(error) => Err(error),
    })
}

/// What was asked for cannot be had, through no fault of the command line: [`Exit::Failure`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Failed(String);

/// An error that ends the program with [`Exit::Failure`].
fn failed(why: impl Into<String>) -> anyhow::Error {
    Failed(why.into()).into()
}

/// The store, and where it is.
pub(super) struct Runs {
    pub(super) journal: Journal,
}

impl Runs {
    pub(super) fn open(history: &HistoryArgs) -> anyhow::Result<Self> {
        Self::open_for("runs", history)
    }

    /// The store, to look for things of a kind.
    pub(super) fn open_for(things: &str, history: &HistoryArgs) -> anyhow::Result<Self> {
        let journal = history.open().map_err(|error| match error.downcast() {
            Ok(JournalError::NoStore { dir }) => anyhow::anyhow!(
                "there are no {things} in {}: no file runs.db; `mcpgraph run` and `mcpgraph serve` \
                 record there, --data names another folder",
                dir.display()
            ),
            Ok(error) => error.into(),
            Err(error) => error,
        })?;
        Ok(Self { journal })
    }

    /// The run with this id, or with the only id that begins so.
    fn find(&self, id: &str) -> anyhow::Result<RunSummary> {
        let found = self.journal.resolve(id).and_then(|id| self.journal.run(id));
        match found {
            Ok(Some(run)) => Ok(run),
            Ok(None) | Err(JournalError::NoRun(_)) => Err(failed(format!(
                "there is no run `{id}` in {}; `mcpgraph runs ls` lists those that are",
                self.journal.place()
            ))),
            Err(error @ (JournalError::NotAnId(_) | JournalError::Ambiguous { .. })) => {
                Err(usage(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// What a run was of.
    fn nature(&self, run: &RunSummary) -> anyhow::Result<Nature> {
        Ok(Nature::of(&self.journal, run)?)
    }

    /// Everything that happened in a run, as a version of its tool would tell it.
    fn record(&self, run: &RunSummary, tool: &Tool) -> anyhow::Result<Vec<Event>> {
        self.journal.whole_events(run.id, tool.digest).map_err(|error| self.unreadable(error))
    }

    /// Why the record of a run cannot be used.
    fn unreadable(&self, error: JournalError) -> anyhow::Error {
        match error {
            JournalError::Missing(missing) => failed(self.explain(&missing)),
            other => other.into(),
        }
    }

    /// Why a run cannot be gone through again.
    fn explain(&self, missing: &Missing) -> String {
        let Missing { run, seq, step, what, .. } = missing;
        match what {
            MissingPart::Event => format!(
                "event {seq} of run {run} was lost when it was recorded, so it cannot be done again"
            ),
            MissingPart::Payload { field, size } => {
                let step = step.map(|step| match self.journal.step(*run, step) {
                    Ok(record) => format!(" of step {step} (node `{}`)", printable(&record.node)),
                    Err(_) => format!(" of step {step}"),
                });
                format!(
                    "the {field}{} was not kept: it has {size} bytes, more than the record took; \
                     runs that are recorded with --max-payload-bytes {size} can be done again",
                    step.unwrap_or_default()
                )
            }
        }
    }
}

/// A run has no step with this number.
fn no_step(run: &RunSummary, step: StepId) -> anyhow::Error {
    failed(match run.steps {
        0 => format!("run {} has no steps", run.id),
        steps => format!("run {} has no step {step}, only 0 to {}", run.id, steps - 1),
    })
}

/// Prints a document.
pub(super) fn print(document: &Value) -> anyhow::Result<()> {
    output::data(&(document.to_json_pretty() + "\n"))
}
