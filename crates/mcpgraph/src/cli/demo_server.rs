use super::args::DemoServerArgs;
use super::{Exit, Threads, block_on, serve};
use crate::demo::DemoServer;

/// Serves the demo tools over stdio.
pub(super) fn serve(args: &DemoServerArgs) -> anyhow::Result<Exit> {
    let server = DemoServer::new(&args.root)
        .map_err(|error| anyhow::anyhow!("cannot use `{}`: {error}", args.root.display()))?;
    block_on(Threads::One, serve::over_stdio(server))
}
