//! Programs of this machine: started without a shell, ended with all they started.

use std::path::PathBuf;
use std::process::Stdio;

use async_trait::async_trait;
use mcpgraph_command::{Answer, Request};
use mcpgraph_value::{Map, Value};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};

use crate::{Carrier, CommandError, ErrorKind, Limits, not_for};

/// What a program is told of our environment: where programs are, who runs them and in which
/// language. Everything else may be a secret; the file can pass it on.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "SYSTEMROOT", "PATHEXT"];

/// How much of what a program complains about is kept.
const MAX_COMPLAINT: usize = 8 * 1024;

pub(crate) struct Process {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(String, String)>,
}

/// A running program; its group dies with this value.
struct Running(Box<dyn ChildWrapper>);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended cannot be killed, and need not be.
        drop(self.0.start_kill());
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
        let (stdout, stderr) = (running.0.stdout().take(), running.0.stderr().take());
        let input = running.0.stdin().take();
        let write = async {
            if let (Some(mut pipe), Some(text)) = (input, stdin) {
                // A program that does not read to the end is free to do so.
                drop(pipe.write_all(text.as_bytes()).await);
                drop(pipe.shutdown().await);
            }
        };
        // Whoever hears too much stops listening, and the program is ended.
        let said = read(stdout, limits.bytes + 1);
        let complaint = read(stderr, MAX_COMPLAINT);
        let ((), said, complaint) = tokio::join!(write, said, complaint);
        if said.len() > limits.bytes {
            return Err(CommandError::too_large(limits.bytes));
        }
        let status = running.0.wait().await.map_err(|error| {
            CommandError::new(
                ErrorKind::Failed,
                format!("`{program}` cannot be waited for: {error}"),
            )
        })?;
        let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
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
        command.spawn().map(Running).map_err(|error| {
            let message = format!("`{program}` cannot be started: {error}");
            CommandError::new(ErrorKind::Unavailable, message)
        })
    }
}

/// Reads up to a number of bytes.
async fn read(pipe: Option<impl AsyncRead + Unpin>, limit: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        // What came until an error is what there is.
        drop(pipe.take(limit as u64).read_to_end(&mut bytes).await);
    }
    bytes
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
