use clap::{Args, Subcommand};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcpgraph questions ls                                         what runs wait for
  mcpgraph questions answer 01a1e1d6-… copies=2 note='two please'
  mcpgraph questions answer 01a1e1d6-…                          a yes, where nothing is to be filled in
  mcpgraph questions answer 01a1e1d6-… --decline

The first answer counts, whoever gives it: the caller, the studio or this command.
An id may be shortened as long as only one question that waits begins so.")]
pub(crate) struct QuestionsArgs {
    #[command(subcommand)]
    pub(crate) command: QuestionsCommand,

    /// Print one JSON document
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum QuestionsCommand {
    /// List the questions that wait for an answer
    Ls,
    /// Answer a question
    Answer(AnswerArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The question's id
    pub(crate) question: String,

    /// What is answered, property by property
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) answer: Vec<String>,

    /// Decline to answer
    #[arg(long)]
    pub(crate) decline: bool,
}
