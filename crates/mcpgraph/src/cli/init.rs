use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use super::args::InitArgs;
use super::{Exit, output};

/// The starter file; it is also what the documentation shows.
const STARTER: &str = include_str!("starter.yaml");

/// Writes the starter file, to stdout if it is `-`, without writing over anything unless told to.
pub(super) fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    let path = &args.path;
    if path == Path::new("-") {
        output::data(STARTER)?;
        return Ok(Exit::Success);
    }
    let mut options = OpenOptions::new();
    options.write(true);
    if args.force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let mut file = options.open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            anyhow::anyhow!("`{}` is there already; --force writes over it", path.display())
        }
        _ => anyhow::anyhow!("cannot write `{}`: {error}", path.display()),
    })?;
    file.write_all(STARTER.as_bytes())?;
    let path = path.display();
    output::say(&format!(
        "wrote {path}\n\nnext:\n  mcpgraph check {path}\n  mcpgraph run count_files -g {path} directory=.\n  mcpgraph run sum_to_n -g {path} n=10 --trace\n"
    ));
    Ok(Exit::Success)
}
