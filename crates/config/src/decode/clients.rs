//! Files of MCP clients where a graph file, or another client's file, is meant.

use mcpgraph_diagnostics::codes;

use super::problems::Problems;
use crate::keys::FILE;
use crate::{Kind, Member, Tree};

/// The key under which most clients keep servers, and mcpgraph reads them.
const SERVERS: &str = "mcpServers";

/// The key under which VS Code keeps them.
const OF_VS_CODE: &str = "servers";

/// What a file that is read as a graph file is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// A graph file, or a draft of one.
    AsGraph,
    /// A client's file, as it can be served.
    ByClient,
    /// A client's file with a key that is not read.
    ByVsCode,
}

impl Written {
    /// By whom a file was written: a client's has servers, and nothing else that a graph file has.
    pub(super) fn by(tree: &Tree) -> Self {
        let is_foreign = |member: &Member| FILE.key(&member.key).is_none();
        let is_clients = tree.members().iter().all(|m| *m.key == *SERVERS || is_foreign(m));
        match (servers(tree, SERVERS), servers(tree, OF_VS_CODE)) {
            (Some(_), _) if is_clients => Self::ByClient,
            (None, Some(_)) if is_clients => Self::ByVsCode,
            _ => Self::AsGraph,
        }
    }

    /// Reports a file that is no graph file.
    pub(super) fn report(self, tree: &Tree, problems: &mut Problems) {
        let name = problems.source().name();
        let (key, hint) = match self {
            Self::AsGraph => return,
            Self::ByClient => (
                SERVERS,
                format!(
                    "`mcpgraph serve -m {name}` serves its servers; a graph file has `server` and \
                     `tools`, too"
                ),
            ),
            Self::ByVsCode => (
                OF_VS_CODE,
                format!(
                    "rename `servers` to `mcpServers`, and `mcpgraph serve -m {name}` serves them"
                ),
            ),
        };
        let Some(member) = tree.get(key) else { return };
        let message = "this is a client's file of servers, not a graph file";
        problems.push(problems.error(codes::MISSING_KEY, member.key.span(), message).hint(hint));
    }
}

/// Reports servers under the key that VS Code has for them in a file that should have others'.
pub(super) fn report_vs_code(tree: &Tree, problems: &mut Problems) -> bool {
    let Some(member) = servers(tree, OF_VS_CODE).filter(|_| tree.get(SERVERS).is_none()) else {
        return false;
    };
    let message = "an mcp.json needs the key `mcpServers`";
    problems.push(
        problems
            .error(codes::MISSING_KEY, member.key.span(), message)
            .hint("`servers` is how VS Code writes it; rename it to `mcpServers`"),
    );
    true
}

/// The member that has servers, if this is what it has.
fn servers<'t>(tree: &'t Tree, key: &str) -> Option<&'t Member> {
    tree.get(key).filter(|member| {
        let servers = member.value.members();
        let reached =
            |server: &Member| ["command", "url"].iter().any(|key| server.value.get(key).is_some());
        matches!(member.value.kind, Kind::Map(_)) && servers.iter().all(reached)
    })
}
