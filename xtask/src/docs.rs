//! `cargo xtask docs`: checks that every path that a page names exists, and that every example in a doc comment is
//! tested.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use xtask::workspace::Workspace;

/// Extensions that make a word with a slash a path, whatever it begins with.
const SOURCE_EXTENSIONS: [&str; 7] = [".rs", ".toml", ".md", ".yaml", ".yml", ".sh", ".service"];

/// Beginnings of the info strings of code blocks that rustdoc compiles.
const TESTED_BLOCKS: [&str; 6] = ["rust", "no_run", "should_panic", "compile_fail", "edition", "standalone"];

/// Fails if a path in backticks in README.md or docs/ does not exist, or if a package with `doctest = false` has a
/// doctest.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    check_paths(workspace)?;
    check_doctests(workspace)
}

fn check_paths(workspace: &Workspace) -> Result<()> {
    let mut missing = 0;
    let pages = find_pages(&workspace.root)?;
    for page in &pages {
        let text = fs::read_to_string(page)?;
        let name = page.strip_prefix(&workspace.root)?.display();
        for (line, path) in find_paths(&text, &workspace.root) {
            if !exists(&workspace.root, path) {
                println!("docs: {name}:{line}: `{path}` does not exist");
                missing += 1;
            }
        }
    }
    if missing > 0 {
        bail!("{missing} paths in the documentation do not exist");
    }
    println!("docs: every path in {} pages exists", pages.len());
    Ok(())
}

fn check_doctests(workspace: &Workspace) -> Result<()> {
    let mut untested = 0;
    let members = workspace.members()?;
    let libraries =
        members.packages.iter().flat_map(|package| package.targets.iter().map(move |it| (package, it)));
    let untested_libraries = libraries.filter(|(_, target)| target.is_lib() && !target.doctest);
    for (package, target) in untested_libraries {
        let folder = target.src_path.parent().context("the source file has no directory")?;
        for file in find_files(folder.as_std_path(), "rs")? {
            for line in find_tested_blocks(&fs::read_to_string(&file)?) {
                println!(
                    "docs: {}:{line}: this example is not tested, because `{}` has `doctest = false`",
                    file.display(),
                    package.name
                );
                untested += 1;
            }
        }
    }
    if untested > 0 {
        bail!("{untested} examples are not tested; remove `doctest = false` from the manifest");
    }
    println!("docs: every example in a doc comment is tested");
    Ok(())
}

/// Returns the lines on which a doc comment opens a code block that rustdoc would test.
fn find_tested_blocks(source: &str) -> Vec<usize> {
    let mut is_open = false;
    let mut found = Vec::new();
    for (index, line) in source.lines().enumerate() {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else {
            is_open = false;
            continue;
        };
        let Some(language) = text.trim_start().strip_prefix("```") else { continue };
        is_open = !is_open;
        let is_tested = language.is_empty() || TESTED_BLOCKS.iter().any(|it| language.starts_with(it));
        if is_open && is_tested {
            found.push(index + 1);
        }
    }
    found
}

fn find_pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = vec![];
    let readme = root.join("README.md");
    if readme.exists() {
        pages.push(readme);
    }
    pages.extend(find_files(&root.join("docs"), "md")?);
    pages.sort();
    Ok(pages)
}

/// Returns the files with an extension in a directory and below; none if the directory does not exist.
fn find_files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>> {
    let mut files = vec![];
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop().filter(|folder| folder.exists()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Returns repository paths with their lines: words in backticks and outside code blocks that begin with a top-level
/// directory of the repository or end like a source file.
fn find_paths<'a>(text: &'a str, root: &'a Path) -> impl Iterator<Item = (usize, &'a str)> {
    let mut in_block = false;
    let prose = text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    });
    // Every second part between backticks is inside a pair.
    let words =
        prose.flat_map(|(index, line)| line.split('`').skip(1).step_by(2).map(move |word| (index + 1, word)));
    words.filter(move |(_, word)| is_path(word, root))
}

fn is_path(word: &str, root: &Path) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/*{}".contains(c);
    let Some((first, _)) = word.split_once('/') else { return false };
    !first.is_empty()
        && word.chars().all(is_plain)
        && (root.join(first).is_dir() || SOURCE_EXTENSIONS.iter().any(|ending| word.ends_with(ending)))
}

/// True if the path exists; of a path with a placeholder (`*`, `{name}`), the directory before it.
fn exists(root: &Path, path: &str) -> bool {
    let fixed_part = path.split('/').take_while(|part| !part.contains(['*', '{']));
    root.join(fixed_part.collect::<PathBuf>()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_distinguished_from_other_words_with_slashes() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates/kernel")).unwrap();
        let text = "\
See `crates/kernel` and `crates/missing/*.rs`, and not crates/bare.
`GET /v1/hooks`, `text/html`, `/healthz`, `a b/c.rs`, `api/src/missing.rs`

```
`crates/in_a_block`
```
";
        let found_paths = find_paths(text, root.path()).collect::<Vec<_>>();
        assert_eq!(
            found_paths,
            [(1, "crates/kernel"), (1, "crates/missing/*.rs"), (2, "api/src/missing.rs")]
        );
        let existing = found_paths.iter().map(|(_, path)| exists(root.path(), path)).collect::<Vec<_>>();
        assert_eq!(existing, [true, false, false]);
    }

    #[test]
    fn examples_that_rustdoc_would_test_are_found() {
        let source = [
            "/// ```",
            "/// let tested = 1;",
            "/// ```",
            "/// ```text",
            "/// ```",
            "fn a() {} // ```",
            "    //! ```no_run",
            "    //! ```",
            "/// ```ignore",
            "/// ```",
        ];
        assert_eq!(find_tested_blocks(&source.join("\n")), [1, 7]);
    }

    #[test]
    fn placeholders_match_any_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates")).unwrap();
        assert!(exists(root.path(), "crates/{name}/src/lib.rs"));
        assert!(exists(root.path(), "crates/*"));
        assert!(!exists(root.path(), "missing/*"));
    }
}
