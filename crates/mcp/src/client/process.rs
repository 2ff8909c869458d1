//! A child process in a group of its own: started without a shell, ended with all it started.

mod stderr;

use std::io;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mcpgraph_programs::{Registration, why_not_started};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::{ClientError, Reaper, StdioConfig, limits};
pub(super) use stderr::Stderr;

/// How long a process may take to end after it was asked to by a signal.
const TERMINATE_TIMEOUT: Duration = Duration::from_secs(1);

/// The variables a program needs to run at all. Everything else of our environment may be a
/// secret that is none of its business.
const BASIC_ENV: &[&str] = &[
    // Where things are, and who runs it.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TEMP",
    "TMP",
    "TZ",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    // How to reach the network.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    // What programs on Windows cannot do without.
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "USERNAME",
    "USERPROFILE",
];

/// A running child and its group.
pub(super) struct Process {
    child: Box<dyn ChildWrapper>,
    /// Keeps the group on the list of what dies with us.
    _registration: Option<Registration>,
}

/// The pipes of a child.
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

impl Process {
    /// Starts the program.
    pub(super) fn spawn(
        config: &StdioConfig,
        reaper: Option<&Reaper>,
    ) -> Result<(Self, Pipes), ClientError> {
        let failed =
            |reason: String| ClientError::Spawn { command: config.command.clone(), reason };
        let mut command = CommandWrap::with_new(&config.command, |command| {
            command
                .args(&config.args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            if !config.inherit_env {
                command.env_clear();
                let basic = BASIC_ENV.iter().filter_map(|key| Some((key, std::env::var_os(key)?)));
                command.envs(basic);
            }
            command.envs(&config.env);
            if let Some(cwd) = &config.cwd {
                command.current_dir(cwd);
            }
        });
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let mut child = command.spawn().map_err(|error| {
            failed(why_not_started(&error, &config.command, config.cwd.as_deref()))
        })?;
        let pipes = (child.stdin().take(), child.stdout().take(), child.stderr().take());
        let registration = child.id().and_then(|id| reaper.map(|reaper| reaper.register(id)));
        // From here on the group dies with this value.
        let process = Self { child, _registration: registration };
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed("it has no pipes".to_owned()));
        };
        Ok((process, Pipes { stdin, stdout, stderr }))
    }

    /// Waits until the program has ended. What it started may go on.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Waits for the program to end by itself, then asks it, then ends it, with all it started.
    pub(super) async fn end(&mut self, grace: Duration) {
        if tokio::time::timeout(grace, self.wait()).await.is_err() {
            #[cfg(unix)]
            self.terminate().await;
        }
        self.kill();
        // Killed, it has nothing left to wait for; this only collects it.
        drop(tokio::time::timeout(TERMINATE_TIMEOUT, self.wait()).await);
    }

    #[cfg(unix)]
    async fn terminate(&mut self) {
        const SIGTERM: i32 = 15;
        if self.child.signal(SIGTERM).is_ok() {
            drop(tokio::time::timeout(TERMINATE_TIMEOUT, self.wait()).await);
        }
    }

    /// Ends the whole group at once. No error: a group without members cannot be ended.
    fn kill(&mut self) {
        drop(self.child.start_kill());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An exit status in words.
pub(super) fn describe(status: io::Result<ExitStatus>) -> String {
    match status {
        Ok(status) => status.to_string(),
        Err(error) => format!("exit status unknown: {error}"),
    }
}
