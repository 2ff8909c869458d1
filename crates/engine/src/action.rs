use std::sync::Arc;
use std::time::Duration;

use mcpgraph_expr::{Env, ExprError, Scope, truthy};
use mcpgraph_graph::{Body, Kind, NodeIx, Target};
use mcpgraph_value::Value;

use crate::{RunError, StepId, StepPath};

/// Names something that a run wants done, from when it is handed out to its outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(pub(crate) u64);

/// What the run wants done.
pub enum Action {
    /// An expression to evaluate; answered by [`Outcome::Evaluated`].
    Evaluate(Evaluation),
    /// Something outside of the run to call; answered by [`Outcome::Called`].
    Call(Call),
    /// Whatever is under way under this name is no longer wanted. It must not be answered any more:
    /// a retry of the step would take the answer for its own.
    Abort(TaskId),
}

/// How an action ended.
pub enum Outcome {
    /// The expressions' values.
    Evaluated(Result<Evaluated, ExprError>),
    /// What the call gave.
    Called(Result<Value, RunError>),
}

/// Something outside of the run to call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Names it.
    pub task: TaskId,
    /// The step that wants it.
    pub step: StepId,
    /// Where that step stands, which is the same in every execution of the run.
    pub path: StepPath,
    /// The node that wants it.
    pub node: Arc<str>,
    /// Retries of the step before this call.
    pub attempt: u32,
    /// Whether the author says that the node may be executed again: it has a `retry`.
    pub may_repeat: bool,
    /// The time it is made at, as expressions are told it: milliseconds since 1970.
    pub told: i64,
    /// What to call.
    pub target: Target,
    /// The arguments, evaluated.
    pub args: Value,
    /// What is left of the node's `timeoutMs`, if it has one.
    pub timeout: Option<Duration>,
}

/// The expressions of one node, ready to be evaluated on any thread.
pub struct Evaluation {
    pub(crate) task: TaskId,
    pub(crate) body: Arc<Body>,
    pub(crate) node: NodeIx,
    pub(crate) scope: Arc<dyn Scope>,
    pub(crate) path: StepPath,
    pub(crate) told: i64,
    pub(crate) seed: u64,
}

/// What a node's expressions came to.
pub enum Evaluated {
    /// A value; none where the expression has no result.
    Value(Option<Value>),
    /// Where a switch goes; none where no condition held and there is no default.
    Route(Option<NodeIx>),
}

impl Action {
    /// What it is about.
    pub fn task(&self) -> TaskId {
        match self {
            Self::Evaluate(evaluation) => evaluation.task,
            Self::Call(call) => call.task,
            Self::Abort(task) => *task,
        }
    }
}

impl Action {
    /// The node it is for.
    pub(crate) fn node(&self) -> Option<&Arc<str>> {
        match self {
            Self::Evaluate(evaluation) => Some(&evaluation.body.nodes[evaluation.node].id),
            Self::Call(call) => Some(&call.node),
            Self::Abort(_) => None,
        }
    }
}

impl Evaluation {
    /// Names it.
    pub fn task(&self) -> TaskId {
        self.task
    }

    /// The time its expressions are told, in milliseconds since 1970: when the step began, so that
    /// replaying it gives `$now()` the same time.
    pub fn told_time(&self) -> i64 {
        self.told
    }

    /// What its random functions draw from: another sequence at every place, the same in a replay.
    pub fn seed(&self) -> u64 {
        // FNV-1a over the positions.
        let mix = |seed: u64, position: &u32| {
            (seed ^ u64::from(*position)).wrapping_mul(0x0000_0100_0000_01b3)
        };
        self.path.positions().iter().fold(self.seed ^ 0xcbf2_9ce4_8422_2325, mix)
    }

    /// Where the step stands.
    pub fn path(&self) -> &StepPath {
        &self.path
    }

    /// Evaluates. The same evaluation may be run again, with a larger budget say.
    pub fn run(&self, env: &Env) -> Result<Evaluated, ExprError> {
        let value = match &self.body.nodes[self.node].kind {
            Kind::Transform(expr) => expr
                .eval(&self.scope, env)
                .map_err(|error| error.inside("expr").inside("transform"))?,
            Kind::Foreach { items, .. } => {
                items.eval(&self.scope, env).map_err(|error| error.inside("items"))?
            }
            Kind::Call { target, args } => {
                args.evaluate(&self.scope, env).map_err(|error| match target {
                    Target::Tool { .. } | Target::Command(_) => error.inside("args"),
                    // Their arguments are members of the node.
                    _ => error,
                })?
            }
            Kind::Graph { args, .. } => {
                args.evaluate(&self.scope, env).map_err(|error| error.inside("args"))?
            }
            Kind::Switch { cases, default } => {
                for case in cases {
                    let holds = case.rule.eval(&self.scope, env).map_err(|error| {
                        let position = case.position.to_string();
                        error.inside("rule").inside(&position).inside("conditions")
                    })?;
                    if truthy(&holds) {
                        return Ok(Evaluated::Route(Some(case.target)));
                    }
                }
                return Ok(Evaluated::Route(*default));
            }
            // These have no expressions and are never evaluated.
            Kind::Entry
            | Kind::Exit
            | Kind::Parallel { .. }
            | Kind::Start
            | Kind::End
            | Kind::Wrapped
            | Kind::Hook(_) => None,
        };
        Ok(Evaluated::Value(value))
    }
}
