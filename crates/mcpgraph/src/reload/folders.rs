//! The folders in which files can change.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{self, Component, Path, PathBuf};

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

use crate::load::Files;

/// How many links lead to a file at most, as on Linux: 40.
const MAX_LINKS: usize = 40;

/// The folders of files, watched. Many editors replace a file instead of writing to it, and what
/// deploys files turns a link around, so that a folder tells more than the file.
pub(super) struct Folders {
    watcher: RecommendedWatcher,
    watched: BTreeSet<PathBuf>,
}

impl Folders {
    /// Watches the folders of `files` and tells `changed` when something happens there.
    pub(super) fn watch(files: &Files, changed: mpsc::Sender<()>) -> notify::Result<Self> {
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error means that events were lost; one of them may have been ours.
            if event.is_ok_and(|event| is_only_reading(event.kind)) {
                return;
            }
            // Full means that a wake-up is on its way already.
            changed.try_send(()).ok();
        })?;
        let mut folders = Self { watcher, watched: BTreeSet::new() };
        folders.follow(files)?;
        Ok(folders)
    }

    /// Watches where the files are by now: links may lead elsewhere.
    pub(super) fn follow(&mut self, files: &Files) -> notify::Result<()> {
        let mut now = BTreeSet::new();
        for file in [Some(&files.graph), files.mcp.as_ref()].into_iter().flatten() {
            now.extend(folders_of(file));
        }
        for gone in self.watched.difference(&now) {
            // It may be gone from the disk too, and with it what watched it.
            self.watcher.unwatch(gone).ok();
        }
        self.watched.retain(|folder| now.contains(folder));
        let mut outcome = Ok(());
        for folder in now {
            if self.watched.contains(&folder) {
                continue;
            }
            match self.watcher.watch(&folder, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.watched.insert(folder)),
                Err(error) => outcome = Err(error),
            }
        }
        outcome
    }
}

/// Whether nothing changed. We read the files too, and must not wake ourselves by that.
fn is_only_reading(kind: EventKind) -> bool {
    let closes = EventKind::Access(AccessKind::Close(AccessMode::Write));
    matches!(kind, EventKind::Access(_)) && kind != closes
}

/// The folder of a file, and that of every link on the way to it, be it the file or a folder.
fn folders_of(file: &Path) -> BTreeSet<PathBuf> {
    let mut folders = BTreeSet::new();
    let file = path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let mut ahead = names(&file);
    let mut reached = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = ahead.pop() {
        if name == ".." {
            reached.pop();
            continue;
        }
        let next = reached.join(&name);
        match fs::read_link(&next) {
            Ok(target) if links < MAX_LINKS => {
                links += 1;
                folders.insert(reached.clone());
                if target.is_absolute() {
                    reached = PathBuf::from("/");
                }
                ahead.extend(names(&target));
            }
            // No link, or nothing that is there.
            _ => reached = next,
        }
    }
    folders.extend(reached.parent().map(Path::to_owned));
    folders
}

/// The names that a path is made of, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let named = |part: Component<'_>| {
        matches!(part, Component::Normal(_) | Component::ParentDir)
            .then(|| part.as_os_str().to_owned())
    };
    let mut names: Vec<OsString> = path.components().filter_map(named).collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn every_link_on_the_way_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["served", "releases/1", "shared/deep"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        fs::write(root.join("shared/deep/graph.yaml"), "").unwrap();
        symlink("../releases/current/graph.yaml", root.join("served/graph.yaml")).unwrap();
        symlink("1", root.join("releases/current")).unwrap();
        symlink(root.join("shared/deep/graph.yaml"), root.join("releases/1/graph.yaml")).unwrap();
        let wanted = ["served", "releases", "releases/1", "shared/deep"];
        let found = folders_of(&root.join("served/graph.yaml"));
        assert_eq!(found, wanted.iter().map(|name| root.join(name)).collect());
        // What is not there, or leads nowhere, is no reason to search for ever.
        assert_eq!(folders_of(&root.join("absent/graph.yaml")), [root.join("absent")].into());
        symlink("endless", root.join("endless")).unwrap();
        assert_eq!(folders_of(&root.join("endless")), [root].into());
    }
}
