//! Ends our children when we cannot.
//!
//! A process that is killed at once (`kill -9`, out of memory) can end nobody. So a small second
//! process holds the list of our children's groups, and when its stdin ends, because we are gone,
//! whatever the reason, it ends what is still on the list.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;

/// A handle to the process that ends our children after our own death.
#[derive(Clone, Debug)]
pub struct Reaper {
    child: Arc<Mutex<Child>>,
}

/// An entry on the reaper's list, taken off when dropped.
pub(super) struct Registration {
    reaper: Reaper,
    group: u32,
}

impl Reaper {
    /// Starts `program`, which must call [`run_reaper`] when given `args`.
    pub fn start(program: &Path, args: &[&str]) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A signal from the terminal is for us; the reaper must outlive us.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        Ok(Self { child: Arc::new(Mutex::new(command.spawn()?)) })
    }

    /// Puts a group on the list.
    pub(super) fn register(&self, group: u32) -> Registration {
        self.tell('+', group);
        Registration { reaper: self.clone(), group }
    }

    /// Writes a line of a few bytes, which a pipe takes at once.
    fn tell(&self, sign: char, group: u32) {
        let mut child = self.child.lock();
        let Some(stdin) = child.stdin.as_mut() else { return };
        if let Err(error) = stdin.write_all(format!("{sign}{group}\n").as_bytes()) {
            tracing::debug!(%error, "the reaper is gone");
        }
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        self.reaper.tell('-', self.group);
    }
}

/// What the reaper's process does: keeps the list that `input` gives, and at its end kills every
/// group that is still on it. A program that is to serve as a reaper calls this with its stdin.
pub fn run_reaper(input: impl BufRead) {
    let mut groups = BTreeSet::new();
    for line in input.lines().map_while(Result::ok) {
        let (sign, group) = line.split_at_checked(1).unwrap_or_default();
        let Ok(group) = group.parse::<i32>() else { continue };
        match sign {
            // Groups 0 and 1 are everyone and init.
            "+" if group > 1 => drop(groups.insert(group)),
            "-" => drop(groups.remove(&group)),
            _ => {}
        }
    }
    for group in groups {
        kill_group(group);
    }
}

#[cfg(unix)]
fn kill_group(group: i32) {
    if let Some(group) = rustix::process::Pid::from_raw(group) {
        // An error means that the group ended by itself.
        rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
    }
}

#[cfg(not(unix))]
fn kill_group(_: i32) {
    // Job objects end with the handle to them.
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::CommandExt;

    use super::*;

    #[test]
    fn what_is_still_on_the_list_at_the_end_is_killed() {
        let sleeper = || Command::new("sleep").arg("600").process_group(0).spawn().unwrap();
        let (mut kept, mut ended) = (sleeper(), sleeper());
        let lines = format!("+{}\n+{}\nnonsense\n+1\n-{}\n", kept.id(), ended.id(), kept.id());
        run_reaper(lines.as_bytes());
        assert!(!ended.wait().unwrap().success());
        assert!(kept.try_wait().unwrap().is_none());
        kept.kill().unwrap();
        kept.wait().unwrap();
    }

    #[test]
    fn the_list_is_kept_up_to_date() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("cat > {}", file.path().display());
        let reaper = Reaper::start(Path::new("sh"), &["-c", &script]).unwrap();
        drop(reaper.register(4_000_000));
        let registration = reaper.register(4_000_001);
        // What is seen when this process dies: the end of the pipe.
        drop(reaper.child.lock().stdin.take());
        reaper.child.lock().wait().unwrap();
        drop(registration);
        let lines = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(lines, "+4000000\n-4000000\n+4000001\n");
    }
}
