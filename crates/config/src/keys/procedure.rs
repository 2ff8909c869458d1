use super::{Key, Shape, Table};

/// The front matter of a procedure.
pub(crate) static FRONT_MATTER: Table = Table {
    name: "frontMatter",
    noun: "the front matter",
    doc: "What a procedure says of itself before its text.",
    groups: &[&[
        Key::required("agent", Shape::Name, "The name of the agent the procedure is for."),
        Key::optional("version", Shape::Scalar, "The version of the procedure."),
        Key::optional("entry_node", Shape::Name, "The node a walk begins at; START if not said."),
        Key::optional(
            "hub_node",
            Shape::Any,
            "The node that can be gone to from everywhere; ROUTE if there is one and nothing is said, none if this is empty.",
        ),
        Key::optional("model", Shape::AnyObject, "The model the agent uses, passed on as it is."),
        Key::optional("api", Shape::AnyObject, "How the model is reached; never passed on."),
        Key::optional(
            "mcp_servers",
            Shape::AnyArray,
            "The servers with the agent's tools: `name` and `url`, or whatever an mcp.json says of a server.",
        ),
        Key::optional("tools", Shape::List(&Shape::Name), "All tools that nodes may name."),
        Key::optional(
            "always_tools",
            Shape::List(&Shape::Name),
            "Tools that may be called at every node of a procedure that binds.",
        ),
        Key::optional("enforce", Shape::Flag, "Whether the procedure binds."),
        Key::optional(
            "guards",
            Shape::MapOf(&Shape::AnyObject),
            "JSON Logic rules by node and by the label of an edge, or the node it leads to.",
        ),
    ]],
};

/// A block with the prompts of all nodes.
pub(crate) static PROMPTS: Table = Table {
    name: "prompts",
    noun: "a block of prompts",
    doc: "The prompts of a procedure's nodes.",
    groups: &[&[Key::required(
        "node_prompts",
        Shape::MapOf(&Shape::Record(&PROMPT)),
        "The prompts by the ids of their nodes.",
    )]],
};

/// What belongs to one node.
pub(crate) static PROMPT: Table = Table {
    name: "prompt",
    noun: "a prompt",
    doc: "What an agent is told at a node.",
    groups: &[&[
        Key::optional("prompt", Shape::Text, "The instructions."),
        Key::optional("tools", Shape::List(&Shape::Name), "The tools for this node."),
        Key::optional("tool_hints", Shape::List(&Shape::Name), "Another word for `tools`."),
        Key::optional("examples", Shape::AnyArray, "Sample exchanges, passed on as they are."),
    ]],
};
