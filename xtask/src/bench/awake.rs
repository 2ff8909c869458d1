use std::process::{Child, Command, Stdio};

/// Keeps every core awake while figures are taken.
///
/// A core that sleeps takes up to 50 µs to wake, on virtual machines above all, and a call one at a
/// time wakes one for every process on its way. That would measure the machine's idle states and
/// not the programs. So processes of the lowest priority spin: they give way to anything else.
pub(super) struct Awake(Vec<Child>);

impl Awake {
    pub(super) fn start() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let spin = |_| {
            Command::new("nice")
                .args(["-n", "19", "sh", "-c", "while :; do :; done"])
                .stdin(Stdio::null())
                .spawn()
                .inspect_err(|error| eprintln!("the cores are not kept awake: {error}"))
                .ok()
        };
        Self((0..cores).filter_map(spin).collect())
    }
}

impl Drop for Awake {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}
