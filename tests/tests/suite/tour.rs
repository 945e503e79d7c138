//! The tour of `docs/guides/tour.md`, run as a reader would paste it.

use std::{path::Path, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, ensure};
use tests::eventually;
use tokio::{process::Command, time::timeout};

const TOUR: &str = include_str!("../../../docs/guides/tour.md");

/// The server's URL in the page, which is replaced by that of the test's server.
const ADDRESS: &str = "http://127.0.0.1:7420";

/// Limit for all commands of the tour.
const TOUR_DEADLINE: Duration = Duration::from_secs(120);

tests::on_both! {
    async fn the_tour_works(server: Server) -> Result<()> {
        let printed = eventually("the server prints a call", async || find_printed_call(&server.log())).await?;
        let commands = tour_commands(TOUR)?.replace(ADDRESS, server.base_url());
        let output = run_in_bash(&format!("{printed}\n{commands}"), server.data_dir()).await?;
        for expected in ["Hello from the terminal", "Hello, Almaty", r#""mode":"code_host""#] {
            assert!(output.contains(expected), "{expected:?} is not in the output:\n{output}");
        }
        let last = output.lines().rfind(|line| !line.is_empty());
        assert_eq!(last, Some(r#"[{"title":"A push","source":"webhook"}]"#), "{output}");
        Ok(())
    }
}

/// Returns the call that the server prints when it starts.
fn find_printed_call(log: &str) -> Result<String> {
    let line = log.lines().find(|line| line.contains("Start a run")).context("no line has the call")?;
    let (_, call) = line.split_once("curl ").context("the call does not use curl")?;
    Ok(format!("curl {call}"))
}

/// Returns the `sh` blocks of the page, in order.
fn tour_commands(page: &str) -> Result<String> {
    let blocks = page.split("\n```sh\n").skip(1).filter_map(|rest| rest.split("\n```").next());
    let blocks: Vec<&str> = blocks.collect();
    ensure!(!blocks.is_empty(), "the tour has no commands");
    Ok(blocks.join("\n"))
}

/// Runs commands in one shell, which stops at the first failure, and returns their output.
async fn run_in_bash(commands: &str, folder: &Path) -> Result<String> {
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", commands]).current_dir(folder);
    bash.env("no_proxy", "127.0.0.1").stdin(Stdio::null()).kill_on_drop(true);
    let output = timeout(TOUR_DEADLINE, bash.output()).await.context("the tour does not end")?;
    let output = output.context("bash is required")?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "bash ended with {}:\n{printed}\n{errors}", output.status);
    Ok(printed)
}

#[test]
fn only_the_shell_blocks_are_run() {
    let page = "# A tour\n\n```console\n$ no\n```\n\n```sh\none\n```\n\ntext\n\n```sh\ntwo\n```\n";
    assert_eq!(tour_commands(page).unwrap(), "one\ntwo");
    assert!(tour_commands("# A tour\n").is_err());
}

#[test]
fn the_printed_call_is_found_among_other_lines() {
    let log = "{\"message\":\"a line of log\"}\nStart a run: curl -H 'a: b' -d '{}' http://h/v1/hooks/hook_1  # signed\nlog\n";
    assert_eq!(find_printed_call(log).unwrap(), "curl -H 'a: b' -d '{}' http://h/v1/hooks/hook_1  # signed");
    assert!(find_printed_call("").is_err());
}
