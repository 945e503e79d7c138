//! The cache as a whole, with a directory.

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
};

use kernel::Id;
use runs::engine::FailureCode;
use secrecy::SecretBox;
use tempfile::TempDir;
use uuid::Uuid;

use super::*;

pub(super) const BUILD: u8 = 1;

pub(super) fn key(workspace: u128, digest: u8) -> BytecodeKey {
    BytecodeKey { workspace: Id::from_uuid(Uuid::from_u128(workspace)), digest: [digest; 32] }
}

pub(super) fn bytecode(build: u8, modules: &'static str) -> Bytecode {
    Bytecode { build: ProgramBuild::numbered(build), modules: Bytes::from_static(modules.as_bytes()) }
}

pub(super) fn config(path: &TempDir, secret: u8) -> BytecodeDirectory {
    BytecodeDirectory {
        path: path.path().join("bytecode"),
        key: Arc::new(SecretBox::new(Box::new([secret; 32]))),
    }
}

fn cache(path: &TempDir) -> BytecodeCache {
    BytecodeCache::start(Some(&config(path, 1))).unwrap()
}

#[tokio::test]
async fn what_cannot_be_stored_is_kept_in_memory() {
    let path = TempDir::new().unwrap();
    let cache = cache(&path);
    // A file where the directory of the workspace would be.
    fs::create_dir(path.path().join("bytecode")).unwrap();
    fs::write(path.path().join("bytecode").join(key(1, 1).workspace.uuid().to_string()), "x").unwrap();
    for expected in ["first", "first"] {
        let compile = async || Ok(bytecode(BUILD, "first"));
        let found = cache.get_or_compile(key(1, 1), ProgramBuild::numbered(BUILD), compile).await.unwrap();
        assert_eq!(found.modules, expected);
    }
}

#[tokio::test]
async fn a_bundle_is_compiled_once_however_many_ask() {
    let path = TempDir::new().unwrap();
    let cache = cache(&path);
    let compilations = AtomicUsize::new(0);
    let build = ProgramBuild::numbered(BUILD);
    let compile = async || {
        tokio::task::yield_now().await;
        compilations.fetch_add(1, Ordering::Relaxed);
        Ok(bytecode(BUILD, "modules"))
    };
    let asked = (0..20).map(|_| cache.get_or_compile(key(1, 1), build, compile));
    for found in futures::future::join_all(asked).await {
        assert_eq!(found.unwrap().modules, "modules");
    }
    assert_eq!(compilations.load(Ordering::Relaxed), 1);
    cache.get_or_compile(key(2, 1), build, compile).await.unwrap();
    assert_eq!(compilations.load(Ordering::Relaxed), 2, "another workspace has its own");
    assert!(cache.lookups.lock().unwrap().len() <= 1, "lookups that ended are forgotten");
}

#[tokio::test]
async fn a_compilation_that_failed_is_tried_again() {
    let path = TempDir::new().unwrap();
    let cache = cache(&path);
    let build = ProgramBuild::numbered(BUILD);
    let failure = Failure { code: FailureCode::InvalidBundle, message: "no".to_owned(), host_code: None };
    let failed = cache.get_or_compile(key(1, 1), build, async || Err(failure)).await;
    assert_eq!(failed.unwrap_err().code, FailureCode::InvalidBundle);
    let found = cache.get_or_compile(key(1, 1), build, async || Ok(bytecode(BUILD, "modules"))).await;
    assert_eq!(found.unwrap().modules, "modules");
}

#[tokio::test]
async fn another_build_compiles_anew() {
    let path = TempDir::new().unwrap();
    let cache = cache(&path);
    for build in [1, 2, 1] {
        let compiled = if build == 1 { "of build 1" } else { "of build 2" };
        let compile = async || Ok(bytecode(build, compiled));
        let found = cache.get_or_compile(key(1, 1), ProgramBuild::numbered(build), compile).await.unwrap();
        assert_eq!((found.build, &found.modules[..]), (ProgramBuild::numbered(build), compiled.as_bytes()));
    }
}
