//! What is not a run but lives beside them: workflows and the scripts their hooks share.

use std::time::SystemTime;

use crate::database::{self, Access, Connection, Row, bound};
use crate::write::micros;
use crate::{Journal, JournalError, News};

/// A workflow as it is kept: its definition is what was given, to the letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptWorkflow {
    /// What tells it apart.
    pub id: String,
    /// JSON.
    pub definition: String,
}

/// A script that hooks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptModule {
    /// What tells it apart.
    pub id: String,
    /// What people call it; no two have the same.
    pub name: String,
    /// The script.
    pub script: String,
}

impl Journal {
    /// A number that is another one after every change of workflows and modules, whichever process
    /// made it.
    pub fn definitions_version(&self) -> Result<i64, JournalError> {
        self.read(|connection| {
            let sql = "SELECT value FROM counters WHERE name = 'definitions'";
            Ok(connection.value(sql, &[])?.unwrap_or_default())
        })
    }

    /// All workflows, by their ids.
    pub fn workflows(&self) -> Result<Vec<KeptWorkflow>, JournalError> {
        self.definitions("SELECT id, definition FROM workflows ORDER BY id", |row| {
            Ok(KeptWorkflow { id: row.get(0)?, definition: row.get(1)? })
        })
    }

    /// All modules, by their names.
    pub fn hook_modules(&self) -> Result<Vec<KeptModule>, JournalError> {
        self.definitions("SELECT id, name, script FROM hook_modules ORDER BY name", |row| {
            Ok(KeptModule { id: row.get(0)?, name: row.get(1)?, script: row.get(2)? })
        })
    }

    /// Keeps a workflow, in the place of the one with its id.
    pub fn put_workflow(&self, workflow: &KeptWorkflow) -> Result<(), JournalError> {
        self.change_definitions(|connection| {
            connection.execute(
                "INSERT INTO workflows (id, definition, changed) VALUES (?1, ?2, ?3)
                 ON CONFLICT (id) DO UPDATE SET definition = ?2, changed = ?3",
                bound![&workflow.id, &workflow.definition, micros(SystemTime::now())],
            )
        })?;
        Ok(())
    }

    /// Forgets a workflow; false if there was none.
    pub fn remove_workflow(&self, id: &str) -> Result<bool, JournalError> {
        let removed = self.change_definitions(|connection| {
            connection.execute("DELETE FROM workflows WHERE id = ?1", bound![id])
        })?;
        Ok(removed > 0)
    }

    /// Keeps a module, in the place of the one with its id.
    pub fn put_hook_module(&self, module: &KeptModule) -> Result<(), JournalError> {
        self.change_definitions(|connection| {
            connection.execute(
                "INSERT INTO hook_modules (id, name, script, changed) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO UPDATE SET name = ?2, script = ?3, changed = ?4",
                bound![&module.id, &module.name, &module.script, micros(SystemTime::now())],
            )
        })?;
        Ok(())
    }

    /// Forgets a module; false if there was none.
    pub fn remove_hook_module(&self, id: &str) -> Result<bool, JournalError> {
        let removed = self.change_definitions(|connection| {
            connection.execute("DELETE FROM hook_modules WHERE id = ?1", bound![id])
        })?;
        Ok(removed > 0)
    }

    fn definitions<T>(
        &self,
        sql: &str,
        row: impl FnMut(&Row<'_>) -> database::Result<T>,
    ) -> Result<Vec<T>, JournalError> {
        self.read(|connection| {
            // A file of an older format that nobody has written to since has none.
            if connection.format()? < 2 {
                return Ok(Vec::new());
            }
            Ok(connection.all(sql, &[], row)?)
        })
    }

    /// Changes are rare and small, so that each has a connection to itself.
    fn change_definitions(
        &self,
        change: impl FnOnce(&Connection) -> database::Result<u64>,
    ) -> Result<u64, JournalError> {
        let changed = self.store.open_writer()?.transaction(Access::Write, |connection| {
            let changed = change(connection)?;
            let sql = "UPDATE counters SET value = value + 1 WHERE name = 'definitions'";
            connection.execute(sql, &[])?;
            connection.announce(&News::Definitions)?;
            Ok::<_, JournalError>(changed)
        })?;
        self.shared.news.announce(&News::Definitions);
        Ok(changed)
    }
}
