//! Files that were changed, moved, made by another build or left behind.

use std::{collections::BTreeSet, os::unix::fs::PermissionsExt as _};

use tempfile::TempDir;

use super::*;
use crate::bytecode::tests::{BUILD, bytecode, config, key};

fn directory(path: &TempDir, secret: u8) -> Directory {
    Directory::new(&config(path, secret))
}

fn read(directory: &Directory, key: BytecodeKey) -> Option<Bytes> {
    directory.read(key, ProgramBuild::numbered(BUILD))
}

#[test]
fn a_file_opens_for_its_code_its_build_and_its_key_only() {
    let path = TempDir::new().unwrap();
    let ours = directory(&path, 1);
    ours.write(key(1, 1), &bytecode(BUILD, "modules"));
    assert_eq!(read(&ours, key(1, 1)).unwrap(), "modules");
    assert_eq!(read(&directory(&path, 1), key(1, 1)).unwrap(), "modules", "after a restart");
    assert_eq!(read(&directory(&path, 2), key(1, 1)), None, "another key");
    assert_eq!(ours.read(key(1, 1), ProgramBuild::numbered(2)), None, "another build");
    for other in [key(2, 1), key(1, 2)] {
        ours.write(other, &bytecode(BUILD, "other"));
        fs::copy(ours.file(&key(1, 1)), ours.file(&other)).unwrap();
        assert_eq!(read(&ours, other), None, "moved to the place of {other:?}");
    }
}

#[test]
fn a_file_that_was_changed_anywhere_does_not_open() {
    let path = TempDir::new().unwrap();
    let directory = directory(&path, 1);
    directory.write(key(1, 1), &bytecode(BUILD, "modules"));
    let file = directory.file(&key(1, 1));
    let content = fs::read(&file).unwrap();
    for at in 0..content.len() {
        for bit in [0, 3, 7] {
            let mut changed = content.clone();
            changed[at] ^= 1 << bit;
            fs::write(&file, changed).unwrap();
            assert_eq!(read(&directory, key(1, 1)), None, "bit {bit} of byte {at}");
        }
        fs::write(&file, &content[..at]).unwrap();
        assert_eq!(read(&directory, key(1, 1)), None, "cut off after {at} bytes");
    }
    fs::write(&file, [content.as_slice(), b"x"].concat()).unwrap();
    assert_eq!(read(&directory, key(1, 1)), None);
    fs::write(&file, &content).unwrap();
    assert!(read(&directory, key(1, 1)).is_some());
}

#[test]
fn files_that_are_incomplete_strange_or_unused_are_deleted() {
    let path = TempDir::new().unwrap();
    let before = directory(&path, 1);
    for digest in 1..=3 {
        before.write(key(1, digest), &bytecode(BUILD, "modules"));
    }
    let own = before.file(&key(1, 1)).parent().unwrap().to_owned();
    for name in ["incomplete-abc", "x", "notes.txt"] {
        fs::write(own.join(name), "x").unwrap();
    }
    fs::create_dir_all(path.path().join("bytecode/somebody-elses")).unwrap();
    let old = now() - MAX_UNUSED - Duration::from_secs(1);
    fs::File::open(before.file(&key(1, 2))).unwrap().set_modified(old).unwrap();
    let after = directory(&path, 1);
    after.sweep();
    after.write(key(1, 4), &bytecode(BUILD, "modules"));
    let left: BTreeSet<_> = fs::read_dir(own).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, [1, 3, 4].map(|digest| after.file(&key(1, digest))).into());
    assert!(path.path().join("bytecode/somebody-elses").exists());
    // A server that runs for long finds them too.
    fs::File::open(after.file(&key(1, 3))).unwrap().set_modified(old).unwrap();
    after.sweep();
    assert_eq!(read(&after, key(1, 3)), None);
    assert!(read(&after, key(1, 4)).is_some());
}

#[test]
fn files_are_for_their_owner_only() {
    let path = TempDir::new().unwrap();
    let directory = directory(&path, 1);
    directory.write(key(1, 1), &bytecode(BUILD, "modules"));
    let file = directory.file(&key(1, 1));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode(&file), mode(file.parent().unwrap())], [0o600, 0o700]);
}

#[test]
fn the_least_recently_used_files_give_way() {
    let path = TempDir::new().unwrap();
    let limits = ByteLimits { workspace: 3 * (MIN_FILE_BYTES + 1024), total: 4 * (MIN_FILE_BYTES + 1024) };
    let limited = || Directory { limits, ..directory(&path, 1) };
    let kept = |directory: &Directory, workspace: u128| -> Vec<u8> {
        (1..=9).filter(|digest| directory.file(&key(workspace, *digest)).exists()).collect()
    };
    let before = limited();
    for digest in 1..=5 {
        before.write(key(1, digest), &bytecode(BUILD, "modules"));
    }
    assert_eq!(kept(&before, 1), [3, 4, 5]);
    assert!(read(&before, key(1, 3)).is_some());
    before.write(key(1, 6), &bytecode(BUILD, "modules"));
    assert_eq!(kept(&before, 1), [3, 5, 6], "what was read lately stays");
    before.write(key(2, 1), &bytecode(BUILD, "modules"));
    before.write(key(3, 1), &bytecode(BUILD, "modules"));
    assert_eq!(
        (kept(&before, 1), kept(&before, 2)),
        (vec![3, 6], vec![1]),
        "the one with the most gives way"
    );
    // After a restart the times of the files tell which was used last.
    let now = now();
    for (digest, age) in [(3, 10), (6, 20)] {
        let file = fs::File::open(before.file(&key(1, digest))).unwrap();
        file.set_modified(now - Duration::from_secs(age)).unwrap();
    }
    let after = limited();
    after.write(key(1, 7), &bytecode(BUILD, "modules"));
    assert_eq!(kept(&after, 1), [3, 7]);
}
