//! Comparison of a text with a committed file, for texts that people review.

use std::{fs, io, path::Path};

/// Compares `found` with the file `snapshots/{name}` of the crate in `manifest_dir`, which is `env!("CARGO_MANIFEST_DIR")`.
/// With the environment variable `QALA_WRITE_SNAPSHOTS`, writes the file instead.
///
/// # Errors
/// [`io::Error`] if the file cannot be read or written; otherwise one with the lines that differ.
pub fn compare_snapshot(manifest_dir: &str, name: &str, found: &str) -> io::Result<()> {
    let path = Path::new(manifest_dir).join("snapshots").join(name);
    if std::env::var_os("QALA_WRITE_SNAPSHOTS").is_some() {
        fs::create_dir_all(path.with_file_name(""))?;
        return fs::write(&path, found);
    }
    let expected = fs::read_to_string(&path)?;
    if found == expected {
        return Ok(());
    }
    let difference = different_lines(&expected, found);
    let advice = "run the test with QALA_WRITE_SNAPSHOTS=1 if the change is meant";
    Err(io::Error::other(format!("{} differs; {advice}\n{difference}", path.display())))
}

/// Returns the lines that only one of two texts has at their position.
fn different_lines(expected: &str, found: &str) -> String {
    let (old, new) = (expected.lines().map(Some), found.lines().map(Some));
    let length = expected.lines().count().max(found.lines().count());
    let none = std::iter::repeat(None);
    let pairs = old.chain(none.clone()).zip(new.chain(none)).take(length);
    let mut difference = String::new();
    for (old, new) in pairs.filter(|(old, new)| old != new) {
        for (sign, line) in [('-', old), ('+', new)] {
            if let Some(line) = line {
                difference.push_str(&format!("{sign} {line}\n"));
            }
        }
    }
    difference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_lines_that_differ_are_named() {
        assert_eq!(different_lines("a\nb\nc\n", "a\nB\nc\nd\n"), "- b\n+ B\n+ d\n");
    }

    #[test]
    fn a_text_without_a_file_is_refused() {
        assert!(compare_snapshot(env!("CARGO_MANIFEST_DIR"), "missing.txt", "").is_err());
    }
}
