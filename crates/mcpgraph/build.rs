//! Puts the functions that every server goes through next to each other in the program.
//!
//! The system brings code into memory in pieces of 64 KiB around what is run. A start and a first
//! call run a tenth of all functions, but they stand all over the program, so that three quarters
//! of it came to be resident. `start-order.txt` names them; `cargo xtask start-order` writes it.
//! A function that it misses only stays where the linker puts it.
//!
//! And it packs the list of addresses that are set when the program is loaded, which is read from
//! beginning to end then: it is a megabyte long otherwise.

use std::{env, fs, io, path::Path, process::Command};

/// Set to `none`, the functions stay where they are, which is how the list is made.
const SWITCH: &str = "MCPGRAPH_START_ORDER";

const LIST: &str = "start-order.txt";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={LIST}");
    println!("cargo::rerun-if-env-changed={SWITCH}");
    if !is_wanted() {
        return Ok(());
    }
    let folder = env::var("OUT_DIR").map_err(io::Error::other)?;
    let script = Path::new(&folder).join("start-order.ld");
    fs::write(&script, linker_script(&fs::read_to_string(LIST)?))?;
    println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    if reads_packed_addresses() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    Ok(())
}

/// Whether the program will be loaded by a C library that can read packed addresses: this
/// machine's, from 2.36 on. An older one would start it without setting any.
fn reads_packed_addresses() -> bool {
    if env::var("HOST").ok() != env::var("TARGET").ok() {
        return false;
    }
    let Ok(told) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let told = String::from_utf8_lossy(&told.stdout);
    let mut numbers = told.trim().rsplit(' ').next().unwrap_or_default().split('.');
    let mut number = || numbers.next().and_then(|number| number.parse::<u32>().ok());
    matches!((number(), number()), (Some(2), Some(36..)) | (Some(3..), _))
}

/// Whether functions have names that can be known, and the linker is one that reads such scripts.
fn is_wanted() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    // Another linker than the toolchain's own may be one that does not.
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let chosen = env::var_os("RUSTC_LINKER").is_some() || flags.contains("link");
    is("CARGO_CFG_TARGET_OS", "linux") && is("PROFILE", "release") && !is(SWITCH, "none") && !chosen
}

/// A script that adds a section to what the linker does by itself.
fn linker_script(list: &str) -> String {
    let names = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    // What the compiler takes for unlikely has a section of that name.
    let functions: Vec<String> =
        names.map(|name| format!("    *(.text.{name} .text.unlikely.{name})")).collect();
    let functions = functions.join("\n");
    format!("SECTIONS\n{{\n  .text.start :\n  {{\n{functions}\n  }}\n}}\nINSERT BEFORE .text;\n")
}
