//! Comparison with committed files, for tables and texts that people review.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

/// Compares `found` with the file `snapshots/{name}`. With the environment variable `QALA_WRITE_SNAPSHOTS`, writes the file
/// instead. The error has the lines that differ.
pub fn compare_snapshot(name: &str, found: &str) -> Result<()> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("snapshots").join(name);
    if std::env::var_os("QALA_WRITE_SNAPSHOTS").is_some() {
        std::fs::write(&file, found)?;
        return Ok(());
    }
    let expected = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    if found != expected {
        bail!(
            "{name} has changed; run with QALA_WRITE_SNAPSHOTS=1 if that is meant\n{}",
            line_diff(&expected, found)
        );
    }
    Ok(())
}

/// The lines in which two texts differ.
fn line_diff(expected: &str, found: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (expected.lines().collect(), found.lines().collect());
    let gone = old.iter().filter(|line| !new.contains(line)).map(|line| format!("- {line}"));
    let added = new.iter().filter(|line| !old.contains(line)).map(|line| format!("+ {line}"));
    gone.chain(added).collect::<Vec<_>>().join("\n")
}
