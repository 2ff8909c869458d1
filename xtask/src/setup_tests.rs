//! `cargo xtask setup-tests`: what the tests need beyond the Rust toolchain.
//!
//! Every part has lock files in the repository that pin its versions, and is installed again only
//! when they change. All of that goes below the target directory; PostgreSQL comes from the
//! machine, or is installed there.

mod npm;
mod postgres;
mod python;

use std::{fs, path::Path, time::Instant};

use anyhow::Context;

use crate::workspace::Workspace;

/// One thing that can be installed.
struct Part {
    name: &'static str,
    /// The files below `tests/interop` that decide what is installed.
    pinned_by: &'static [&'static str],
    /// Installs into the directory given second, from the files in the one given first.
    install: fn(&Path, &Path) -> anyhow::Result<()>,
}

const PARTS: [Part; 2] = [
    Part { name: "npm packages", pinned_by: &npm::FILES, install: npm::install },
    Part { name: "Python packages", pinned_by: &["requirements.txt"], install: python::install },
];

/// Installs every part that is missing or out of date.
pub(crate) fn run(workspace: &Workspace) -> anyhow::Result<()> {
    let sources = workspace.root.join("tests/interop");
    let environment = workspace.test_environment();
    fs::create_dir_all(&environment)
        .with_context(|| format!("could not create {}", environment.display()))?;
    for part in &PARTS {
        let started = Instant::now();
        let stamp = environment.join(format!("{}.installed", part.name.replace(' ', "-")));
        let wanted = pins(&sources, part)?;
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
            eprintln!("{}: up to date", part.name);
            continue;
        }
        eprintln!("{}: installing into {}", part.name, environment.display());
        // Without its stamp a part that was interrupted half way is installed again.
        if stamp.exists() {
            fs::remove_file(&stamp)
                .with_context(|| format!("could not remove {}", stamp.display()))?;
        }
        (part.install)(&sources, &environment)?;
        fs::write(&stamp, wanted)
            .with_context(|| format!("could not write {}", stamp.display()))?;
        eprintln!("{}: installed in {:.1} s", part.name, started.elapsed().as_secs_f64());
    }
    postgres::install();
    Ok(())
}

/// The text of the files that pin a part; the stamp of what is installed is a copy of it.
fn pins(sources: &Path, part: &Part) -> anyhow::Result<String> {
    let mut text = String::new();
    for file in part.pinned_by {
        let path = sources.join(file);
        text += &fs::read_to_string(&path)
            .with_context(|| format!("could not read {}", path.display()))?;
    }
    Ok(text)
}
