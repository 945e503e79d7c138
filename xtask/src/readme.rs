//! The README's second command, which runs all tests.

use anyhow::{Context as _, Result, ensure};
use xtask::{shell, workspace::Workspace};

/// Runs the command as it stands in README.md, so that a green run proves it.
pub(crate) fn run_test_command(workspace: &Workspace) -> Result<()> {
    let readme = workspace.read("README.md")?;
    let arguments = test_command(&readme)?;
    println!("the README's command: cargo {}", arguments.join(" "));
    shell::run(shell::cargo(workspace).args(arguments))
}

/// Returns the arguments of the only `cargo xtask` command of the page.
fn test_command(readme: &str) -> Result<Vec<&str>> {
    let commands = readme.lines().filter_map(|line| line.strip_prefix("$ cargo "));
    let mut commands = commands.filter(|command| command.starts_with("xtask "));
    let command = commands.next().context("README.md has no `cargo xtask` command")?;
    ensure!(commands.next().is_none(), "README.md has more than one `cargo xtask` command");
    let command = command.split(" #").next().unwrap_or_default();
    Ok(command.split_whitespace().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_only_one_of_xtask() {
        let page = "```console\n$ cargo run   # a server\n```\n\n```console\n$ cargo xtask test       # every test\n```\n";
        assert_eq!(test_command(page).unwrap(), ["xtask", "test"]);
        assert!(test_command("`cargo xtask test`").is_err());
        assert!(test_command("$ cargo xtask test\n$ cargo xtask ci\n").is_err());
    }
}
