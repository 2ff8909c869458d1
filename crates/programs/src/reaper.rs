//! Ends our children when we cannot.
//!
//! A process that is killed at once (`kill -9`, out of memory) can end nobody. So a small second
//! process holds the list of our children's groups, and when its stdin ends, because we are gone,
//! whatever the reason, it ends what is still on the list.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use parking_lot::Mutex;

/// A handle to the process that ends our children after our own death.
#[derive(Clone, Debug)]
pub struct Reaper {
    state: Arc<Mutex<State>>,
}

/// How the second process stands.
#[derive(Debug)]
enum State {
    /// There was nothing to end yet; this is what will be started, or why it cannot be.
    Idle(io::Result<Command>),
    Running(Child),
    /// It could not be started, which has been said.
    Failed,
}

/// An entry on the reaper's list, taken off when dropped.
pub struct Registration {
    reaper: Reaper,
    group: u32,
}

impl Reaper {
    /// A reaper that is started once there is something to end. The program must call
    /// [`run_reaper`]; where there is none, that is said once it would be needed.
    pub fn new(program: io::Result<Command>) -> Self {
        Self { state: Arc::new(Mutex::new(State::Idle(program))) }
    }

    /// Puts a group on the list.
    pub fn register(&self, group: u32) -> Registration {
        self.tell('+', group);
        Registration { reaper: self.clone(), group }
    }

    /// Writes a line of a few bytes, which a pipe takes at once.
    fn tell(&self, sign: char, group: u32) {
        let mut state = self.state.lock();
        if let State::Idle(program) = &mut *state {
            *state = start(program);
        }
        let State::Running(child) = &mut *state else { return };
        let Some(stdin) = child.stdin.as_mut() else { return };
        if let Err(error) = stdin.write_all(format!("{sign}{group}\n").as_bytes()) {
            tracing::debug!(%error, "the reaper is gone");
        }
    }
}

fn start(program: &mut io::Result<Command>) -> State {
    let started = match program {
        Ok(command) => {
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            // A signal from the terminal is for us; the reaper must outlive us.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(command, 0);
            command.spawn().map_err(|error| error.to_string())
        }
        Err(error) => Err(error.to_string()),
    };
    match started {
        Ok(child) => State::Running(child),
        Err(error) => {
            tracing::warn!(error, "programs may outlive a killed mcpgraph");
            State::Failed
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
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]);
        let reaper = Reaper::new(Ok(shell));
        drop(reaper.register(4_000_000));
        let _registration = reaper.register(4_000_001);
        // What is seen when this process dies: the end of the pipe.
        let State::Running(child) = &mut *reaper.state.lock() else { panic!("it was needed") };
        drop(child.stdin.take());
        child.wait().unwrap();
        let lines = std::fs::read_to_string(file.path()).unwrap();
        assert_eq!(lines, "+4000000\n-4000000\n+4000001\n");
    }

    #[test]
    fn it_is_started_when_it_is_needed_or_not_at_all() {
        let idle = Reaper::new(Ok(Command::new("cat")));
        assert!(matches!(&*idle.state.lock(), State::Idle(_)));
        let none = Reaper::new(Err(io::Error::other("no program")));
        drop(none.register(4_000_000));
        assert!(matches!(&*none.state.lock(), State::Failed));
    }
}
