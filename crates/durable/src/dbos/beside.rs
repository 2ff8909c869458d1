//! Ends a run from beside the processes that execute runs, of which none has to be there.

use dbos::sysdb::SystemDatabase;
use mcpgraph_journal::RunId;

use super::{CONNECTIONS, Dbos, connect, unusable};
use crate::DurableError;

impl Dbos {
    /// Ends a run in the database of a URL, whoever executes it or will, and takes no part in
    /// executing any; false if it has ended before. A process that executes it hears of it within
    /// a second or two. The engine must have made its tables.
    pub async fn stop_beside(url: &str, run: RunId) -> Result<bool, DurableError> {
        let database = connect(url, None, CONNECTIONS).await?;
        let id = run.to_string();
        let found = database.get_workflow(&id).await.map_err(unusable)?;
        let is_under_way = !found.ok_or(DurableError::Unknown(run))?.status.is_terminal();
        if is_under_way {
            database.cancel_workflows(&[&id], false, None).await.map_err(unusable)?;
        }
        database.close().await;
        Ok(is_under_way)
    }
}
