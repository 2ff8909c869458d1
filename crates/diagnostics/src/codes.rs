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
}
