//! The bounds of a version's files.

use std::collections::BTreeMap;

use crate::InvalidInput;

/// Path of the module whose default export has the handlers.
pub const ENTRY_FILE: &str = "main.js";
/// Entry of a version that is written in TypeScript.
pub const TYPESCRIPT_ENTRY_FILE: &str = "main.ts";

const MAX_FILES: usize = 100;
const MAX_PATH_LEN: usize = 200;
const MAX_TOTAL_BYTES: usize = 700 << 10;

/// Checks the files of a version: either `main.js` or `main.ts` must be among them, and there may be at most 100, of 700 KiB in total. A
/// path is relative, at most 200 bytes long, and made of ASCII letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// [`InvalidInput`] for the first bound that is broken.
pub fn check_files(files: &BTreeMap<String, String>) -> Result<(), InvalidInput> {
    match (files.contains_key(ENTRY_FILE), files.contains_key(TYPESCRIPT_ENTRY_FILE)) {
        (false, false) => return Err(InvalidInput::NoEntryFile),
        (true, true) => return Err(InvalidInput::TwoEntryFiles),
        _ => {}
    }
    if files.len() > MAX_FILES {
        return Err(InvalidInput::FileCount { max: MAX_FILES });
    }
    if files.values().map(String::len).sum::<usize>() > MAX_TOTAL_BYTES {
        return Err(InvalidInput::FilesSize { max_kib: MAX_TOTAL_BYTES >> 10 });
    }
    for path in files.keys() {
        let plain = |part: &str| {
            !part.is_empty()
                && part != "."
                && part != ".."
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
        };
        if path.len() > MAX_PATH_LEN || !path.split('/').all(plain) {
            return Err(InvalidInput::FilePath(path.clone()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(paths: &[&str]) -> BTreeMap<String, String> {
        paths.iter().map(|path| ((*path).to_owned(), String::new())).collect()
    }

    #[test]
    fn files_must_stay_inside_the_bundle() {
        assert!(check_files(&files(&["main.js", "lib/a-b_c.js"])).is_ok());
        for path in ["../x.js", "/x.js", "a//b.js", "a/./b.js", "a\\b.js", "", "a\0b"] {
            let error = check_files(&files(&["main.js", path])).unwrap_err();
            assert_eq!(error, InvalidInput::FilePath(path.to_owned()));
        }
        assert_eq!(check_files(&files(&["index.js"])), Err(InvalidInput::NoEntryFile));
        assert!(check_files(&files(&["main.ts", "lib.ts"])).is_ok());
        assert_eq!(check_files(&files(&["main.js", "main.ts"])), Err(InvalidInput::TwoEntryFiles));
    }
}
