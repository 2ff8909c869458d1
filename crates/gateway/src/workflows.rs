//! The workflows in use, and which of them a call goes through.

use std::cmp::Reverse;
use std::sync::Arc;

use mcpgraph_graph::{Around, Graph, Subject, Workflow};

/// The workflows in use, outermost first.
#[derive(Default)]
pub(crate) struct Workflows(Vec<Layer>);

/// A workflow with the graph it is from.
#[derive(Clone)]
pub(crate) struct Layer {
    pub(crate) graph: Arc<Graph>,
    pub(crate) workflow: Arc<Workflow>,
}

impl Layer {
    /// Whether both are the same workflow, of those that were in use at one time.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.workflow, &other.workflow)
    }
}

impl Workflows {
    /// The enabled workflows of some graphs.
    pub(crate) fn of<'g>(graphs: impl IntoIterator<Item = &'g Arc<Graph>>) -> Self {
        let mut layers: Vec<Layer> = graphs
            .into_iter()
            .flat_map(|graph| {
                graph.workflows.iter().filter(|workflow| workflow.enabled).map(|workflow| Layer {
                    graph: Arc::clone(graph),
                    workflow: Arc::clone(workflow),
                })
            })
            .collect();
        layers.sort_by_cached_key(|layer| {
            (Reverse(layer.workflow.priority), Arc::clone(&layer.workflow.id))
        });
        Self(layers)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether anything is put around calls or lists.
    pub(crate) fn has(&self, around: Around) -> bool {
        self.0.iter().any(|layer| layer.workflow.around == around)
    }

    /// Whether lists go through the same workflows as in `other`.
    pub(crate) fn list_as(&self, other: &Self) -> bool {
        let lists = |all: &Self| -> Vec<_> {
            let around = all.0.iter().filter(|layer| layer.workflow.around == Around::List);
            around.map(|layer| layer.workflow.tool.digest).collect()
        };
        lists(self) == lists(other)
    }

    /// Those that a call goes through, outermost first.
    pub(crate) fn around(&self, around: Around, subject: &Subject<'_>) -> Vec<Layer> {
        let fits =
            |layer: &&Layer| layer.workflow.around == around && layer.workflow.only.fits(subject);
        self.0.iter().filter(fits).cloned().collect()
    }
}
