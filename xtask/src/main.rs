//! The project's own tasks, run as `cargo xtask TASK`.
//!
//! One file per task; what they share is in `workspace` and `command`.
#![expect(clippy::print_stderr, reason = "a tool that reports to the terminal")]

mod bench;
mod client;
mod command;
mod setup_tests;
mod simulate;
mod start_order;
mod studio;
mod system;
mod test;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::workspace::Workspace;

/// The project's own tasks.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Installs what the tests need and the machine may not have, below the target directory
    SetupTests,
    /// Runs everything that must pass: tests, documentation tests, formatting, lints
    Test,
    /// Measures mcpgraph beside the npm package `mcpgraph` and prints ratios
    Bench {
        /// Measure only this; everything but `jsonata` where nothing is named
        #[arg(value_enum)]
        parts: Vec<bench::Part>,
        /// Measure this mcpgraph instead of building one
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Simulates replicas on one PostgreSQL: how many calls they take, and what holds them
    Simulate(#[command(flatten)] simulate::Figures),
    /// Builds the pages of the studio; needs npm
    Studio {
        /// Serve them from their sources instead, beside a running `mcpgraph studio`
        #[arg(long)]
        dev: bool,
    },
    /// Finds the functions a start goes through, for the order in which they are linked; needs
    /// valgrind
    StartOrder,
}

fn main() -> ExitCode {
    let result = Workspace::find().and_then(|workspace| match Cli::parse().task {
        Task::SetupTests => setup_tests::run(&workspace),
        Task::Test => test::run(&workspace),
        Task::Bench { parts, program } => bench::run(&workspace, &parts, program),
        Task::Simulate(figures) => {
            simulate::run(&figures);
            Ok(())
        }
        Task::Studio { dev } => studio::run(&workspace, dev),
        Task::StartOrder => start_order::run(&workspace),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
