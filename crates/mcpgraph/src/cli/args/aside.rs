//! Options of all commands that do nothing for some.

use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Under which heading the options stand that are hidden.
pub(super) const HISTORY: &str = "History";

/// A command that neither records runs nor looks for them: its help leaves out what is said about the
/// record, and its options are taken all the same, as they are before the command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithoutHistory;

impl Args for WithoutHistory {
    fn augment_args(command: Command) -> Command {
        // Commands are put together when they are needed, and have the options of all by then.
        command.mut_args(|option| {
            if option.get_help_heading() == Some(HISTORY) { option.hide(true) } else { option }
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for WithoutHistory {
    fn from_arg_matches(_: &ArgMatches) -> Result<Self, Error> {
        Ok(Self)
    }

    fn update_from_arg_matches(&mut self, _: &ArgMatches) -> Result<(), Error> {
        Ok(())
    }
}
