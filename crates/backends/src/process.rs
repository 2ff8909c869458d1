//! Programs of this machine: started without a shell, ended with all they started.

use std::path::PathBuf;
use std::process::Stdio;

use async_trait::async_trait;
use mcpgraph_command::{Answer, Request};
use mcpgraph_programs::{Reaper, Registration, why_not_started};
use mcpgraph_value::{Map, Value};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// What a program is told of our environment: where programs are, who runs them and in which
/// language. Everything else may be a secret; the file can pass it on.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "PATHEXT"];

/// How much of what a program complains about is kept: the end, where the reason stands.
const MAX_COMPLAINT: usize = 8 * 1024;

pub(crate) struct Process {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) reaper: Option<Reaper>,
}

/// A running program; its group dies with this value, or with us.
struct Running {
    child: Box<dyn ChildWrapper>,
    /// Keeps the group on the list of what dies with us.
    _registration: Option<Registration>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.child.start_kill());
    }
}

#[async_trait]
impl Carrier for Process {
    async fn send(&self, request: Request, limits: Limits) -> Result<Answer, CommandError> {
        let Request::Process { argv, stdin, success_codes } = request else {
            return Err(not_for("programs"));
        };
        let Some((program, arguments)) = argv.split_first() else {
            return Err(not_for("programs"));
        };
        let mut running = self.start(program, arguments, stdin.is_some())?;
        let (stdout, stderr) = (running.child.stdout().take(), running.child.stderr().take());
        let input = running.child.stdin().take();
        let write = async {
            if let (Some(mut pipe), Some(text)) = (input, stdin) {
                // A program that does not read to the end is free to do so.
                drop(pipe.write_all(text.as_bytes()).await);
                drop(pipe.shutdown().await);
            }
            Ok(())
        };
        // Whoever hears too much stops listening, and the program is ended.
        let complaint = async { Ok(read_end(stderr).await) };
        let ((), said, complaint) = tokio::try_join!(write, read(stdout, limits.bytes), complaint)?;
        let status = running.child.wait().await.map_err(|error| {
            CommandError::new(
                ErrorKind::Failed,
                format!("`{program}` cannot be waited for: {error}"),
            )
        })?;
        match status.code() {
            Some(code) if success_codes.contains(&code) => {
                Ok(Answer::Printed(String::from_utf8_lossy(&said).into_owned()))
            }
            code => Err(failed(program, code, &complaint)),
        }
    }
}

impl Process {
    fn start(
        &self,
        program: &str,
        arguments: &[String],
        has_input: bool,
    ) -> Result<Running, CommandError> {
        let mut command = CommandWrap::with_new(program, |command| {
            let kept = ENVIRONMENT.iter().filter_map(|key| Some((key, std::env::var_os(key)?)));
            command
                .args(arguments)
                .env_clear()
                .envs(kept)
                .envs(self.env.iter().map(|(key, value)| (key, value)))
                .stdin(if has_input { Stdio::piped() } else { Stdio::null() })
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            if let Some(cwd) = &self.cwd {
                command.current_dir(cwd);
            }
        });
        #[cfg(unix)]
        command.wrap(process_wrap::tokio::ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(process_wrap::tokio::JobObject);
        let child = command.spawn().map_err(|error| {
            let reason = why_not_started(&error, program, self.cwd.as_deref());
            let message = format!("`{program}` cannot be started: {reason}");
            CommandError::new(ErrorKind::Unavailable, message)
        })?;
        let reaper = self.reaper.as_ref();
        let registration = child.id().and_then(|group| Some(reaper?.register(group)));
        Ok(Running { child, _registration: registration })
    }
}

/// Reads everything, unless that is more than a number of bytes.
async fn read(pipe: Option<impl AsyncRead + Unpin>, limit: usize) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came until an error is what there is.
        drop(pipe.take(limit as u64 + 1).read_to_end(&mut bytes).await);
    }
    if bytes.len() > limit { Err(CommandError::too_large(limit)) } else { Ok(bytes) }
}

/// Reads everything and keeps the end. A pipe that nobody reads from would stop a program that has
/// much to complain about, or break it.
async fn read_end(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let Some(mut pipe) = pipe else { return String::new() };
    let mut kept = Vec::new();
    let mut is_cut = false;
    while let Ok(1..) = pipe.read_buf(&mut kept).await {
        // What is left out goes now and then, so that few bytes are moved.
        if kept.len() > 4 * MAX_COMPLAINT {
            kept.drain(..kept.len() - MAX_COMPLAINT);
            is_cut = true;
        }
    }
    if kept.len() > MAX_COMPLAINT {
        kept.drain(..kept.len() - MAX_COMPLAINT);
        is_cut = true;
    }
    let text = String::from_utf8_lossy(&kept);
    format!("{}{}", if is_cut { "…" } else { "" }, text.trim())
}

fn failed(program: &str, code: Option<i32>, complaint: &str) -> CommandError {
    let how =
        code.map_or("was ended by a signal".to_owned(), |code| format!("ended with code {code}"));
    let message = match complaint {
        "" => format!("`{program}` {how}"),
        said => format!("`{program}` {how}: {said}"),
    };
    let mut data = Map::new();
    if let Some(code) = code {
        data.insert("exitCode", i64::from(code));
    }
    data.insert("stderr", complaint);
    CommandError::new(ErrorKind::Failed, message).with_data(Value::from(data))
}
