//! The differences between the files of two versions.

use std::{collections::BTreeMap, time::Instant};

use similar::{ChangeTag, TextDiff};

use crate::manifest::diff::DifferenceKind;

/// Most bytes of all unified diffs of one comparison.
pub const MAX_DIFF_BYTES: usize = 512 << 10;
/// Lines around a change.
const CONTEXT_LINES: usize = 3;

/// A file that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDifference {
    /// Path of the file.
    pub path: String,
    /// Kind of the difference.
    pub change: DifferenceKind,
    /// Lines that only the later version has.
    pub lines_added: usize,
    /// Lines that only the earlier version has.
    pub lines_removed: usize,
    /// The difference as a unified diff with three lines of context; none once the diffs have [`MAX_DIFF_BYTES`] together.
    pub unified: Option<String>,
}

/// Returns the files that differ, by path. From `deadline` on, a diff may name more lines than have changed: the smallest
/// diff of two long texts takes time that grows with the product of their lengths.
#[must_use]
pub fn diff_files(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
    deadline: Instant,
) -> Vec<FileDifference> {
    let mut paths: Vec<&String> = before.keys().chain(after.keys()).collect();
    paths.sort_unstable();
    paths.dedup();
    let mut left = MAX_DIFF_BYTES;
    let mut found = Vec::new();
    for path in paths {
        let (was, is) = (before.get(path), after.get(path));
        let change = match (was, is) {
            (Some(was), Some(is)) if was == is => continue,
            (Some(_), Some(_)) => DifferenceKind::Changed,
            (Some(_), None) => DifferenceKind::Removed,
            (None, _) => DifferenceKind::Added,
        };
        let (was, is) = (was.map_or("", String::as_str), is.map_or("", String::as_str));
        let diff = TextDiff::configure().deadline(deadline).diff_lines(was, is);
        let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        let unified = diff.unified_diff().context_radius(CONTEXT_LINES).header(path, path).to_string();
        let unified = (unified.len() <= left).then_some(unified);
        left -= unified.as_ref().map_or(0, String::len);
        found.push(FileDifference {
            path: path.clone(),
            change,
            lines_added: count(ChangeTag::Insert),
            lines_removed: count(ChangeTag::Delete),
            unified,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn files(texts: &[(&str, &str)]) -> BTreeMap<String, String> {
        texts.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn files_that_differ_are_named_with_their_lines() {
        let before = files(&[("gone.js", "a\n"), ("main.js", "one\ntwo\nthree\n"), ("same.js", "x")]);
        let after = files(&[("main.js", "one\n2\nthree\nfour"), ("new.js", ""), ("same.js", "x")]);
        let found = diff_files(&before, &after, soon());
        let summary: Vec<_> = found
            .iter()
            .map(|file| (file.path.as_str(), file.change, file.lines_added, file.lines_removed))
            .collect();
        let expected = [
            ("gone.js", DifferenceKind::Removed, 0, 1),
            ("main.js", DifferenceKind::Changed, 2, 1),
            ("new.js", DifferenceKind::Added, 0, 0),
        ];
        assert_eq!(summary, expected);
        let unified = found[1].unified.as_deref().unwrap();
        for line in
            ["--- main.js", "+++ main.js", "-two", "+2", "+four", " three", "\\ No newline at end of file"]
        {
            assert!(unified.lines().any(|known| known == line), "{line} is not in {unified}");
        }
        assert_eq!(diff_files(&before, &before, soon()), []);
    }

    #[test]
    fn a_long_comparison_leaves_diffs_out_and_counts_on() {
        let long = "a line of a long file\n".repeat(20_000);
        let after = files(&[("a.js", &long), ("b.js", &long), ("c.js", "short\n")]);
        let found = diff_files(&BTreeMap::new(), &after, soon());
        let has_diff: Vec<_> = found.iter().map(|file| file.unified.is_some()).collect();
        assert_eq!(has_diff, [true, false, true]);
        assert_eq!(found[1].lines_added, 20_000);
    }

    #[test]
    fn a_passed_deadline_gives_a_diff_all_the_same() {
        let passed = Instant::now();
        let texts = |from: u32| (from..from + 5_000).map(|line| format!("{line}\n")).collect::<String>();
        let (before, after) = (files(&[("main.js", &texts(0))]), files(&[("main.js", &texts(2_500))]));
        let found = diff_files(&before, &after, passed);
        assert_eq!(found[0].lines_added, found[0].lines_removed);
        assert!(found[0].lines_added >= 2_500);
    }
}
