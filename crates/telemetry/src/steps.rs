//! The steps of a run that are under way, as its events tell.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use mcpgraph_engine::{StepId, StepPath};

use mcpgraph_runtime::RunStart;

use crate::outline::{NodeOutline, Outline, Target};

/// The steps that have begun and not ended, each with something of the observer's own.
///
/// It holds no more than what is executed at once, however long the run is.
pub(crate) struct OpenSteps<T> {
    tool: Arc<str>,
    /// The first step that is really executed; those before it are told again from a record.
    first: StepId,
    outline: Arc<Outline>,
    by_id: HashMap<StepId, OpenStep<T>>,
    by_path: HashMap<StepPath, StepId>,
}

/// A step under way.
pub(crate) struct OpenStep<T> {
    /// Its place.
    pub(crate) path: StepPath,
    /// The tool whose node it executes: another than the run's inside of a `graph` node.
    pub(crate) tool: Arc<str>,
    /// The node's id.
    pub(crate) node: Arc<str>,
    /// The node's type.
    pub(crate) kind: &'static str,
    /// When it began.
    pub(crate) began: Duration,
    /// Whether it was executed in an earlier run and is only told again.
    pub(crate) is_recalled: bool,
    /// The observer's own.
    pub(crate) own: T,
    /// The tool whose nodes the steps inside of it execute.
    inner: Arc<str>,
}

/// A step that begins, before the observer has added its own.
pub(crate) struct Beginning<'a, T> {
    /// The step that contains it.
    pub(crate) container: Option<&'a OpenStep<T>>,
    /// The tool whose node it executes.
    pub(crate) tool: &'a Arc<str>,
    /// What is known of the node.
    pub(crate) outline: Option<&'a NodeOutline>,
    /// Whether it was executed in an earlier run and is only told again.
    pub(crate) is_recalled: bool,
}

impl<T> OpenSteps<T> {
    /// None yet, in a run that begins.
    pub(crate) fn new(run: &RunStart<'_>, outline: Arc<Outline>) -> Self {
        Self {
            tool: Arc::clone(run.tool),
            first: run.origin.parent.map_or(0, |parent| parent.from),
            outline,
            by_id: HashMap::new(),
            by_path: HashMap::new(),
        }
    }

    /// A step begins.
    pub(crate) fn begin(
        &mut self,
        (step, path): (StepId, &StepPath),
        (node, kind): (&Arc<str>, &'static str),
        began: Duration,
        own: impl FnOnce(&Beginning<'_, T>) -> T,
    ) {
        let container = container_of(path)
            .and_then(|path| self.by_path.get(&path))
            .and_then(|step| self.by_id.get(step));
        let tool = container.map_or(&self.tool, |container| &container.inner);
        let outline = self.outline.node(tool, node);
        let inner = match outline.and_then(|outline| outline.target.as_ref()) {
            Some(Target::Graph { tool }) => tool,
            _ => tool,
        };
        let is_recalled = step < self.first;
        let opened = OpenStep {
            path: path.clone(),
            tool: Arc::clone(tool),
            node: Arc::clone(node),
            kind,
            began,
            is_recalled,
            own: own(&Beginning { container, tool, outline, is_recalled }),
            inner: Arc::clone(inner),
        };
        self.by_path.insert(path.clone(), step);
        self.by_id.insert(step, opened);
    }

    /// A step that is under way.
    pub(crate) fn get(&self, step: StepId) -> Option<&OpenStep<T>> {
        self.by_id.get(&step)
    }

    /// A step that is under way, to be changed.
    pub(crate) fn get_mut(&mut self, step: StepId) -> Option<&mut OpenStep<T>> {
        self.by_id.get_mut(&step)
    }

    /// What is known of the node of a step.
    pub(crate) fn outline(&self, step: &OpenStep<T>) -> Option<&NodeOutline> {
        self.outline.node(&step.tool, &step.node)
    }

    /// A step ended.
    pub(crate) fn end(&mut self, step: StepId) -> Option<OpenStep<T>> {
        let ended = self.by_id.remove(&step)?;
        self.by_path.remove(&ended.path);
        Some(ended)
    }

    /// All that are left when the run is over.
    pub(crate) fn end_all(&mut self) -> impl Iterator<Item = OpenStep<T>> {
        self.by_path.clear();
        self.by_id.drain().map(|(_, step)| step)
    }
}

/// The place of the step that contains the one at this place.
fn container_of(path: &StepPath) -> Option<StepPath> {
    let positions = path.positions();
    (positions.len() > 2).then(|| StepPath::new(&positions[..positions.len() - 2]))
}
