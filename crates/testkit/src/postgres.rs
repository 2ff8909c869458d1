//! A PostgreSQL server of one's own, where PostgreSQL is installed.

use std::{
    fs,
    io::Write as _,
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    os::unix::{fs::chown, process::CommandExt as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// How long a server may take to listen.
const START_LIMIT: Duration = Duration::from_mins(1);

/// What its database begins with.
const TABLES: &str = "CREATE TABLE items (id int PRIMARY KEY, name text, price numeric)\n";

/// Waits until whoever started it is gone, and ends the server of a folder then.
const KEEPER: &str = r#"read -r _
pid=$(head -n 1 "$0/data/postmaster.pid") && grep -q "$0" "/proc/$pid/cmdline" && kill -QUIT "$pid"
rm -rf "$0""#;

/// A running server whose database has an empty table `items (id, name, price)`; it is ended when
/// this is dropped, or its process ends: what many tests share is never dropped.
#[derive(Debug)]
pub struct PostgresServer {
    child: Child,
    port: u16,
    folder: TempDir,
    binaries: PathBuf,
    user: Option<(u32, u32)>,
    options: Vec<String>,
    /// It hears of the end of this process by the end of its input.
    keeper: Child,
}

impl PostgresServer {
    /// Starts a server on a free port; none, with the reason on stderr, where PostgreSQL is not
    /// installed.
    ///
    /// # Panics
    /// If PostgreSQL is there and does not start.
    pub fn start() -> Option<Self> {
        Self::start_as(false)
    }

    /// The same server, which also speaks TLS, with a certificate for `127.0.0.1` alone.
    ///
    /// # Panics
    /// If PostgreSQL is there and does not start, or there is no OpenSSL to make certificates with.
    pub fn start_with_tls() -> Option<Self> {
        Self::start_as(true)
    }

    fn start_as(has_tls: bool) -> Option<Self> {
        let Some(binaries) = binaries() else {
            eprintln!("skipped: PostgreSQL is not installed (no initdb and postgres)");
            return None;
        };
        // It refuses to run as root.
        let user =
            is_root().then(|| ["postgres", "nobody"].into_iter().find_map(user_of)).flatten();
        if is_root() && user.is_none() {
            eprintln!("skipped: PostgreSQL does not run as root, and there is no other user");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        if let Some((user, group)) = user {
            for path in [folder.path(), &data] {
                chown(path, Some(user), Some(group)).unwrap();
            }
        }
        let program = |name: &str| program(&binaries, name, folder.path(), user);
        let made = program("initdb")
            .args(["--auth=trust", "--username=tester", "--no-sync", "--encoding=UTF8", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        let mut alone = program("postgres")
            .args(["--single", "-D"])
            .arg(&data)
            .arg("postgres")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        alone.stdin.take().unwrap().write_all(TABLES.as_bytes()).unwrap();
        assert!(alone.wait().unwrap().success(), "the table could not be made");
        let mut options = Vec::new();
        if has_tls {
            certify(folder.path());
            if let Some((user, group)) = user {
                chown(folder.path().join("server.key"), Some(user), Some(group)).unwrap();
            }
            for (setting, file) in [("ssl_cert_file", "server.pem"), ("ssl_key_file", "server.key")]
            {
                let path = folder.path().join(file).display().to_string();
                options.extend(["-c".to_owned(), format!("{setting}={path}")]);
            }
            options.extend(["-c".to_owned(), "ssl=on".to_owned()]);
        }
        let port =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let child = serve(&binaries, folder.path(), user, port, &options);
        let keeper = Command::new("sh")
            .args(["-c", KEEPER])
            .arg(folder.path())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut server = Self { child, port, folder, binaries, user, options, keeper };
        server.wait_until_it_answers();
        Some(server)
    }

    fn wait_until_it_answers(&mut self) {
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none() && started.elapsed() < START_LIMIT, "postgres: {ended:?}");
            sleep(Duration::from_millis(50));
        }
        // It listens before it can answer.
        ask(&self.url(), "SELECT 1");
    }

    /// Makes a database; how to connect to it.
    ///
    /// # Panics
    /// If it cannot be made.
    pub fn create_database(&self, name: &str) -> String {
        ask(&self.url(), &format!("CREATE DATABASE {name}"));
        format!("postgres://tester@127.0.0.1:{}/{name}", self.port)
    }

    /// Ends the server at once, as a machine that loses its power does.
    pub fn kill(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }

    /// Starts the server again after [`Self::kill`].
    ///
    /// # Panics
    /// If it does not start.
    pub fn start_again(&mut self) {
        // What it leaves behind says that it still runs.
        drop(fs::remove_file(self.folder.path().join("data/postmaster.pid")));
        let began = Instant::now();
        loop {
            let folder = self.folder.path();
            self.child = serve(&self.binaries, folder, self.user, self.port, &self.options);
            sleep(Duration::from_millis(200));
            // What is left of the killed one may keep its memory for a moment.
            if self.child.try_wait().unwrap().is_none() || began.elapsed() > START_LIMIT {
                break;
            }
        }
        self.wait_until_it_answers();
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// How to connect to it.
    pub fn url(&self) -> String {
        self.url_of("127.0.0.1")
    }

    /// How to connect to it by another name of this machine.
    pub fn url_of(&self, host: &str) -> String {
        format!("postgres://tester@{host}:{}/postgres", self.port)
    }

    /// The certificate of those who certified it, if it speaks TLS.
    pub fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        self.kill();
        drop(self.keeper.stdin.take());
        drop(self.keeper.wait());
    }
}

/// What a database answers to something that is asked in its own words: the first column of the first
/// row, or nothing.
///
/// # Panics
/// If it does not answer.
pub fn ask(url: &str, sql: &str) -> String {
    let (url, sql) = (url.to_owned(), sql.to_owned());
    // Whoever asks may be inside a runtime.
    let asking = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let began = Instant::now();
            let (client, connection) = loop {
                match tokio_postgres::connect(&url, tokio_postgres::NoTls).await {
                    Ok(connected) => break connected,
                    // It listens before it can answer.
                    Err(error) => assert!(began.elapsed() < START_LIMIT, "{error}"),
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            };
            tokio::spawn(connection);
            let answer = client.simple_query(&sql).await.unwrap();
            answer.into_iter().find_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
        })
    });
    asking.join().unwrap().unwrap_or_default()
}

fn program(binaries: &Path, name: &str, folder: &Path, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(binaries.join(name));
    command.current_dir(folder).stdin(Stdio::null());
    if let Some((user, group)) = user {
        command.uid(user).gid(group);
    }
    command
}

fn serve(
    binaries: &Path,
    folder: &Path,
    user: Option<(u32, u32)>,
    port: u16,
    options: &[String],
) -> Child {
    program(binaries, "postgres", folder, user)
        .arg("-D")
        .arg(folder.join("data"))
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-F", "-k"])
        .arg(folder)
        .args(options)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Makes an authority and a certificate of it for `127.0.0.1`.
fn certify(folder: &Path) {
    let make = |key: &str, certificate: &str, more: &[&str]| {
        let made = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
            .args(["-nodes", "-days", "2", "-keyout", key, "-out", certificate])
            .args(more)
            .current_dir(folder)
            .output()
            .unwrap();
        assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
    };
    make("authority.key", "authority.pem", &["-subj", "/CN=authority"]);
    let mut more = vec!["-CA", "authority.pem", "-CAkey", "authority.key", "-subj", "/CN=database"];
    more.extend(["-addext", "subjectAltName=IP:127.0.0.1"]);
    more.extend(["-addext", "basicConstraints=critical,CA:FALSE"]);
    make("server.key", "server.pem", &more);
}

/// The folder with the programs of the newest version there is.
fn binaries() -> Option<PathBuf> {
    let packaged = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = packaged.map(|entry| entry.path().join("bin")).collect();
    folders.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    folders.extend(std::env::split_paths(&path));
    let is_whole =
        |folder: &&PathBuf| ["initdb", "postgres"].iter().all(|name| folder.join(name).is_file());
    folders.iter().rev().find(is_whole).cloned()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|us| std::os::unix::fs::MetadataExt::uid(&us) == 0)
}

/// The ids of a user and its group.
fn user_of(name: &str) -> Option<(u32, u32)> {
    let users = fs::read_to_string(Path::new("/etc/passwd")).ok()?;
    let line = users.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}
