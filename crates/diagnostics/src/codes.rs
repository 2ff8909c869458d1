//! Every code there is, in one table.
//!
//! A code never changes its meaning and is never used again after it is retired. Each has a page
//! `docs/errors/MGxxxx.md`; a test holds the table and the pages together.

use std::fmt;

/// The stable name of one kind of problem, such as `MG0102`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code {
    id: &'static str,
    title: &'static str,
}

impl Code {
    /// The name: `MG` and four digits.
    pub fn id(self) -> &'static str {
        self.id
    }

    /// What it stands for, in one line; the title of its page.
    pub fn title(self) -> &'static str {
        self.title
    }

    /// The code with this name.
    pub fn find(id: &str) -> Option<Self> {
        ALL.iter().copied().find(|code| code.id.eq_ignore_ascii_case(id))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Declares a constant for each code and the list of all of them.
macro_rules! codes {
    ($($name:ident = $id:literal, $title:literal;)*) => {
        $(
            #[doc = concat!("`", $id, "`: ", $title, ".")]
            pub const $name: Code = Code { id: $id, title: $title };
        )*

        /// Every code, in the order of the table.
        pub const ALL: &[Code] = &[$($name),*];
    };
}

codes! {
    // MG01xx: the text of a file and its shape.
    FILE_UNREADABLE = "MG0100", "The file cannot be read";
    YAML_SYNTAX = "MG0101", "The text is not valid YAML";
    FILE_TOO_LARGE = "MG0102", "The file is larger than the limit";
    TOO_DEEP = "MG0103", "Values are nested too deeply";
    TOO_MANY_VALUES = "MG0104", "The file holds too many values";
    ALIAS_INVALID = "MG0105", "An alias stands for nothing";
    MERGE_INVALID = "MG0106", "A merge key needs a mapping";
    KEY_INVALID = "MG0107", "A key is not text";
    DUPLICATE_KEY = "MG0108", "A key is written twice";
    SCALAR_INVALID = "MG0109", "A value has no meaning in JSON";
    SEVERAL_DOCUMENTS = "MG0110", "The file holds more than one document";
    WRONG_TYPE = "MG0111", "A value has the wrong type";
    MISSING_KEY = "MG0112", "A required key is missing";
    UNKNOWN_KEY = "MG0113", "A key is not known";
    UNKNOWN_WORD = "MG0114", "A value is not one of the known words";
    OUT_OF_RANGE = "MG0115", "A number or text is outside its range";
    VERSION_UNKNOWN = "MG0116", "The file's version is not known";
    OLD_LAYOUT = "MG0117", "Nodes stand at the level of the file";
    TOOL_NAME = "MG0118", "A tool's name may not work in every client";
    TRANSPORT_UNCLEAR = "MG0119", "A server is neither a command nor a URL";
    VARIABLE_UNSET = "MG0120", "An environment variable is not set";
    VARIABLE_SYNTAX = "MG0121", "A variable reference is not closed or has no name";
    EXPR_NOT_ALONE = "MG0122", "An expression object has other keys";
    DOLLAR_IS_LITERAL = "MG0123", "A text that starts with `$` is not evaluated here";
    CONDITION_DIALECTS = "MG0124", "A switch mixes two ways to write it";
    SECOND_DEFAULT = "MG0125", "A switch has two defaults";
    TEST_UNCLEAR = "MG0126", "A part of a test says two things, or none";
    DUPLICATE_TEST = "MG0127", "Two tests have the same name";
    TEST_MISMATCH = "MG0128", "A test names something that the graph does not have";
    RECORD_UNUSABLE = "MG0129", "A recorded run cannot be used by a test";
    EDIT_UNKNOWN_TOOL = "MG0130", "A change names a tool that the file does not have";
    ANCHOR_IN_USE = "MG0131", "A change touches a value that is used elsewhere";
    EDIT_UNFAITHFUL = "MG0132", "A change cannot be written without touching something else";
    WAIT_UNCLEAR = "MG0133", "A node does not say what it waits for";
    CALL_TOOL_UNKNOWN = "MG0160", "A node calls a tool that its server does not have";
    CALL_ARGUMENT_UNKNOWN = "MG0161", "A node gives an argument that the tool does not know";
    CALL_ARGUMENT_MISSING = "MG0162", "A node leaves out an argument that the tool needs";
    CALL_UNCHECKED = "MG0163", "A server could not be asked whether a call is right";
    CALL_SERVER_ELSEWHERE = "MG0164", "A node calls a server that only the file given with -m has";

    TEMPLATE_SYNTAX = "MG0140", "A template cannot be read";
    PLACEHOLDER_UNKNOWN = "MG0141", "A placeholder names no argument";
    PLACEHOLDER_MISPLACED = "MG0142", "A placeholder stands where no value may";
    BACKEND_UNCLEAR = "MG0143", "A backend is not exactly one thing";
    BACKEND_UNKNOWN = "MG0144", "A command names a backend that is not defined";
    COMMAND_UNCLEAR = "MG0145", "A command does not fit its backend";
    RESPONSE_PATH = "MG0146", "A JSONPath query cannot be read";
    STATEMENT_REFUSED = "MG0147", "A statement is not one SELECT";

    // MG02xx: the shape of a graph.
    DUPLICATE_TOOL = "MG0201", "Two tools have the same name";
    DUPLICATE_NODE = "MG0202", "Two nodes have the same id";
    NO_ENTRY = "MG0203", "A tool has no entry node";
    SECOND_ENTRY = "MG0204", "A tool has a second entry node";
    NO_EXIT = "MG0205", "A tool has no exit node";
    SECOND_EXIT = "MG0206", "A tool has a second exit node";
    DANGLING_EDGE = "MG0207", "An edge leads to a node that does not exist";
    NODE_UNREACHABLE = "MG0208", "A node is never reached";
    EXIT_UNREACHABLE = "MG0209", "The exit cannot be reached";
    NEXT_MISSING = "MG0210", "A node does not say what comes next";
    NO_DEFAULT = "MG0211", "A switch has no default";
    SERVER_UNKNOWN = "MG0212", "A node calls a server that is not defined";
    TOOL_UNKNOWN = "MG0213", "A node calls a tool that is not in the file";
    NODE_MISPLACED = "MG0214", "A node stands where it cannot work";
    NAME_TAKEN = "MG0215", "A name means something else here";
    SERVER_DISABLED = "MG0216", "A node calls a server that is disabled";

    // MG03xx: expressions and schemas.
    EXPRESSION_SYNTAX = "MG0301", "An expression cannot be read";
    RULE_INVALID = "MG0302", "A JSON Logic rule cannot be read";
    NODE_UNKNOWN = "MG0303", "An expression reads a node that does not exist";
    SCHEMA_INVALID = "MG0304", "A JSON Schema is not valid";
    SCHEMA_NOT_OBJECT = "MG0305", "A tool's arguments are not an object";
    ANSWER_SCHEMA = "MG0306", "A question wants an answer that nobody can fill in";
    FUNCTION_UNKNOWN = "MG0307", "An expression calls a function that does not exist";

    // MG04xx: a run.
    RUN_EXPRESSION = "MG0401", "An expression failed";
    RUN_TOOL_ERROR = "MG0402", "An upstream tool failed";
    RUN_PROTOCOL_ERROR = "MG0403", "An upstream server refused a request";
    RUN_UNAVAILABLE = "MG0404", "An upstream server is not available";
    RUN_TIMEOUT = "MG0405", "A node took too long";
    RUN_LIMIT = "MG0406", "A run reached a limit";
    RUN_NO_ROUTE = "MG0407", "No condition of a switch holds";
    RUN_INVALID_INPUT = "MG0408", "The arguments do not fit the tool";
    RUN_INVALID_OUTPUT = "MG0409", "The result does not fit the tool";
    RUN_CANCELLED = "MG0410", "The caller cancelled the run";
    RUN_INTERNAL = "MG0411", "A fault of mcpgraph";
    RUN_REFUSED = "MG0420", "An argument is refused by a command";
    RUN_COMMAND_FAILED = "MG0421", "A command failed";
    RUN_ANSWER = "MG0422", "The answer to a command cannot be used";
    RUN_OUTCOME_UNKNOWN = "MG0423", "Nobody knows whether a call was carried out";
    RUN_DECLINED = "MG0430", "A person declined to answer";
    RUN_UNANSWERED = "MG0431", "Nobody answered a question in time";
    QUESTION_UNKNOWN = "MG0432", "An answer is to no question that waits";
    QUESTION_ANSWERED = "MG0433", "A question has been answered";
    QUESTION_OVER = "MG0434", "An answer comes too late";
    QUESTION_FOREIGN = "MG0435", "A question was asked of somebody else";
    ANSWER_UNFIT = "MG0436", "An answer does not fit the question";
    TOO_MANY_APART = "MG0437", "Too many runs go on by themselves";

    // MG044x: the toolkit.
    TOOLKIT_ARGUMENTS = "MG0440", "A tool of the toolkit was called with wrong arguments";
    TOOLKIT_UNKNOWN_NAME = "MG0441", "The toolkit was asked for something that does not exist";
    TOOLKIT_FILE = "MG0442", "The graph file cannot be worked with";
    TOOLKIT_REFUSED = "MG0443", "A definition has errors";
    TOOLKIT_NOT_SAVED = "MG0444", "A change was not saved";
    TOOLKIT_NO_RECORD = "MG0445", "A run was not recorded, or not whole";
    TOOLKIT_NOT_CONTINUED = "MG0446", "A recorded run cannot be gone on from";
    TOOLKIT_NOT_DEBUGGED = "MG0447", "A run cannot be controlled";
    TOOLKIT_SERVER = "MG0448", "A server does not answer the toolkit";

    // MG05xx: procedures, as files and as they are walked.
    NO_FRONT_MATTER = "MG0500", "A procedure has no front matter";
    NO_FLOWCHART = "MG0501", "A procedure has no flowchart";
    SECOND_FLOWCHART = "MG0502", "A procedure has a second flowchart";
    MERMAID_SYNTAX = "MG0503", "A flowchart is not valid Mermaid";
    FLOWCHART_LIMIT = "MG0504", "A flowchart is beyond a limit";
    ENTRY_UNKNOWN = "MG0505", "The entry or the hub of a procedure does not exist";
    PROMPT_WITHOUT_NODE = "MG0506", "A prompt is for a node that does not exist";
    SECOND_PROMPT = "MG0507", "A node has a second prompt";
    PROMPT_TOOL = "MG0508", "A tool of a node is not in the front matter";
    BRANCH_UNLABELLED = "MG0509", "A branch of a decision has no label";
    EDGE_OF_SUBGRAPH = "MG0510", "An edge begins or ends at a subgraph";
    GUARD_WITHOUT_EDGE = "MG0511", "A guard is for an edge that does not exist";
    AGENT_TWICE = "MG0512", "Two procedures have the same agent";
    PROCEDURE_REFUSED = "MG0520", "A procedure may not be loaded";
    NOTHING_LOADED = "MG0521", "No procedure is loaded";
    TODOS_REFUSED = "MG0522", "A list of todos is not accepted";
    TOOL_NOT_HERE = "MG0523", "A tool may not be called at this node";
    CONVERSATION_UNKNOWN = "MG0524", "A conversation is not known";
    CONVERSATION_LIMIT = "MG0525", "A conversation has reached a limit";

    // MG055x: workflows and their hooks.
    WORKFLOW_DUPLICATE = "MG0550", "Two workflows have the same id";
    WORKFLOW_NODE_MISSING = "MG0551", "A workflow has no start, mcp-call or end";
    WORKFLOW_NODE_TWICE = "MG0552", "A workflow has a second start, mcp-call or end";
    WORKFLOW_EDGE_NOT_ALLOWED = "MG0553", "A node of a workflow may not have this edge";
    WORKFLOW_CYCLE = "MG0554", "A workflow leads back to itself";
    WORKFLOW_NOT_CONNECTED = "MG0555", "Start, mcp-call and end are not connected";
    WORKFLOW_TWO_WAYS = "MG0556", "A node of a workflow goes on in two ways";
    SCRIPT_SYNTAX = "MG0557", "A script is not JavaScript";
    HOOK_MODULE_UNKNOWN = "MG0558", "A hook uses a module that does not exist";
    RUN_HOOK_FAILED = "MG0560", "A hook failed";
    RUN_HOOK_BLOCKED = "MG0561", "A hook stopped the call";
    RUN_NO_RESPONSE = "MG0562", "A workflow ended without a response";
    WORKFLOW_UNKNOWN = "MG0570", "There is no such workflow or hook module";
    HOOK_MODULE_IN_USE = "MG0571", "A hook module is in use";
    WORKFLOW_INVALID = "MG0572", "A workflow that is stored cannot be used";
    WORKFLOW_AROUND_NOTHING = "MG0573", "A workflow is put around the calls of no server";

    // MG06xx: routing and access.
    NAME_COLLISION = "MG0600", "Clients would see one name for two tools";
    SECRET_UNREADABLE = "MG0601", "A secret cannot be read from its file";
    EXPOSED_UNKNOWN = "MG0602", "A server has no tool or argument of a name under `expose`";
    TOKEN_REFUSED = "MG0610", "A request shows no valid token";
    TOO_MANY_REQUESTS = "MG0611", "A token makes more requests than it may";

    // MG062x: several processes, and how one ends.
    SERVER_ENDING = "MG0620", "The server is about to end";
    STORE_AWAY = "MG0621", "The store that replicas share cannot be reached";
}
