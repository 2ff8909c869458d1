//! Code that was let go of comes back when it is needed.
#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::{fs, panic, thread};

/// How many KiB of files are mapped and in memory.
fn of_files() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssFile:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Goes through code, constants, tables of unwinding and libraries.
fn work() -> String {
    let caught = panic::catch_unwind(|| panic!("on purpose")).unwrap_err();
    let said = *caught.downcast::<&str>().unwrap();
    let numbers = thread::spawn(|| (1..=5).map(|n| f64::from(n).sqrt().sin()).collect::<Vec<_>>());
    format!("{said} {:.3?}", numbers.join().unwrap())
}

#[test]
fn it_is_gone_and_comes_back() {
    let expected = work();
    let before = of_files();
    mcpgraph_memory::let_go_of_code();
    let after = of_files();
    assert!(after < before, "{after} KiB are left of {before}");
    assert_eq!(work(), expected);
    // While others run, too.
    let working: Vec<_> =
        (0..4).map(|_| thread::spawn(|| (0..50).map(|_| work()).collect::<Vec<_>>())).collect();
    for _ in 0..50 {
        mcpgraph_memory::let_go_of_code();
    }
    for thread in working {
        assert_eq!(thread.join().unwrap(), vec![expected.clone(); 50]);
    }
}
