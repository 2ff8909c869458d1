//! Where commands are carried out.
//!
//! This crate owns the backends: EdgeLake nodes, programs, HTTP services, SQLite and PostgreSQL
//! databases, each behind the one trait [`Carrier`]. [`Backends`] keeps what is worth keeping
//! between calls, such as connections, and gives a command's result or a [`CommandError`] that
//! names the backend and the cause.
//!
//! What a command is, how arguments get into it and what its answer means is the business of
//! `mcpgraph-command`. A call that is no longer wanted is dropped: programs are killed with their
//! children, statements are interrupted.

mod edgelake;
mod error;
mod http;
mod postgres;
mod process;
mod sqlite;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use mcpgraph_command::{Answer, Backend, BackendKind, Command, Request};
use mcpgraph_programs::Reaper;
use mcpgraph_value::Value;
use parking_lot::Mutex;

pub use self::error::{CommandError, ErrorKind};

/// Carries out the requests of one backend.
#[async_trait]
pub trait Carrier: Send + Sync {
    /// Sends a request and gives the answer. Dropping the future ends what is under way.
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError>;
}

/// What one request may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How large the answer may be.
    pub bytes: usize,
    /// How long it may take.
    pub time: Duration,
}

/// All backends of a process.
pub struct Backends {
    /// Ends programs when this process is killed.
    reaper: Option<Reaper>,
    /// The carriers that were used last, the latest at the end.
    carriers: Mutex<Vec<Known>>,
}

type Known = (Arc<Backend>, Arc<dyn Carrier>);

/// How many backends keep their connections.
const MAX_CARRIERS: usize = 64;

/// How long a command may take that no node has given a time.
const LONGEST: Duration = Duration::from_hours(24);

impl Backends {
    /// No backends yet; each is made when it is first used. The reaper ends the programs they
    /// start when this process is killed and cannot.
    pub fn new(reaper: Option<Reaper>) -> Self {
        Self { reaper, carriers: Mutex::default() }
    }

    /// Carries out a command.
    pub async fn run(
        &self,
        command: &Command,
        arguments: &Value,
        timeout: Option<Duration>,
    ) -> Result<Value, CommandError> {
        let named = |error: CommandError| error.of(&command.backend);
        let request = command
            .request(arguments)
            .map_err(|refusal| named(CommandError::new(ErrorKind::Refused, refusal.to_string())))?;
        let limits = Limits {
            bytes: command.max_output_bytes,
            // The engine ends the step itself; this only bounds what is asked of others.
            time: timeout.unwrap_or(LONGEST),
        };
        let carrier = self.carrier(&command.backend).map_err(named)?;
        let answer = carrier.send(request, limits).await.map_err(named)?;
        command
            .result(answer, arguments)
            .map_err(|error| named(CommandError::new(ErrorKind::Answer, error.to_string())))
    }

    fn carrier(&self, backend: &Arc<Backend>) -> Result<Arc<dyn Carrier>, CommandError> {
        let mut carriers = self.carriers.lock();
        if let Some(at) = carriers.iter().position(|(known, _)| known == backend) {
            let found = carriers.remove(at);
            let carrier = Arc::clone(&found.1);
            carriers.push(found);
            return Ok(carrier);
        }
        let carrier: Arc<dyn Carrier> = match &backend.kind {
            BackendKind::EdgeLake { url } => Arc::new(edgelake::EdgeLake::new(url)?),
            BackendKind::Process { cwd, env } => Arc::new(process::Process {
                cwd: cwd.clone(),
                env: env.clone(),
                reaper: self.reaper.clone(),
            }),
            BackendKind::Http { headers, allow_hosts } => {
                Arc::new(http::Http::new(headers.clone(), allow_hosts)?)
            }
            BackendKind::Sqlite { path, write } => {
                Arc::new(sqlite::Sqlite { path: path.clone(), write: *write })
            }
            BackendKind::Postgres { url, write } => Arc::new(postgres::Postgres::new(url, *write)?),
        };
        if carriers.len() >= MAX_CARRIERS {
            carriers.remove(0);
        }
        carriers.push((Arc::clone(backend), Arc::clone(&carrier)));
        Ok(carrier)
    }
}

/// A request that is not for this kind of backend; commands are compiled for theirs.
fn not_for(kind: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("the command is not one for {kind}"))
}
