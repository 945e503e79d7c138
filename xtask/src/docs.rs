//! `cargo xtask docs`: a page that names a file names one that exists.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};
use xtask::workspace::Workspace;

/// Endings that make a word with a slash a path, whatever it begins with.
const SOURCE_EXTENSIONS: [&str; 7] = [".rs", ".toml", ".md", ".yaml", ".yml", ".sh", ".service"];

/// Fails when a path in backticks in README.md or docs/ does not exist.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
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
        bail!("{missing} paths in the documentation lead nowhere");
    }
    println!("docs: every path named in {} pages exists", pages.len());
    Ok(())
}

fn find_pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages = vec![];
    let readme = root.join("README.md");
    if readme.exists() {
        pages.push(readme);
    }
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop().filter(|folder| folder.exists()) {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    Ok(pages)
}

/// What looks like a repository path, with its line: in backticks, outside code blocks, beginning with a name at the
/// top of the repository or ending like a source file.
fn find_paths<'a>(text: &'a str, root: &'a Path) -> impl Iterator<Item = (usize, &'a str)> {
    let mut in_block = false;
    let prose = text.lines().enumerate().filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        in_block ^= is_fence;
        !in_block && !is_fence
    });
    // Every second piece between backticks is inside a pair.
    let words =
        prose.flat_map(|(index, line)| line.split('`').skip(1).step_by(2).map(move |word| (index + 1, word)));
    words.filter(move |(_, word)| is_path(word, root))
}

fn is_path(word: &str, root: &Path) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/*{}".contains(c);
    let Some((first, _)) = word.split_once('/') else { return false };
    !first.is_empty()
        && word.chars().all(plain)
        && (root.join(first).is_dir() || SOURCE_EXTENSIONS.iter().any(|ending| word.ends_with(ending)))
}

/// A path with a placeholder (`*`, `{name}`) stands when the folder before the placeholder does.
fn exists(root: &Path, path: &str) -> bool {
    let fixed = path.split('/').take_while(|part| !part.contains(['*', '{']));
    root.join(fixed.collect::<PathBuf>()).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_from_other_words_with_slashes() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates/kernel")).unwrap();
        let text = "\
See `crates/kernel` and `crates/gone/*.rs`, and not crates/bare.
`GET /v1/hooks`, `text/html`, `/healthz`, `a b/c.rs`, `api/src/lost.rs`

```
`crates/in_a_block`
```
";
        let named = find_paths(text, root.path()).collect::<Vec<_>>();
        assert_eq!(named, [(1, "crates/kernel"), (1, "crates/gone/*.rs"), (2, "api/src/lost.rs")]);
        let standing = named.iter().map(|(_, path)| exists(root.path(), path)).collect::<Vec<_>>();
        assert_eq!(standing, [true, false, false]);
    }

    #[test]
    fn placeholders_stand_for_any_name() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("crates")).unwrap();
        assert!(exists(root.path(), "crates/{name}/src/lib.rs"));
        assert!(exists(root.path(), "crates/*"));
        assert!(!exists(root.path(), "rooms/*"));
    }
}
