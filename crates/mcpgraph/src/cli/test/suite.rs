//! From test files to tests that can be run.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mcpgraph_config::model::{Expect, GraphFile, Recorded, TestDef, TestFile};
use mcpgraph_diagnostics::{Diagnostic, Diagnostics, Source, Span, codes};
use mcpgraph_graph::{Graph, Tool};
use mcpgraph_journal::Journal;
use mcpgraph_value::{Map, Value};

use super::super::args::{FileArgs, HistoryArgs};
use super::mocks::{self, Answers};
use super::names::Names;
use super::recording::Recording;
use crate::load::{self, Files, Loaded, Servers};

/// The tests of one file.
pub(super) struct Suite {
    /// The file as its user names it.
    pub(super) name: String,
    pub(super) cases: Vec<Case>,
    /// The file whose servers are called, where a test is live.
    pub(super) live: Option<GraphFile>,
    pub(super) graph: Arc<Graph>,
}

/// A test that can be run.
pub(super) struct Case {
    pub(super) name: String,
    pub(super) tool: Arc<Tool>,
    pub(super) input: Value,
    pub(super) given: Answers,
    pub(super) recorded: Answers,
    pub(super) live: bool,
    pub(super) expect: Expect,
}

/// Reads test files.
pub(super) struct Loader<'a> {
    files: &'a FileArgs,
    history: &'a HistoryArgs,
    /// The record of runs, once a test needs it; why not, if it cannot be opened.
    journal: OnceCell<Result<Journal, String>>,
}

impl<'a> Loader<'a> {
    pub(super) fn new(files: &'a FileArgs, history: &'a HistoryArgs) -> Self {
        Self { files, history, journal: OnceCell::new() }
    }

    /// Reads a file and the graph file it is about, and everything that is wrong with them.
    pub(super) fn load(&self, path: &Path) -> (Option<Suite>, Diagnostics) {
        match load::read(path) {
            Ok(source) => self.read(&source, path),
            Err(diagnostics) => (None, diagnostics),
        }
    }

    /// Reads the text of a file that is, or will be, at `path`.
    pub(super) fn read(&self, source: &Arc<Source>, path: &Path) -> (Option<Suite>, Diagnostics) {
        let (file, mut diagnostics) = mcpgraph_config::read_tests(source);
        let Some(file) = file else { return (None, diagnostics) };
        let Some(graph) = self.graph_of(&file, path) else {
            diagnostics.push(no_graph(&file));
            return (None, diagnostics);
        };
        let is_live = file.tests.iter().any(|test| test.live);
        let loaded = self.load_graph(&graph, is_live);
        let (Some(graph_file), Some(graph)) = (loaded.file, loaded.graph) else {
            diagnostics.extend(loaded.diagnostics);
            return (None, diagnostics);
        };
        let mut cases = Vec::with_capacity(file.tests.len());
        for test in &file.tests {
            match self.case(test, &file, path, &graph) {
                Ok(case) => cases.push(case),
                Err(found) => diagnostics.extend(found),
            }
        }
        diagnostics.sort();
        let live = is_live.then_some(graph_file);
        let name = path.display().to_string();
        (Some(Suite { name, cases, live, graph }), diagnostics)
    }

    /// The graph file that a file of tests is about.
    fn graph_of(&self, file: &TestFile, path: &Path) -> Option<PathBuf> {
        let named = || file.graph.as_ref().map(|graph| beside(path, graph));
        self.files.graph.clone().or_else(named)
    }

    /// Servers that nobody calls need not be there, and neither need their variables.
    fn load_graph(&self, path: &Path, is_live: bool) -> Loaded {
        if is_live {
            let FileArgs { mcp, edgelake, .. } = self.files.clone();
            return Files { graph: path.to_owned(), mcp, edgelake }.load();
        }
        match load::read(path) {
            Ok(source) => load::load_recorded(&source, Servers::Unused),
            Err(diagnostics) => Loaded { file: None, graph: None, diagnostics },
        }
    }

    fn case(
        &self,
        test: &TestDef,
        file: &TestFile,
        path: &Path,
        graph: &Arc<Graph>,
    ) -> Result<Case, Diagnostics> {
        let mut problems = Diagnostics::new();
        let tool = Names::check(test, file, graph, &mut problems);
        let recording = match self.recording(test, path) {
            Ok(recording) => recording,
            Err(why) => {
                problems.push(unusable(test, file, &why));
                None
            }
        };
        let Some(tool) = tool.filter(|_| problems.is_empty()) else { return Err(problems) };
        let input = match (&test.input, &recording) {
            (Some(input), _) => input.value().clone(),
            (None, Some(recording)) => recording.input.clone(),
            (None, None) => Map::new().into(),
        };
        Ok(Case {
            name: test.name.to_string(),
            tool,
            input,
            given: mocks::answers(&test.mocks),
            recorded: recording.map(|recording| recording.lookup()).unwrap_or_default(),
            live: test.live,
            expect: test.expect.clone(),
        })
    }

    /// The recorded run that a test takes answers from; why not, if it cannot.
    fn recording(&self, test: &TestDef, path: &Path) -> Result<Option<Recording>, String> {
        let recording = match &test.recorded {
            None => return Ok(None),
            Some(Recorded::Run(id)) => {
                let open = || self.history.open().map_err(|error| format!("{error:#}"));
                let journal = self.journal.get_or_init(open).as_ref().map_err(String::clone)?;
                Recording::of_run(journal, id)?
            }
            Some(Recorded::Document(name)) => Recording::of_document(&beside(path, name))?,
        };
        if *recording.tool != *test.tool.as_str() {
            let recorded = &recording.tool;
            return Err(format!("it is of `{recorded}`, and the test calls `{}`", test.tool));
        }
        Ok(Some(recording))
    }
}

/// A path as a file next to which it counts gives it.
fn beside(file: &Path, path: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("")).join(path)
}

fn no_graph(file: &TestFile) -> Diagnostic {
    Diagnostic::error(codes::MISSING_KEY, "the test file does not say which graph file it is about")
        .at(&file.source, Span::empty(file.tree.span.start), "")
        .hint("write `graph: ./graph.yaml` at its top, or give the file with -g")
}

fn unusable(test: &TestDef, file: &TestFile, why: &str) -> Diagnostic {
    const LISTED: &str = "`mcpgraph runs ls` shows what is recorded; --data names another folder";
    const EXPORTED: &str = "`mcpgraph runs export ID -o FILE` writes such a file";
    let (span, what, hint) = match &test.recorded {
        Some(Recorded::Document(path)) => {
            (path.span(), format!("the exported run `{path}`"), EXPORTED)
        }
        Some(Recorded::Run(id)) => (id.span(), format!("run `{id}`"), LISTED),
        None => (test.name.span(), "the record".to_owned(), LISTED),
    };
    let message = format!("{what} cannot answer for upstream tools: {why}");
    Diagnostic::error(codes::RECORD_UNUSABLE, message).at(&file.source, span, "").hint(hint)
}
