//! `cargo xtask openapi`: writes the API description that the binary prints, or checks that the committed one equals
//! it.

use std::{fs, process::Command};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use serde_json::Value;
use similar::TextDiff;
use xtask::{
    compile::{self, Profile},
    shell,
    workspace::Workspace,
};

const DESCRIPTION_PATH: &str = "docs/openapi.json";

/// Enough to see what has changed.
const DIFF_LINES_SHOWN: usize = 80;

#[derive(Args)]
pub(crate) struct Options {
    /// Compare the committed description with the binary's instead of writing it.
    #[arg(long)]
    check: bool,
}

impl Options {
    pub(crate) fn check() -> Self {
        Self { check: true }
    }
}

/// Writes `docs/openapi.json`, or fails if it differs from what the binary prints.
pub(crate) fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let qala = compile::qala(workspace, Profile::Dev)?;
    let printed = shell::output(Command::new(qala).arg("openapi"))?;
    let description = serde_json::from_str::<Value>(&printed).context("`qala openapi` did not print JSON")?;
    let current = format!("{description:#}\n");
    let path = workspace.root.join(DESCRIPTION_PATH);
    if !options.check {
        fs::write(&path, current).with_context(|| format!("cannot write {}", path.display()))?;
        println!("openapi: wrote {DESCRIPTION_PATH}");
        return Ok(());
    }
    let committed = workspace.read(DESCRIPTION_PATH)?;
    if committed == current {
        println!("openapi: {DESCRIPTION_PATH} is up to date");
        return Ok(());
    }
    println!("{}", short_diff(&committed, &current));
    bail!("{DESCRIPTION_PATH} is out of date; run `cargo xtask openapi` and review the difference")
}

fn short_diff(committed: &str, current: &str) -> String {
    let diff = TextDiff::from_lines(committed, current);
    let text = diff.unified_diff().context_radius(2).header("committed", "current").to_string();
    let mut lines = text.lines();
    let mut shown = lines.by_ref().take(DIFF_LINES_SHOWN).collect::<Vec<_>>().join("\n");
    let hidden = lines.count();
    if hidden > 0 {
        shown += &format!("\n… and {hidden} more lines");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_difference_is_shown_with_its_context() {
        let diff = short_diff("a\nb\nc\n", "a\nB\nc\n");
        assert!(diff.contains("-b\n+B"), "{diff}");
    }

    #[test]
    fn a_large_difference_is_cut() {
        let before = (0..200).map(|line| format!("{line}\n")).collect::<String>();
        let diff = short_diff(&before, "");
        assert!(diff.ends_with("more lines"), "{diff}");
        assert_eq!(diff.lines().count(), DIFF_LINES_SHOWN + 1);
    }
}
