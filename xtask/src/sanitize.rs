//! `cargo xtask sanitize`: runs the tests of the crate with `unsafe` code under AddressSanitizer and Miri.
//!
//! Both need a nightly toolchain:
//! `rustup toolchain install nightly --profile minimal --component miri --component rust-src`

use std::process::Command;

use anyhow::Result;
use clap::{Args, ValueEnum};

use xtask::{shell, workspace::Workspace};

/// The one crate whose programs have `unsafe` code.
const PACKAGE: &str = "process-snapshot";

/// The package and the tests that reset the JavaScript runtime of app code. They run without leak detection, because
/// that runtime lives as long as its process by design.
const RUNTIME_TESTS: (&str, &str) = ("adapter-runtime", "worker::realm");

/// Settings of AddressSanitizer.
///
/// - `handle_segv=0`: the crate's SIGSEGV handler passes other faults on to the previous handler. A test expects that
///   this ends the process by the signal, which the sanitizer's handler would prevent.
/// - `allow_user_segv_handler=1`: lets the crate install its handler.
/// - `detect_stack_use_after_return=1`: finds pointers to locals of functions that have returned.
const ASAN_OPTIONS: &str = "handle_segv=0:allow_user_segv_handler=1:detect_stack_use_after_return=1";

/// Tests that Miri can run: pure data structures, and the heap with its portable fallback. Miri has no mprotect(2), no
/// clone(2), no signals, and no QuickJS, which is written in C; tests of these are not built for it.
const MIRI_TESTS: [&str; 2] = ["heap", "memory_meter"];

#[derive(Args)]
pub(crate) struct Options {
    /// Toolchain that has the sanitizer and Miri.
    #[arg(long, default_value = "nightly")]
    toolchain: String,
    /// Run only one of the two.
    #[arg(long)]
    only: Option<Tool>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Tool {
    Address,
    Miri,
}

/// Runs the tests under each tool.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let is_selected = |tool| options.only.is_none_or(|only| only == tool);
    let folder = workspace.members()?.target_directory.join("sanitize");
    if is_selected(Tool::Address) {
        let test = |package: &str, asan_options: &str| {
            let mut cargo = cargo(workspace, &options.toolchain);
            cargo.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", asan_options);
            // With `--target`, build scripts and procedural macros are not instrumented.
            cargo.args(["test", "--locked", "--package", package, "--target", &host()]);
            cargo.arg("--target-dir").arg(folder.join("address"));
            cargo
        };
        shell::run(&mut test(PACKAGE, ASAN_OPTIONS))?;
        let (package, tests) = RUNTIME_TESTS;
        let without_leaks = format!("{ASAN_OPTIONS}:detect_leaks=0");
        shell::run(test(package, &without_leaks).args(["--lib", "--", tests]))?;
    }
    if is_selected(Tool::Miri) {
        let mut cargo = cargo(workspace, &options.toolchain);
        cargo.args(["miri", "test", "--locked", "--package", PACKAGE, "--lib"]);
        shell::run(cargo.arg("--target-dir").arg(folder.join("miri")).arg("--").args(MIRI_TESTS))?;
    }
    Ok(())
}

/// Returns a command for the cargo of another toolchain.
fn cargo(workspace: &Workspace, toolchain: &str) -> Command {
    let mut cargo = Command::new("rustup");
    cargo.current_dir(&workspace.root).args(["run", toolchain, "cargo"]);
    cargo
}

fn host() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}
