//! What a run may use of time, executions and memory: by the limits of the tool that was called, and
//! of the first two by those of the tools that `graph` nodes call, where these are stricter.

use std::sync::Arc;
use std::time::Duration;

use mcpgraph_graph::{Limits, NodeIx, Tool};

use super::{Run, ScopeId};
use crate::{ErrorKind, RunError};

/// A tool at work inside the run that has stricter limits of its own.
pub(super) struct Allowance {
    /// Its body.
    scope: ScopeId,
    tool: Arc<Tool>,
    began: Duration,
    /// How long the run had waited for people by then.
    waited: Duration,
    /// Nodes that were executed in it, in bodies inside it too.
    executions: u64,
}

impl Run {
    /// A `graph` node has called a tool, whose limits hold from here on. Those that the run's own
    /// include are not kept: most files have one set of limits for all tools.
    pub(super) fn allow(&mut self, scope: ScopeId, tool: &Arc<Tool>, now: Duration) {
        let Limits { node_executions, execution_time, .. } = tool.limits;
        if node_executions < self.limits.node_executions
            || execution_time < self.limits.execution_time
        {
            self.allowances.push(Allowance {
                scope,
                tool: Arc::clone(tool),
                began: now,
                waited: self.patience.so_far(now),
                executions: 0,
            });
        }
    }

    /// A body is no longer there.
    pub(super) fn disallow(&mut self, scope: ScopeId) {
        self.allowances.retain(|allowance| allowance.scope != scope);
    }

    /// Counts that a node of a body is executed, unless a limit is reached by that.
    pub(super) fn count_execution(&mut self, scope: ScopeId) -> Result<(), RunError> {
        let limit = self.limits.node_executions;
        if self.next_task >= limit {
            return Err(run_out_of_executions(&self.limits));
        }
        if self.allowances.is_empty() {
            return Ok(());
        }
        let mut allowances = std::mem::take(&mut self.allowances);
        let counted = allowances
            .iter_mut()
            .filter(|allowance| self.is_within(scope, allowance.scope))
            .try_for_each(Allowance::count);
        self.allowances = allowances;
        counted
    }

    /// Counts `bytes` more in memory, unless that is more than the run may hold.
    pub(super) fn hold(&mut self, bytes: usize) -> Result<(), RunError> {
        let limit = self.limits.context_bytes;
        let held = self.context_bytes.saturating_add(bytes);
        if held > limit {
            return Err(RunError::new(
                ErrorKind::Limit,
                format!(
                    "the outputs of the run are larger than maxContextBytes ({limit} bytes); raise \
                     the limit in executionLimits, or pass on less"
                ),
            ));
        }
        self.context_bytes = held;
        Ok(())
    }

    /// When the run has had its time, or a tool at work inside it; none while it waits for a
    /// person.
    pub(super) fn time_limit(&self) -> Option<Duration> {
        let spent = self.patience.spent()?;
        let run = self.limits.execution_time.saturating_add(spent);
        Some(self.allowances.iter().map(|allowance| allowance.ends(spent)).fold(run, Duration::min))
    }

    /// Whether it has.
    pub(super) fn is_out_of_time(&self, now: Duration) -> bool {
        self.time_limit().is_some_and(|limit| now >= limit)
    }

    /// What to say then, and the node where the time went.
    pub(super) fn out_of_time(&self) -> (RunError, Option<(ScopeId, NodeIx)>) {
        let spent = self.patience.spent().unwrap_or_default();
        let run = self.limits.execution_time.saturating_add(spent);
        let first = self.allowances.iter().min_by_key(|allowance| allowance.ends(spent));
        let called = first.filter(|allowance| allowance.ends(spent) < run);
        let error = called.map_or_else(|| run_out_of_time(&self.limits), Allowance::out_of_time);
        // The innermost step under way is where the time went; between two steps it is the next.
        let is_in = |(scope, _): &(ScopeId, NodeIx)| {
            called.is_none_or(|allowance| self.is_within(*scope, allowance.scope))
        };
        let under_way = self.steps.values().map(|step| (step.scope, step.node)).rfind(is_in);
        let place = under_way.or_else(|| self.ready.iter().copied().find(is_in));
        match place {
            Some((scope, node)) => (error.at(&self.scopes[&scope].body.nodes[node].id), place),
            None => (error, None),
        }
    }

    /// Whether an error says that too many nodes were executed, by the limits that hold now.
    pub(crate) fn is_out_of_executions(&self, error: &RunError) -> bool {
        let called = self.allowances.iter().map(Allowance::out_of_executions);
        let mut reached = called.chain([run_out_of_executions(&self.limits)]);
        error.kind == ErrorKind::Limit && reached.any(|reached| reached.message == error.message)
    }

    /// Whether a body is another or inside it.
    fn is_within(&self, mut scope: ScopeId, container: ScopeId) -> bool {
        while scope != container {
            let parent = self.scopes.get(&scope).and_then(|scope| scope.parent);
            match parent.and_then(|(task, _)| self.steps.get(&task)) {
                Some(step) => scope = step.scope,
                None => return false,
            }
        }
        true
    }
}

// === impl Allowance ===

impl Allowance {
    fn count(&mut self) -> Result<(), RunError> {
        let limit = self.tool.limits.node_executions;
        if self.executions >= limit {
            return Err(self.out_of_executions());
        }
        self.executions += 1;
        Ok(())
    }

    fn out_of_executions(&self) -> RunError {
        let limit = self.tool.limits.node_executions;
        RunError::new(
            ErrorKind::Limit,
            format!(
                "the called tool `{}` reached its maxNodeExecutions ({limit}); raise the limit in \
                 its executionLimits, or look for a loop that does not end",
                self.tool.name
            ),
        )
    }

    /// When it has had its time, if the run has waited for people for so long.
    fn ends(&self, spent: Duration) -> Duration {
        let waited = spent.saturating_sub(self.waited);
        self.began.saturating_add(self.tool.limits.execution_time).saturating_add(waited)
    }

    fn out_of_time(&self) -> RunError {
        let limit = self.tool.limits.execution_time.as_millis();
        RunError::new(
            ErrorKind::Limit,
            format!(
                "the called tool `{}` took longer than its maxExecutionTimeMs ({limit} ms); raise \
                 the limit in its executionLimits, or give slow nodes a timeoutMs",
                self.tool.name
            ),
        )
    }
}

fn run_out_of_executions(limits: &Limits) -> RunError {
    let limit = limits.node_executions;
    RunError::new(
        ErrorKind::Limit,
        format!(
            "the run reached maxNodeExecutions ({limit}); raise the limit in executionLimits, or \
             look for a loop that does not end"
        ),
    )
}

fn run_out_of_time(limits: &Limits) -> RunError {
    let limit = limits.execution_time.as_millis();
    RunError::new(
        ErrorKind::Limit,
        format!(
            "the run took longer than maxExecutionTimeMs ({limit} ms); raise the limit in \
             executionLimits, or give slow nodes a timeoutMs"
        ),
    )
}
