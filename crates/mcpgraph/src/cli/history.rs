//! The record of runs, as the command line opens it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use clap::parser::ValueSource;
use mcpgraph_access::Tokens;
use mcpgraph_durable::{Dbos, Local};
use mcpgraph_journal::{Journal, JournalOptions, Retention};
use mcpgraph_runtime::DurableRuns;

use super::args::HistoryArgs;
use super::usage;
use crate::data;
use crate::durable::Identity;

/// Whether there is a folder, or nothing where one could be made.
fn may_be_folder(path: &Path) -> bool {
    match std::fs::metadata(path) {
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() != ErrorKind::NotADirectory,
    }
}

impl HistoryArgs {
    /// A variable that is set to nothing counts as one that is not set, as other programs have it.
    pub(super) fn without_empty(mut self) -> Self {
        self.data = self.data.filter(|folder| !folder.as_os_str().is_empty());
        self.store = self.store.filter(|url| !url.is_empty());
        self
    }

    /// Refuses what was typed and cannot be right, whatever is away at the moment: whoever types a
    /// place for runs wants them there. What variables say was meant for other calls, too.
    pub(super) fn refuse_impossible(&self, matches: &ArgMatches) -> anyhow::Result<()> {
        let is_typed = |id| matches.value_source(id) == Some(ValueSource::CommandLine);
        if is_typed("store") {
            self.database()?;
        }
        let folder = self.data.as_ref().filter(|_| is_typed("data"));
        if let Some(folder) = folder.filter(|folder| !may_be_folder(folder)) {
            let folder = folder.display();
            return Err(usage(format!(
                "--data is the folder for runs, and `{folder}` is a file or below one"
            )));
        }
        Ok(())
    }

    /// Opens the record for writing. Where that cannot be done runs are still executed: a record is
    /// no reason to fail a call, and stderr says that there is none.
    pub(super) fn record(&self) -> Option<Arc<Journal>> {
        if self.no_history {
            return None;
        }
        let opened = self.create().map(Arc::new);
        opened.inspect_err(|error| tracing::warn!("runs are not recorded: {error:#}")).ok()
    }

    /// What has durable runs executed to their end.
    pub(super) fn durable(
        &self,
        journal: Option<&Arc<Journal>>,
        identity: &Identity,
    ) -> Arc<DurableRuns> {
        let Some(journal) = journal.cloned() else {
            return DurableRuns::new(Arc::new(Local::in_memory()), None);
        };
        let name = identity.name.as_str();
        match self.database() {
            // Replicas have their files in different places.
            Ok(Some(url)) => {
                DurableRuns::new(Arc::new(Dbos::new(url, name, journal)), Some(name.into()))
            }
            _ => {
                let engine = Arc::new(Local::in_file(journal));
                DurableRuns::new(engine, identity.name_and_file.clone())
            }
        }
    }

    /// Opens the record for writing; what is missing is made.
    pub(super) fn create(&self) -> anyhow::Result<Journal> {
        Ok(match self.database()? {
            Some(url) => Journal::open_postgres(url, self.options())?,
            None => Journal::open(&self.folder()?, self.options())?,
        })
    }

    /// Opens what was recorded.
    pub(super) fn open(&self) -> anyhow::Result<Journal> {
        Ok(match self.database()? {
            Some(url) => Journal::open_postgres_read(url)?,
            None => Journal::open_read(&self.folder()?)?,
        })
    }

    /// The tokens: in the database, if there is one, or else in the folder.
    pub(super) fn tokens(&self) -> anyhow::Result<Tokens> {
        Ok(match self.database()? {
            Some(url) => Tokens::in_store(Arc::new(Journal::open_postgres_read(url)?)),
            None => Tokens::in_folder(&self.folder()?),
        })
    }

    /// The URL of the database that takes the place of the file.
    fn database(&self) -> anyhow::Result<Option<&str>> {
        let is_known = |url: &str| {
            ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme))
        };
        match self.store.as_deref() {
            Some(url) if !is_known(url) => Err(usage(
                "--store is the URL of a PostgreSQL database: postgres://USER@HOST/DATABASE; \
                 the folder of a file is given with --data",
            )),
            url => Ok(url),
        }
    }

    /// Where runs are kept.
    pub(super) fn folder(&self) -> anyhow::Result<PathBuf> {
        self.data.clone().or_else(data::default_folder).ok_or_else(|| {
            usage("there is no folder for runs: name one with --data, or leave them with --no-history")
        })
    }

    fn options(&self) -> JournalOptions {
        let unless_zero = |number: u64| (number > 0).then_some(number);
        JournalOptions {
            max_payload_bytes: self.max_payload_bytes,
            retention: Retention {
                max_age: unless_zero(self.keep_days)
                    .map(|days| Duration::from_secs(days.saturating_mul(24 * 60 * 60))),
                max_runs: unless_zero(self.keep_runs),
                max_requests: unless_zero(self.keep_requests),
                max_bytes: unless_zero(self.keep_mib).map(|mib| mib.saturating_mul(1024 * 1024)),
            },
            ..JournalOptions::default()
        }
    }
}
